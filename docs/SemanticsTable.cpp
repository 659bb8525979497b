// The table of docs/semantics.md.

#include "lib/Experiment/Semantics.h"

#include <iostream>
#include <string>
#include <string_view>

namespace {

/// Characters that would end a table cell or begin emphasis.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<')
      out += '\\';
    out += c;
  }
  return out;
}

} // namespace

int main() {
  std::cout << "| switch | flags | the C program (`-compat c`) | default |\n|---|---|---|---|\n";
  for (const nanobragg::SemanticSwitch &s : nanobragg::semanticSwitches())
    std::cout << "| `" << s.name << "` | `" << s.flags << "` | " << escaped(s.cProgram) << " | "
              << escaped(s.right) << " |\n";
}
