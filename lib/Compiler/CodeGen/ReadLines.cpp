#include "lib/Compiler/CodeGen/ReadLines.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace mlir::nb;

/// The first string of the section. All versions of a kernel are made of one program.
static std::string textOf(const object::ObjectFile &file) {
  for (const object::SectionRef &section : file.sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (name && contents && *name == ".GCC.command.line")
      return contents->ltrim('\0').split('\0').first.str();
    consumeError(name.takeError());
    consumeError(contents.takeError());
  }
  return "";
}

Expected<KernelLines> mlir::nb::readLines(ArrayRef<char> object, ArrayRef<uint64_t> addresses) {
  auto file = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(object.data(), object.size()), "kernel"));
  if (!file)
    return file.takeError();
  const auto context = DWARFContext::create(**file);
  KernelLines found{textOf(**file), {}};
  for (uint64_t address : addresses) {
    auto place = context->getLineInfoForAddress({address, object::SectionedAddress::UndefSection});
    found.lines.push_back(place ? place->Line : 0);
  }
  return found;
}
