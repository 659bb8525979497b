#include "tools/nb-sim/SeriesJournal.h"

#include "lib/Choose/FreshSeed.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Runs/CommandDigest.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <unistd.h>
#include <vector>

namespace nanobragg {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view title =
    "# images of a series that are finished; nb-sim --resume reads this";

std::optional<std::int64_t> wholeNumber(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return number;
}

constexpr std::string_view partKey = "part ";

/// The text of a journal.
struct Record {
  std::string command;            ///< its digest; empty: none
  std::vector<std::string> parts; ///< the lines of partsOf()
  std::optional<std::int64_t> seed, missetSeed;
  std::vector<std::int64_t> images;
  bool empty = true;

  explicit Record(const std::string &text) : empty(text.empty()) {
    io::TextLines lines(text);
    std::string_view rest;
    while (lines.next(rest)) {
      if (rest.starts_with('#') || rest.empty())
        continue;
      if (rest.starts_with(partKey)) {
        parts.emplace_back(rest.substr(partKey.size()));
        continue;
      }
      const std::string_view key = io::nextWord(rest, " "), value = io::nextWord(rest, " "),
                             end = io::nextWord(rest, " ");
      // A process that is killed may leave half of its last line.
      const std::optional<std::int64_t> number = wholeNumber(value);
      if (key == "command")
        command = value;
      else if (key == "seed" && number)
        seed = number;
      else if (key == "misset_seed" && number)
        missetSeed = number;
      else if (key == "image" && number && end == ".")
        images.push_back(*number);
    }
  }

  bool sameDraws(const Record &other) const {
    return command == other.command && seed == other.seed && missetSeed == other.missetSeed;
  }
};

/// The journals of a series that are there, by part.
std::map<int, std::string> journalsOf(const std::string &series) {
  std::map<int, std::string> found;
  std::error_code ignored;
  if (fs::exists(series, ignored))
    found[alone] = series;
  const fs::path path(series);
  const std::string stem = path.stem().string() + ".part", extension = path.extension().string();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  fs::directory_iterator entry(folder, ignored);
  for (; !ignored && entry != fs::directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(stem) || !name.ends_with(extension) ||
        name.size() <= stem.size() + extension.size())
      continue;
    const auto part = wholeNumber(
        std::string_view(name).substr(stem.size(), name.size() - stem.size() - extension.size()));
    if (part && *part >= 0 && *part < 10000000)
      found[int(*part)] = partName(series, int(*part));
  }
  return found;
}

void refuseOtherContent(const std::string &name, const Record &record) {
  if (!record.empty && record.command.empty())
    throw UsageError(name + " is not a list of the finished images of a series, which needs this "
                            "name; give the images another name, or remove it");
}

/// The first difference between two commands, in words.
std::string differenceOf(const std::vector<std::string> &before,
                         const std::vector<std::string> &now) {
  if (before.empty())
    return "it was begun by an earlier version of nb-sim";
  const auto [a, b] = std::ranges::mismatch(before, now);
  const auto nameOf = [](std::string_view part) {
    const bool file = part.starts_with("file ");
    return part.substr(0, file ? part.rfind(' ') : part.find(' '));
  };
  const auto has = [&](const std::vector<std::string> &parts, std::string_view part) {
    return std::ranges::any_of(parts, [&](const auto &p) { return nameOf(p) == nameOf(part); });
  };
  if (a != before.end() && b != now.end() && nameOf(*a) == nameOf(*b))
    return a->starts_with("file ")
               ? "the content of " + std::string(nameOf(*b).substr(5)) + " has changed since"
               : "it was begun with '" + *a + "', and this is '" + *b + "'";
  if (a != before.end() && !has(now, *a))
    return "it was begun with '" + *a + "', which is left out now";
  if (b != now.end() && !has(before, *b))
    return "it was begun without '" + *b + "'";
  return "its flags have another order";
}

