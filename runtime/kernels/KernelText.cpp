#include "runtime/kernels/KernelText.h"

#include "nanobragg/KernelABI.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <functional>
#include <optional>
#include <stdexcept>

namespace nanobragg {
namespace {

/// A 64-bit little-endian ELF file; everything is checked against its size.
class ElfFile {
public:
  explicit ElfFile(std::span<const char> bytes) : bytes(bytes) {
    const auto read = at<Elf64_Ehdr>(0);
    if (!read || std::memcmp(read->e_ident, ELFMAG, SELFMAG) != 0)
      throw std::runtime_error("it is no ELF file");
    header = *read;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
      throw std::runtime_error("it is not a 64-bit little-endian ELF file");
    if (header.e_type != ET_DYN && header.e_type != ET_REL)
      throw std::runtime_error("it is neither a shared object nor an object");
  }

  bool object() const { return header.e_type == ET_REL; }

  std::optional<std::string_view> section(std::string_view wanted) const {
    const auto names = sectionHeader(header.e_shstrndx);
    for (unsigned i = 0; names && i != header.e_shnum; ++i) {
      const auto section = sectionHeader(i);
      if (!section)
        break;
      if (nameOf(*names, section->sh_name) == wanted && section->sh_type == SHT_PROGBITS)
        return range(section->sh_offset, section->sh_size);
    }
    return std::nullopt;
  }

private:
  template <typename T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }
  std::optional<std::string_view> range(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes.size() || bytes.size() - offset < size)
      return std::nullopt;
    return std::string_view(bytes.data() + offset, size);
  }
  std::optional<Elf64_Shdr> sectionHeader(unsigned i) const {
    // An offset that overflows would wrap to something that is checked as well.
    return at<Elf64_Shdr>(header.e_shoff + std::uint64_t(i) * sizeof(Elf64_Shdr));
  }
  std::string_view nameOf(const Elf64_Shdr &names, std::uint64_t offset) const {
    const auto all = range(names.sh_offset, names.sh_size);
    if (!all || offset >= all->size())
      return {};
    const std::string_view rest = all->substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

  std::span<const char> bytes;
  Elf64_Ehdr header;
};

std::string_view cut(std::string_view &text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return word;
}

KernelText parse(std::string_view text) {
  KernelText kernel;
  while (!text.empty()) {
    std::string_view value = cut(text, '\n');
    const std::string_view key = cut(value, ' ');
    const std::pair<std::string_view, std::string *> texts[] = {
        {"kernel", &kernel.name},         {"abi", &kernel.abi},
        {"target", &kernel.target},       {"features", &kernel.features},
        {"precision", &kernel.precision}, {"image", &kernel.image},
        {"variant", &kernel.variant},     {"build", &kernel.build}};
    for (const auto &[name, field] : texts)
      if (key == name)
        *field = value;
    if (key == "code") {
      KernelTextCode code;
      code.chip = cut(value, ' ');
      code.kind = cut(value, ' ');
      code.version = cut(value, ' ');
      code.bytes = value;
      kernel.codes.push_back(std::move(code));
    }
    if (key == "parameter" || key == "output") {
      KernelTextParameter parameter;
      parameter.name = cut(value, ' ');
      parameter.kind = cut(value, ' ');
      parameter.unit = value;
      (key == "output" ? kernel.outputs : kernel.parameters).push_back(std::move(parameter));
    }
  }
  return kernel;
}

} // namespace

bool isObjectFile(std::span<const char> file) { return ElfFile(file).object(); }

KernelFileText readKernelText(std::span<const char> file) {
  const ElfFile elf(file);
  auto text = elf.section(NB_KERNEL_TEXT_SECTION);
  if (!text)
    throw std::runtime_error("it has no section " NB_KERNEL_TEXT_SECTION);
  KernelFileText result;
  result.object = elf.object();
  // Linkers may pad between the versions.
  while (!text->empty())
    if (const std::string_view version = cut(*text, '\0'); !version.empty())
      result.versions.push_back(parse(version));
  if (result.versions.empty())
    throw std::runtime_error("its section " NB_KERNEL_TEXT_SECTION " is empty");
  std::ranges::sort(result.versions, std::greater<>(), [](const KernelText &version) {
    return std::ranges::count(version.features, ' ');
  });
  return result;
}

} // namespace nanobragg
