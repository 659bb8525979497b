#include "tools/nb-sim/SeriesJournal.h"

#include "lib/CommandLine/CommandDigest.h"
#include "lib/Experiment/FreshSeed.h"
#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/TextScanner.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <unistd.h>

namespace nanobragg {
namespace {

constexpr std::string_view title =
    "# images of a series that are finished; nb-sim --resume reads this";

std::optional<std::int64_t> wholeNumber(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return number;
}

} // namespace

SeriesJournal::SeriesJournal(const std::string &name, CommandLine &line,
                             const LoadedInputs &loaded)
    : path(name) {
  const std::string digest = digestOf(line, loaded);
  std::error_code ignored;
  resumed = line.series.resume && std::filesystem::exists(path, ignored) && read(digest, line);
  descriptor = ::open(path.c_str(),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (resumed ? 0 : O_TRUNC), 0666);
  if (descriptor < 0)
    throw io::FileError(path, std::string("cannot be written: ") + std::strerror(errno));
  if (resumed) {
    append("\n"); // behind what may be half a line
    return;
  }
  Options &o = line.options;
  if (!o.seed)
    o.seed = freshSeed();
  std::string seeds = "seed " + std::to_string(*o.seed) + "\n";
  if (o.missetRandom && !o.missetSeed)
    o.missetSeed = freshSeed();
  if (o.missetRandom)
    seeds += "misset_seed " + std::to_string(*o.missetSeed) + "\n";
  append(std::string(title) + "\ncommand " + digest + "\n" + seeds);
}

SeriesJournal::~SeriesJournal() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// False where nothing was begun.
bool SeriesJournal::read(const std::string &digest, CommandLine &line) {
  const std::string text = io::readBytes(path);
  io::TextLines lines(text);
  std::string_view rest;
  bool known = false;
  while (lines.next(rest)) {
    if (rest.starts_with('#') || rest.empty())
      continue;
    const std::string_view key = io::nextWord(rest, " "), value = io::nextWord(rest, " "),
                           end = io::nextWord(rest, " ");
    if (key == "command" && value != digest)
      throw UsageError("--resume: " + path +
                       " is of another command, whose images would not go together with these; "
                       "give the same flags and files as before, or leave out --resume to begin "
                       "anew");
    known = known || key == "command";
    // A process that is killed may leave half of its last line.
    const std::optional<std::int64_t> number = wholeNumber(value);
    if (key == "seed" && number && !line.options.seed)
      line.options.seed = number;
    else if (key == "misset_seed" && number && !line.options.missetSeed)
      line.options.missetSeed = number;
    else if (key == "image" && number && end == ".")
      done.insert(*number);
  }
  if (!known && !text.empty())
    throw UsageError("--resume: " + path +
                     " is no list of the finished images of a series; give "
                     "the images another name, or remove it");
  return known;
}

void SeriesJournal::finish(std::int64_t image) {
  const std::lock_guard lock(mutex);
  append("image " + std::to_string(image) + " .\n");
}

void SeriesJournal::append(const std::string &text) {
  if (::write(descriptor, text.data(), text.size()) != ssize_t(text.size()))
    throw io::FileError(path, std::string("cannot be written: ") + std::strerror(errno));
}

} // namespace nanobragg