/// From 1 to 2^31 - 2, as freshSeed.
std::int64_t seedOf(const std::string &digest, std::uint64_t which) {
  std::uint64_t number = 0;
  std::from_chars(digest.data(), digest.data() + digest.size(), number, 16);
  return std::int64_t((number ^ which) % 2147483646u) + 1;
}

} // namespace

std::string partName(const std::string &name, int part) {
  if (part == alone)
    return name;
  fs::path path(name);
  const std::string extension = path.extension().string();
  return path.replace_extension().string() + ".part" + std::to_string(part) + extension;
}

std::string keptName(const std::string &name) {
  fs::path path(name);
  const std::string extension = path.extension().string();
  return path.replace_extension().string() + ".alone" + extension;
}

SeriesJournal::SeriesJournal(const std::string &name, CommandLine &line, const LoadedInputs &loaded,
                             Ranks *ranks)
    : series(name) {
  const std::vector<std::string> parts = partsOf(line, loaded);
  const std::string digest = digestOf(parts);
  if (line.series.shard)
    ownPart = int(line.series.shard->index);
  else if (ranks)
    ownPart = ranks->rank();
  const bool leads = !ranks || ranks->rank() == 0;
  std::string text;
  if (leads) {
    lock(line.series.shard.has_value());
    begin(parts, line);
    text = shared(line);
    if (ranks) // the others wait for the text, and then lock theirs
      std::erase_if(locks, [&](const auto &held) {
        return held.first > ownPart && held.first < ranks->size();
      });
  }
  if (ranks) {
    ranks->broadcast(text);
    if (!leads)
      takeShared(text, line);
  }
  const Options &o = line.options;
  head = std::string(title) + "\ncommand " + digest + "\nseed " + std::to_string(*o.seed) + "\n";
  if (o.missetRandom)
    head += "misset_seed " + std::to_string(*o.missetSeed) + "\n";

  for (const std::string &part : parts)
    head += std::string(partKey) + part + "\n";

  path = partName(series, ownPart);
  if (!locks.contains(ownPart))
    locks[ownPart] = io::WriteLock::take(path, io::WriteLock::Missing::isMade);
  ownBefore = resumed && !Record(io::readBytes(path)).images.empty();
  if (!ownBefore && ::ftruncate(locks.at(ownPart).file(), 0) != 0)
    throw io::FileError(path, std::string("cannot be written: ") + std::strerror(errno));
  append(ownBefore ? "\n" : head); // behind what may be half a line
}

SeriesJournal::~SeriesJournal() { removeEmpty(); }

/// Another run at work on this series or on a part of it is an error. A shard has a part; who is no
/// shard has all that are there, and that of a process alone, by which later shards know of it.
void SeriesJournal::lock(bool shard) {
  const int first = shard ? ownPart : alone;
  try {
    locks[first] = io::WriteLock::take(partName(series, first), io::WriteLock::Missing::isMade);
    if (shard)
      io::WriteLock::refuseIfTaken(series);
    else
      for (const auto &[part, name] : journalsOf(series))
        if (!locks.contains(part))
          locks[part] = io::WriteLock::take(name, io::WriteLock::Missing::isError);
    if (!locks.contains(ownPart))
      locks[ownPart] =
          io::WriteLock::take(partName(series, ownPart), io::WriteLock::Missing::isMade);
  } catch (const io::FileError &) {
    removeEmpty();
    throw;
  }
}

/// Those that hold nothing but a lock.
void SeriesJournal::removeEmpty() const {
  std::error_code ignored;
  for (const auto &[part, held] : locks)
    if (held.made() && fs::file_size(partName(series, part), ignored) == 0)
      fs::remove(partName(series, part), ignored);
}

void SeriesJournal::begin(const std::vector<std::string> &parts, CommandLine &line) {
  const std::string digest = digestOf(parts);
  resumed = line.series.resume && read(parts, line);
  if (resumed)
    return;
  refuseOtherContent(partName(series, ownPart), Record(io::readBytes(partName(series, ownPart))));
  removeOthers(line);
  Options &o = line.options;
  const bool shard = line.series.shard.has_value();
  if (!o.seed)
    o.seed = shard ? seedOf(digest, 0) : freshSeed();
  if (o.missetRandom && !o.missetSeed)
    o.missetSeed = shard ? seedOf(digest, 0x9e3779b97f4a7c15u) : freshSeed();
}

