#include "lib/Files/RowWriter.h"

#include "lib/Files/FileError.h"
#include "test/IO/TemporaryDirectory.h"

#include <csignal>
#include <cstring>
#include <numeric>
#include <sys/resource.h>

namespace nanobragg::io {
namespace {

struct RowWriterTest : testing::Test {
  TemporaryDirectory directory;

  /// `count` rows of `width` bytes, of which each is the number of its row, and the file that they
  /// make.
  static RowWriter::Rows rowsOf(std::size_t width) {
    return [width](std::int64_t begin, std::int64_t end, void *room) {
      auto *out = static_cast<char *>(room);
      for (std::int64_t row = begin; row != end; ++row, out += width)
        std::memset(out, int(row % 251), width);
      return room;
    };
  }
  static std::string contentOf(std::int64_t count, std::size_t width) {
    std::string text;
    for (std::int64_t row = 0; row != count; ++row)
      text.append(width, char(row % 251));
    return text;
  }
};

TEST_F(RowWriterTest, WritesSeveralFilesByAnyNumberOfThreads) {
  for (const int threads : {1, 3}) {
    OutputFile a(directory.path("a")), b(directory.path("b")), c(directory.path("c"));
    std::string whole(3'000'000, 'x');
    std::iota(whole.begin(), whole.end(), '\0');
    RowWriter writer;
    writer.add(a, "header", 3001, 1003, rowsOf(1003));
    writer.add(b, "", 3000, 1000, [&](std::int64_t begin, std::int64_t, void *) {
      return whole.data() + begin * 1000; // where it is already
    });
    writer.add(c, "only this", 0, 10, rowsOf(10));
    writer.run(threads);
    EXPECT_EQ(directory.entryCount(), threads == 1 ? 3u : 6u) << "temporaries beside earlier files";
    for (OutputFile *file : {&a, &b, &c})
      file->commit();
    EXPECT_EQ(directory.read("a"), "header" + contentOf(3001, 1003));
    EXPECT_EQ(directory.read("b"), whole);
    EXPECT_EQ(directory.read("c"), "only this");
  }
}

TEST_F(RowWriterTest, WritesWhatIsNoRegularFileInOrder) {
  OutputFile out("/dev/null"), file(directory.path("f"));
  RowWriter writer;
  writer.add(out, "header", 700, 1000, rowsOf(1000));
  writer.add(file, "", 700, 1000, rowsOf(1000));
  writer.run(2);
  file.commit();
  EXPECT_EQ(directory.read("f"), contentOf(700, 1000));
}

TEST_F(RowWriterTest, AFileThatDoesNotFitLeavesNothing) {
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1 << 20, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  {
    OutputFile file(directory.path("f"));
    RowWriter writer;
    writer.add(file, "", 3000, 1000, rowsOf(1000));
    EXPECT_THROW(writer.run(2), FileError);
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(directory.entryCount(), 0u);
}

} // namespace
} // namespace nanobragg::io
