#include "lib/Compiler/CodeGen/TemporaryFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using mlir::nb::TemporaryFile;

static Error cannot(const char *what, StringRef path, std::error_code error) {
  return createStringError("cannot " + std::string(what) + " " + path.str() + ": " +
                           error.message() + "; set TMPDIR to a directory with room for it");
}

Expected<TemporaryFile> TemporaryFile::create(StringRef suffix) {
  SmallString<128> path;
  if (std::error_code error = sys::fs::createTemporaryFile("nb-kernel", suffix, path))
    return cannot("create a temporary file", path, error);
  return TemporaryFile(path);
}

TemporaryFile::~TemporaryFile() {
  if (!path.empty())
    sys::fs::remove(path);
}

Error TemporaryFile::write(ArrayRef<char> bytes) {
  std::error_code error;
  raw_fd_ostream stream(path, error);
  if (!error) {
    stream.write(bytes.data(), bytes.size());
    stream.flush();
    error = stream.error();
    stream.clear_error();
  }
  return error ? cannot("write", path, error) : Error::success();
}

Expected<SmallVector<char, 0>> TemporaryFile::read() const {
  auto content = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                       /*IsVolatile=*/true);
  if (!content)
    return cannot("read", path, content.getError());
  StringRef bytes = (*content)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}
