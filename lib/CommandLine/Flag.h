// The table of flags.
#ifndef NANOBRAGG_COMMANDLINE_FLAG_H
#define NANOBRAGG_COMMANDLINE_FLAG_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/CommandLine/Numbers.h"
#include "lib/Quantities/Quantity.h"

#include <span>
#include <type_traits>

namespace nanobragg {

class Values;

/// The meaning of --mlir-*.
inline constexpr std::string_view mlirFlagsHelp =
    "flags of MLIR, with their values behind '=', such as --mlir-print-ir-after=nb-fuse, "
    "--mlir-print-ir-after-all, --mlir-timing, --mlir-pass-statistics, "
    "--mlir-pass-pipeline-crash-reproducer=FILE; nb-opt --help lists all. The kernel is compiled "
    "and not taken from the cache";

/// When a flag changes nothing in a run, and the reason as users are told it.
struct Idle {
  bool (*holds)(const CommandLine &);
  std::string_view why;
};

namespace idle {
extern const Idle always, noNoiseImage, noImage, noGreyImage;
}

/// A row of the table.
struct Flag {
  /// The first is the flag's name. A spelling that ends in `*` stands for every longer word too.
  std::vector<std::string_view> spellings;
  /// One word per value; those in brackets may be missing: "A [B C ALPHA BETA GAMMA]".
  std::string_view values = "";
  std::string_view unit = "";
  /// The value that holds without the flag; empty: "none", or "off" of a flag without values.
  std::string_view fallback = "";
  std::string_view help = ""; ///< one line
  Range range = Range::any(); ///< for every value that is a number
  /// A first value that makes the others superfluous (`-misset random`).
  bool (*alone)(std::string_view) = nullptr;
  void (*apply)(CommandLine &, const Values &) = nullptr;
  const Quantity *quantity = nullptr; ///< which it sets; null: none
  /// Flags with blanks between: without any of `with`, or beside one of `without`, it changes
  /// nothing.
  std::string_view with = "", without = "";
  std::vector<const Idle *> idle = {}; ///< other reasons why it changes nothing
  /// The replacement of a deprecated flag, which still works, with a warning; empty otherwise.
  std::string_view instead = "";

  std::string_view name() const { return spellings.front(); }
  bool matches(std::string_view word) const;
  /// GNU style, with `--flag=value` allowed.
  bool isLong() const { return name().starts_with("--"); }
  std::size_t minimumValues() const;
  std::size_t maximumValues() const;
  /// The help text, and what to use where the flag is deprecated.
  std::string meaning() const;
};

struct FlagGroup {
  std::string_view title;
  std::vector<Flag> flags;
};

/// The values given to one flag. Every function throws UsageError naming the flag.
class Values {
public:
  Values(const Flag &flag, std::string spelling, std::vector<std::string> words,
         std::span<const std::string> rest)
      : flag(flag), spelling(std::move(spelling)), words(std::move(words)), rest(rest) {}

  std::size_t size() const { return words.size(); }
  const std::string &text(std::size_t index = 0) const { return words[index]; }
  double number(std::size_t index = 0) const;
  /// Also written 1e3.
  std::int64_t integer(std::size_t index = 0) const;
  /// Three numbers that are not all zero.
  Vec3 direction() const;
  /// One of the words, by position.
  std::size_t choice(std::span<const std::string_view> words) const;

  /// The words that follow the flag on the command line, values and all.
  std::span<const std::string> following() const { return rest; }

  [[noreturn]] void refuse(const std::string &what) const;

  const Flag &flag;

private:
  std::string spelling;
  std::vector<std::string> words;
  std::span<const std::string> rest;
};

/// A flag's `apply` that stores its value in the member at `path`; without a value, true.
template <auto... path>
void stores(CommandLine &line, const Values &v) {
  auto &member = (line.*....*path);
  using Member = std::remove_reference_t<decltype(member)>;
  if constexpr (std::is_same_v<Member, bool>)
    member = true;
  else if constexpr (std::is_integral_v<Member>)
    member = v.integer();
  else if constexpr (std::is_assignable_v<Member &, std::string>)
    member = v.text();
  else
    member = v.number();
}

FlagGroup inputFlags();
FlagGroup crystalFlags();
FlagGroup beamFlags();
FlagGroup spindleFlags();
FlagGroup detectorFlags();
FlagGroup responseFlags();
FlagGroup geometryFlags();
FlagGroup outputFlags();
FlagGroup toolFlags();

/// Flags of quantities, and others ahead of them and behind.
FlagGroup groupOf(std::string_view title, std::vector<Flag> flags, std::span<const Quantity> rows,
                  std::vector<Flag> others = {});

/// All of them, in the order of the usage text.
const std::vector<FlagGroup> &flagGroups();

/// Null when there is no such flag.
const Flag *findFlag(std::string_view word);

/// Every spelling, without the `*`.
std::vector<std::string_view> allSpellings();

} // namespace nanobragg
#endif
