// The list of switches of docs/semantics.md.

#include "lib/Experiment/Semantics.h"

#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace {

/// `text` with characters escaped that would begin emphasis or a tag.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '*' || c == '_' || c == '<')
      out += '\\';
    out += c;
  }
  return out;
}

/// Prints a list item in lines of at most 100 columns; `indent` is the column of its mark.
void printItem(size_t indent, const std::string &text) {
  std::string line = std::string(indent, ' ') + "*";
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > 100) {
      std::cout << line << "\n";
      line = std::string(indent + 1, ' ');
    }
    line += " " + word;
  }
  std::cout << line << "\n";
}

} // namespace

int main() {
  for (const nanobragg::SemanticSwitch &s : nanobragg::semanticSwitches()) {
    printItem(0, "`" + std::string(s.name) + "` (`" + std::string(s.flags) + "`)");
    printItem(2, "the C program " + escaped(s.cProgram));
    printItem(2, "default: " + escaped(s.right));
  }
}
