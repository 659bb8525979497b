#include "lib/Files/FileContents.h"

#include "test/IO/TemporaryDirectory.h"

#include <zlib.h>

#include <random>
#include <sys/resource.h>

namespace nanobragg::io {
namespace {

struct FileContentsTest : testing::Test {
  TemporaryDirectory directory;

  std::string gzipped(const std::string &text) {
    const std::string path = directory.path("packing");
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), unsigned(text.size()));
    gzclose(file);
    return directory.read("packing");
  }
};

TEST_F(FileContentsTest, PlainBytesComeAsTheyAre) {
  const std::string bytes("a\0b\r\n\x1f", 6);
  EXPECT_EQ(readMaybeCompressed(directory.add("f", bytes)), bytes);
  EXPECT_EQ(readBytes(directory.add("empty", "")), "");
}

TEST_F(FileContentsTest, RefusesDevicesAtOnce) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  for (const char *device : {"/dev/zero", "/dev/urandom", "/dev/full"})
    expectFileError([&] { readMaybeCompressed(device); },
                    std::string(device) + ": is a device, not a file");
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "kB";
  EXPECT_EQ(readBytes("/dev/null"), "");
}

TEST_F(FileContentsTest, InflatesWhatHardlyAndWhatHighlyCompresses) {
  std::mt19937 random(1);
  std::string noise(300000, '\0');
  for (char &c : noise)
    c = char(random());
  EXPECT_EQ(readMaybeCompressed(directory.add("noise", gzipped(noise))), noise);
  const std::string zeros(5000000, '0');
  EXPECT_EQ(readMaybeCompressed(directory.add("zeros", gzipped(zeros))), zeros);
  EXPECT_EQ(readMaybeCompressed(directory.add("nothing", gzipped(""))), "");
}

TEST_F(FileContentsTest, TextHasNoByteOrderMark) {
  const std::string marked = "\xef\xbb\xbf"
                             "1 2 3";
  EXPECT_EQ(readMaybeCompressed(directory.add("marked", marked)), "1 2 3");
  EXPECT_EQ(readMaybeCompressed(directory.add("packed", gzipped(marked))), "1 2 3");
  EXPECT_EQ(readBytes(directory.path("marked")), marked) << "may be an image";
  expectFileError(
      [&] {
        readMaybeCompressed(directory.add("wide", "\xff\xfe"
                                                  "1"));
      },
      "UTF-16");
}

TEST_F(FileContentsTest, InflatesConcatenatedMembers) {
  EXPECT_EQ(readMaybeCompressed(directory.add("two", gzipped("one ") + gzipped("two"))), "one two");
}

TEST_F(FileContentsTest, RefusesGzipCutAnywhere) {
  const std::string packed = gzipped("1 2 3 4\n5 6 7 8\n");
  for (std::size_t length = 2; length < packed.size(); ++length)
    expectFileError([&] { readMaybeCompressed(directory.add("cut", packed.substr(0, length))); },
                    "cut: the gzip data end early");
}

TEST_F(FileContentsTest, RefusesDamagedGzip) {
  std::string packed = gzipped("1 2 3 4\n5 6 7 8\n");
  packed[packed.size() - 6] ^= 1; // in the checksum
  expectFileError([&] { readMaybeCompressed(directory.add("bad", packed)); }, "are damaged");
  expectFileError([&] { readMaybeCompressed(directory.add("tail", gzipped("x") + "junk")); },
                  "are damaged");
}

} // namespace
} // namespace nanobragg::io
