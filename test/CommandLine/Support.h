// Command lines in tests.
#ifndef NANOBRAGG_TEST_COMMANDLINE_SUPPORT_H
#define NANOBRAGG_TEST_COMMANDLINE_SUPPORT_H

#include "lib/CommandLine/CommandLine.h"
#include "test/FlagUnits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace nanobragg {

inline std::vector<std::string> split(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

inline CommandLine parse(const std::string &text) { return parseCommandLine(split(text)); }

/// The same with numbers as flags have them.
inline CommandLine parsed(const std::string &text) {
  CommandLine line = parse(text);
  line.options = toFlagUnits(line.options);
  return line;
}

/// The message of the UsageError that parsing throws; empty when it throws none.
inline std::string refusal(const std::string &text) {
  try {
    parse(text);
  } catch (const UsageError &error) {
    return error.what();
  }
  return "";
}

} // namespace nanobragg
#endif
