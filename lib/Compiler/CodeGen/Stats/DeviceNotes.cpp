#include "lib/Compiler/CodeGen/Stats/DeviceNotes.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace llvm;
using namespace mlir::nb;

/// The description of the kernel in a note of the type that holds those of kernels.
static std::optional<DeviceUse> readNote(StringRef note, StringRef kernel) {
  msgpack::Document document;
  if (!document.readFromBlob(note, false) || !document.getRoot().isMap())
    return std::nullopt;
  for (msgpack::DocNode &described :
       document.getRoot().getMap()["amdhsa.kernels"].getArray(/*Convert=*/true)) {
    msgpack::MapDocNode &fields = described.getMap(/*Convert=*/true);
    if (fields[".name"].getKind() != msgpack::Type::String || fields[".name"].getString() != kernel)
      continue;
    const auto number = [&](msgpack::DocNode &node) {
      return node.getKind() == msgpack::Type::UInt  ? unsigned(node.getUInt())
             : node.getKind() == msgpack::Type::Int ? unsigned(node.getInt())
                                                    : 0;
    };
    DeviceUse use;
    use.registers = number(fields[".vgpr_count"]);
    use.scalarRegisters = number(fields[".sgpr_count"]);
    use.spills = number(fields[".vgpr_spill_count"]);
    use.scalarSpills = number(fields[".sgpr_spill_count"]);
    use.stackBytes = number(fields[".private_segment_fixed_size"]);
    use.sharedBytes = number(fields[".group_segment_fixed_size"]);
    use.threads = 1;
    for (msgpack::DocNode &size : fields[".reqd_workgroup_size"].getArray(/*Convert=*/true))
      use.threads *= number(size);
    return use;
  }
  return std::nullopt;
}

Expected<DeviceUse> mlir::nb::readNotes(ArrayRef<char> object, StringRef kernel) {
  auto file = object::ELFFile<object::ELF64LE>::create(StringRef(object.data(), object.size()));
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_NOTE)
      continue;
    Error error = Error::success();
    std::optional<DeviceUse> found;
    for (const auto &note : file->notes(section, error))
      if (note.getType() == ELF::NT_AMDGPU_METADATA && !found)
        found = readNote(note.getDescAsStringRef(section.sh_addralign), kernel);
    if (error)
      return error;
    if (found)
      return *found;
  }
  return createStringError("the code object has no notes of a kernel '" + kernel.str() + "'");
}

/// The number ahead of `words`, or 0.
static unsigned numberBefore(StringRef text, StringRef words) {
  unsigned number = 0;
  const StringRef ahead = text.substr(0, text.find(words)).rtrim();
  if (text.contains(words))
    ahead.substr(ahead.find_last_not_of("0123456789") + 1).getAsInteger(10, number);
  return number;
}

Expected<DeviceUse> mlir::nb::readAssemblerReport(StringRef report, StringRef kernel) {
  // One paragraph for each kernel.
  const std::string begin = "Compiling entry function '" + kernel.str() + "'";
  const auto [ahead, rest] = report.split(begin);
  const StringRef paragraph = rest.split("Compiling entry function").first;
  DeviceUse use;
  use.registers = numberBefore(paragraph.split("Used ").second.split('\n').first, " registers");
  use.spills = numberBefore(paragraph, " bytes spill stores");
  use.stackBytes = numberBefore(paragraph, " bytes stack frame");
  use.sharedBytes = numberBefore(paragraph, " bytes smem");
  if (!use.registers)
    return createStringError("ptxas -v says nothing of registers of '" + kernel.str() + "'");
  return use;
}