/// False where nothing was begun.
bool SeriesJournal::read(const std::vector<std::string> &parts, CommandLine &line) {
  std::optional<Record> first;
  std::string firstName;
  const std::map<int, std::string> journals = journalsOf(series);
  for (const auto &[part, name] : journals) {
    const Record record(io::readBytes(name));
    if (record.empty)
      continue;
    refuseOtherContent(name, record);
    if (record.command != digestOf(parts))
      throw UsageError("--resume: " + name +
                       " is of another command: " + differenceOf(record.parts, parts) +
                       "; give the same flags and files as before, or leave out --resume to begin "
                       "anew");
    if (first && !record.sameDraws(*first))
      throw UsageError("--resume: " + firstName + " and " + name +
                       " have different seeds, so that their images do not go together; remove the "
                       "one that is not wanted");
    if (!first) {
      first = record;
      firstName = name;
    }
    for (const std::int64_t image : record.images)
      before.emplace(image, part);
  }
  if (!first)
    return false;
  Options &o = line.options;
  if (!o.seed)
    o.seed = first->seed;
  if (o.missetRandom && !o.missetSeed)
    o.missetSeed = first->missetSeed;
  if (!o.seed || (o.missetRandom && !o.missetSeed))
    throw UsageError("--resume: " + firstName +
                     " does not say its seeds: its first lines are lost; remove it");
  // A series that parts have begun is continued by a single process as one of them.
  if (ownPart == alone && journals.rbegin()->first != alone)
    ownPart = 0;
  return true;
}

/// Removes an earlier run's journals, so that no later --resume takes them for this one's. A shard
/// leaves those of other shards, which may be at work.
void SeriesJournal::removeOthers(const CommandLine &line) const {
  const std::optional<std::string> &nexus = line.outputs.nexusFile;
  std::error_code ignored;
  const std::map<int, std::string> journals = journalsOf(series);
  if (nexus && !journals.empty())
    fs::remove(keptName(*nexus), ignored);
  for (const auto &[part, name] : journals) {
    if (part == ownPart || (part != alone && line.series.shard))
      continue;
    if (!Record(io::readBytes(name)).command.empty()) {
      fs::remove(name, ignored);
      if (nexus && part != alone)
        fs::remove(partName(*nexus, part), ignored);
    }
  }
}

FinishedImages SeriesJournal::finishedByAll(const std::function<bool(int)> &usable) const {
  const Record own(head);
  FinishedImages all;
  for (const auto &[part, name] : journalsOf(series)) {
    const Record record(io::readBytes(name));
    if (record.sameDraws(own) && usable(part))
      for (const std::int64_t image : record.images)
        all.emplace(image, part);
  }
  return all;
}

/// The findings of rank 0, for the others.
std::string SeriesJournal::shared(const CommandLine &line) const {
  std::string text = "seed " + std::to_string(*line.options.seed) + "\n";
  if (line.options.missetSeed)
    text += "misset_seed " + std::to_string(*line.options.missetSeed) + "\n";
  if (resumed)
    text += "command resumed\n";
  return text;
}

void SeriesJournal::takeShared(const std::string &text, CommandLine &line) {
  const Record record(text);
  line.options.seed = record.seed;
  if (record.missetSeed)
    line.options.missetSeed = record.missetSeed;
  resumed = !record.command.empty();
}

void SeriesJournal::finish(std::int64_t image) {
  const std::lock_guard lock(mutex);
  locks.at(ownPart).requireName();
  append("image " + std::to_string(image) + " .\n");
}

void SeriesJournal::append(const std::string &text) {
  if (::write(locks.at(ownPart).file(), text.data(), text.size()) != ssize_t(text.size()))
    throw io::FileError(path, std::string("cannot be written: ") + std::strerror(errno));
}

} // namespace nanobragg
