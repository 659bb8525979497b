#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/Flag.h"
#include "lib/Runs/ExperimentOf.h"
#include "test/CommandLine/Support.h"

#include <map>
#include <set>

using namespace nanobragg;
using testing::AllOf;
using testing::HasSubstr;

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// The flag with values that it takes; of --device one for which the row holds.
std::string wordsOf(std::string_view name, const Exclusion *row = nullptr) {
  static const std::map<std::string_view, std::string> values = {{"--emit", "nb"},
                                                                 {"--timing", "t.json"},
                                                                 {"--trace-events", "e.json"},
                                                                 {"--dump-ir", "d"},
                                                                 {"--pipeline", "builtin.module()"},
                                                                 {"--plugin", "p.so"},
                                                                 {"--schedule", "s.txt"},
                                                                 {"--patterns", "p.pdll"},
                                                                 {"--until-before", "loops"},
                                                                 {"--until-after", "fuse"},
                                                                 {"--grad", "cell"},
                                                                 {"--jacobian", "cell_a"},
                                                                 {"--probe", "F_*"},
                                                                 {"--kernel", "k.so"},
                                                                 {"--trace-pixel", "1,2"},
                                                                 {"-printout_pixel", "1 2"},
                                                                 {"--precision", "f64"},
                                                                 {"--cull", "off"},
                                                                 {"--specialize", "off"},
                                                                 {"--threads", "2"},
                                                                 {"--device", "cpu"},
                                                                 {"--png", "a.png"},
                                                                 {"--panels", "p.json"},
                                                                 {"--compat", "c"},
                                                                 {"--loss", "sum"},
                                                                 {"--compare-tolerance", "1 1"},
                                                                 {"--out", "d"},
                                                                 {"--pixels", "p.txt"},
                                                                 {"--cbf", "a.cbf"},
                                                                 {"--nexus", "a.nxs"},
                                                                 {"--write-expt", "a.expt"},
                                                                 {"--write-refl", "a.refl"},
                                                                 {"--reflections", "t.csv"},
                                                                 {"--write-stream", "a.stream"},
                                                                 {"--write-map", "a.npy"},
                                                                 {"-intfile", "a.img"},
                                                                 {"-noisefile", "b.img"},
                                                                 {"-pgmfile", "a.pgm"},
                                                                 {"--frames", "3"},
                                                                 {"--spectrum", "s.txt"},
                                                                 {"--sensor-material", "Si"},
                                                                 {"-detector_absorb", "9"},
                                                                 {"-sourcefile", "s.txt"},
                                                                 {"--geom", "g.geom"},
                                                                 {"--hkl-channels", "c.txt"},
                                                                 {"--anomalous-atoms", "a.txt"},
                                                                 {"--anomalous-table", "t.txt"},
                                                                 {"-hkl", "a.hkl"},
                                                                 {"-dump", "f.bin"},
                                                                 {"--expt", "a.expt"},
                                                                 {"--shots", "s.txt"},
                                                                 {"--lattices", "l.txt"},
                                                                 {"-psf", "gauss"},
                                                                 {"--beam-center", "1 2"},
                                                                 {"-Xbeam", "1"},
                                                                 {"-Ybeam", "1"},
                                                                 {"-Xclose", "1"},
                                                                 {"-Yclose", "1"},
                                                                 {"-ORGX", "1"},
                                                                 {"-ORGY", "1"},
                                                                 {"-dead_time", "1e-6"},
                                                                 {"--osc-per-frame", "0.1"}};
  const Flag &flag = *findFlag(name);
  if (flag.minimumValues() == 0)
    return std::string(name);
  if (!row && name == "--schedule")
    return "--schedule none"; // a file excludes some
  if (row && name == "--device")
    return "--device " + std::string(row->values.substr(0, row->values.find(' ')));
  const auto found = values.find(name);
  EXPECT_TRUE(found != values.end()) << "give " << name << " a value here";
  return std::string(name) + " " + (found == values.end() ? "" : found->second);
}

TEST(Exclusions, EveryRowNamesFlags) {
  for (const Exclusion &row : exclusions())
    for (std::string_view name : {row.first, row.second}) {
      const Flag *flag = findFlag(name);
      ASSERT_TRUE(flag) << name;
      EXPECT_EQ(flag->name(), name) << "the first spelling is the flag's name";
    }
}

TEST(Exclusions, NoPairStandsTwice) {
  std::set<Pair> seen;
  for (const Exclusion &row : exclusions()) {
    EXPECT_TRUE(seen.insert({row.first, row.second}).second) << row.first << " " << row.second;
    EXPECT_FALSE(seen.contains({row.second, row.first})) << row.first << " " << row.second;
  }
}

TEST(Exclusions, EveryPairIsRefusedInEitherOrder) {
  for (const Exclusion &row : exclusions()) {
    const std::string a = wordsOf(row.first, &row), b = wordsOf(row.second, &row);
    for (const std::string &line : {a + " " + b, b + " " + a})
      EXPECT_THAT(refusal(line),
                  AllOf(HasSubstr(std::string(row.first) + " and " + std::string(row.second) +
                                  " exclude each other: " + std::string(row.why)),
                        HasSubstr("leave one of them out")))
          << line;
    EXPECT_EQ(refusal(a), "");
    EXPECT_EQ(refusal(b), "");
  }
}

TEST(Exclusions, OtherPairsOfToolFlagsGoTogether) {
  std::set<Pair> excluded;
  for (const Exclusion &row : exclusions())
    if (!row.when) {
      excluded.insert({row.first, row.second});
      excluded.insert({row.second, row.first});
    }
  const FlagGroup own = toolFlags();
  for (const Flag &first : own.flags)
    for (const Flag &second : own.flags)
      if (first.name() != second.name() && first.name() != "--mlir-*" && // those are of tools
          second.name() != "--mlir-*" && !excluded.contains({first.name(), second.name()})) {
        const std::string line = wordsOf(first.name()) + " " + wordsOf(second.name());
        EXPECT_EQ(refusal(line), "") << line;
      }
}

TEST(Exclusions, ActionsAreKnown) {
  EXPECT_EQ(actionOf(parse("-N 5 --probe=F")), nullptr);
  ASSERT_TRUE(actionOf(parse("-N 5 --jacobian=cell_a")));
  EXPECT_EQ(actionOf(parse("-N 5 --jacobian=cell_a"))->spelling, "--jacobian");
}

TEST(Exclusions, AnExperimentIsNoAction) {
  for (const char *question : {"--emit=nb", "--grad=cell", "--probe=F_*", "--check-finite"})
    try {
      experimentOf({"-cell", "70", "-default_F", "1", question});
      FAIL() << question;
    } catch (const UsageError &error) {
      EXPECT_THAT(error.what(), HasSubstr(" is a question to nb-sim")) << question;
    }
}

} // namespace
