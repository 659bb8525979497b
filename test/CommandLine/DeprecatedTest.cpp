#include "lib/CommandLine/Flag.h"
#include "test/CommandLine/Support.h"

using namespace nanobragg;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// A row of the table that is deprecated as long as this lives. Rows lie in a vector's memory,
/// which is not constant.
class Deprecated {
public:
  Deprecated(const char *name, const char *instead) : flag(const_cast<Flag &>(*findFlag(name))) {
    flag.instead = instead;
  }
  ~Deprecated() { flag.instead = ""; }

private:
  Flag &flag;
};

TEST(Deprecated, FlagWorksAndWarnsOnceWithWhatToUse) {
  const Deprecated row("-distance", "-new_distance");
  const CommandLine line = parsed("-distance 5 -distance 80 -lambda 1");
  EXPECT_EQ(line.options.distance, 80);
  EXPECT_THAT(line.warnings, ElementsAre("-distance is deprecated and works as before in this "
                                         "version; use -new_distance"));
}

TEST(Deprecated, OthersDoNotWarn) {
  const Deprecated row("-distance", "-new_distance");
  EXPECT_THAT(parsed("-lambda 1").warnings, IsEmpty());
}

TEST(Deprecated, HelpSaysWhatToUse) {
  EXPECT_THAT(usageOf("-distance"), Not(HasSubstr("deprecated")));
  const Deprecated row("-distance", "-new_distance");
  EXPECT_THAT(usageOf("-distance"), HasSubstr("(deprecated: use -new_distance)"));
  EXPECT_THAT(flagReference(), HasSubstr("(deprecated: use `-new_distance`)"));
}

} // namespace
