#include "lib/Runs/CommandDigest.h"

#include "lib/CommandLine/OutputNames.h"
#include "lib/Files/FileContents.h"
#include "lib/Quantities/Printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace nanobragg {
namespace {

/// Flags that change no image.
constexpr std::string_view neutral[] = {
    "--resume",      "--frames",       "--threads",   "--shard",      "--deal",
    "--quiet",       "-progress",      "-noprogress", "--write-expt", "--write-refl",
    "--reflections", "--write-stream", "--write-mtz"};

/// FNV-1a, 64 bits.
class Hash {
public:
  void add(std::string_view text) {
    for (const char c : text)
      step(static_cast<unsigned char>(c));
    step(256); // "ab" "c" is not "a" "bc"
  }
  std::uint64_t value() const { return state; }

private:
  void step(unsigned symbol) { state = (state ^ symbol) * 1099511628211u; }
  std::uint64_t state = 14695981039346656037u;
};

} // namespace

std::vector<std::string> partsOf(const CommandLine &line, const LoadedInputs &loaded) {
  std::vector<std::string> parts = {"nb-sim " NB_VERSION};
  for (const GivenFlag &flag : line.given) {
    if (std::ranges::find(neutral, flag.name) != std::end(neutral))
      continue;
    std::string text = flag.name;
    for (const std::string &value : flag.values)
      text += " " + printable(value, std::string::npos);
    parts.push_back(std::move(text));
  }
  std::vector<std::string> files = inputsRead(line);
  std::error_code ignored;
  if (!loaded.dials.empty() && std::filesystem::is_regular_file(loaded.dials.front().mask, ignored))
    files.push_back(loaded.dials.front().mask);
  for (const std::string &path : files)
    parts.push_back("file " + printable(path, std::string::npos) + " " +
                    digestOf({io::readBytes(path)}));
  return parts;
}

std::string digestOf(const std::vector<std::string> &parts) {
  Hash hash;
  for (const std::string &part : parts)
    hash.add(part);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash.value());
  return digits;
}

} // namespace nanobragg
