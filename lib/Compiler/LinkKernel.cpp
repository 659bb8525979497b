#include "lib/Compiler/LinkKernel.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace {
/// A file in the directory for temporary files, removed at the end of the scope.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef suffix) {
    error = sys::fs::createTemporaryFile("nb-kernel", suffix, descriptor, path);
  }
  ~TemporaryFile() {
    if (!error)
      sys::fs::remove(path);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  int descriptor = -1;
  SmallString<128> path;
  std::error_code error;
};

Error cannot(const char *what, StringRef path, std::error_code error) {
  return createStringError("cannot " + std::string(what) + " " + path.str() + ": " +
                           error.message() + "; set TMPDIR to a directory with room for it");
}
} // namespace

Expected<SmallVector<char, 0>> mlir::nb::linkSharedObject(ArrayRef<char> object) {
  TemporaryFile input("o"), output("so");
  for (TemporaryFile *file : {&input, &output})
    if (file->error)
      return cannot("create a temporary file", file->path, file->error);
  {
    raw_fd_ostream stream(input.descriptor, /*shouldClose=*/true);
    stream.write(object.data(), object.size());
    stream.flush();
    if (std::error_code error = stream.error()) {
      stream.clear_error();
      return cannot("write", input.path, error);
    }
  }
  sys::fs::file_t outputFile = output.descriptor;
  sys::fs::closeFile(outputFile);

  // The linker keeps global state: one link at a time.
  static std::mutex linking;
  std::lock_guard lock(linking);
  std::string messages;
  raw_string_ostream stream(messages);
  const char *arguments[] = {"ld.lld",       "-shared",   "--hash-style=gnu", "--build-id=none",
                             "-z",           "now",       "-z",               "noexecstack",
                             "--threads=1",  "-o",        output.path.c_str(),
                             input.path.c_str()};
  const lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0 || !result.canRunAgain)
    return createStringError("linking the kernel failed: " + messages);

  auto linked = MemoryBuffer::getFile(output.path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!linked)
    return cannot("read", output.path, linked.getError());
  StringRef bytes = (*linked)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}
