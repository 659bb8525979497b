// Command lines, a word a line, up to the experiment that they describe. Files that they name are
// left alone.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/CommandLine/CommandLine.h"
#include "lib/CommandLine/Exclusions.h"
#include "lib/Quantities/QuantityRows.h"

#include <cmath>
#include <stdexcept>

using namespace nanobragg;

namespace {

std::vector<std::string> argumentsOf(fuzz::Bytes input) {
  std::vector<std::string> words;
  std::string word;
  for (char c : input) {
    if (c == '\0')
      return words; // no argument holds one
    if (c != '\n') {
      word += c;
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  if (!word.empty())
    words.push_back(std::move(word));
  return words;
}

} // namespace

NB_FUZZ_TARGET(command_line) {
  try {
    const CommandLine line = parseCommandLine(argumentsOf(input));
    Options options = line.options;
    if (!options.cell)
      options.cell = flagUnit::inSI<6>(flagUnit::cell, {50, 60, 70, 90, 90, 90});
    flagsWithoutEffect(line, chooseDefaults(options, Inputs{}, line.semantics).neverRead);
  } catch (const UsageError &refusal) {
    fuzz::require(*refusal.what(), "a refusal says why");
  } catch (const std::invalid_argument &refusal) {
    fuzz::require(*refusal.what(), "a refusal says why");
  }
}
