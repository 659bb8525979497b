#include "lib/Compiler/CodeGen/Assemble.h"

#include "lib/Compiler/CodeGen/TemporaryFile.h"
#include "lib/Target/Assembler.h"

#include "llvm/Support/Program.h"

#include <map>
#include <mutex>

using namespace llvm;
using namespace mlir::nb;

/// The output of the program, standard error included.
static Expected<std::string> run(ArrayRef<StringRef> command) {
  auto output = TemporaryFile::create("txt");
  if (!output)
    return output.takeError();
  std::string problem;
  const StringRef name = output->name();
  const int status = sys::ExecuteAndWait(command.front(), command, std::nullopt,
                                         {StringRef(), name, name}, 0, 0, &problem);
  auto bytes = output->read();
  if (!bytes)
    return bytes.takeError();
  const StringRef text(bytes->data(), bytes->size());
  if (status == 0)
    return text.str();
  const StringRef first = text.trim().split('\n').first;
  return createStringError(command.front() + " failed: " +
                           (!first.empty()    ? first
                            : problem.empty() ? StringRef("it does not say why")
                                              : StringRef(problem)) +
                           "; install the CUDA toolkit of a version that knows the chip, or set "
                           "NB_PTXAS=off to leave its work to the driver of the GPU");
}

/// Asked once per process and program.
static Expected<std::string> releaseOf(const std::string &path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::lock_guard lock(mutex);
  if (auto found = known.find(path); found != known.end())
    return found->second;
  auto text = run({path, "--version"});
  if (!text)
    return text.takeError();
  StringRef rest = StringRef(*text).split("release ").second;
  const StringRef release = rest.take_while([](char c) { return isDigit(c) || c == '.'; });
  if (release.empty())
    return createStringError(path + " is not the ptxas of a CUDA toolkit: its --version names no "
                                    "release; set NB_PTXAS to another one or to off");
  return known[path] = release.str();
}

Expected<Assembler> Assembler::find(StringRef chip) {
  Assembler assembler;
  assembler.path = nanobragg::gpu::findAssembler(chip);
  if (assembler.path.empty())
    return assembler;
  auto release = releaseOf(assembler.path);
  if (!release)
    return release.takeError();
  assembler.release = *release;
  return assembler;
}

Expected<SmallVector<char, 0>> Assembler::assemble(ArrayRef<char> ptx, StringRef chip,
                                                   std::string *report) const {
  auto input = TemporaryFile::create("ptx");
  if (!input)
    return input.takeError();
  auto output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  if (Error error = input->write(ptx))
    return error;
  const std::string architecture = ("-arch=" + chip).str();
  SmallVector<StringRef> command{path, architecture, "-O3", input->name(), "-o", output->name()};
  if (StringRef(ptx.data(), ptx.size()).contains("\n\t.loc\t"))
    command.push_back("-lineinfo");
  if (report)
    command.push_back("-v");
  auto text = run(command);
  if (!text)
    return text.takeError();
  if (report)
    *report = *text;
  return output->read();
}
