#include "lib/Compiler/CodeGen/LinkKernel.h"

#include "lib/Compiler/CodeGen/TemporaryFile.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"

#include "lld/Common/Driver.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using mlir::nb::Phase, mlir::nb::TemporaryFile;

Expected<SmallVector<char, 0>> mlir::nb::linkSharedObject(ArrayRef<char> object) {
  const Phase phase("link");
  auto input = TemporaryFile::create("o");
  if (!input)
    return input.takeError();
  auto output = TemporaryFile::create("so");
  if (!output)
    return output.takeError();
  if (Error error = input->write(object))
    return error;

  // The linker keeps global state: one link at a time.
  static std::mutex linking;
  std::lock_guard lock(linking);
  std::string messages;
  raw_string_ostream stream(messages);
  const char *arguments[] = {
      "ld.lld",       "-shared",    "--hash-style=gnu", "--build-id=none", "-z",
      "now",          "-z",         "noexecstack",      "--threads=1",     "-o",
      output->name(), input->name()};
  const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0 || !result.canRunAgain)
    return createStringError("linking the kernel failed: " + messages);
  return output->read();
}
