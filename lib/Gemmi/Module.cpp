// What libnb-gemmi.so exports.
#include "lib/Gemmi/Model.h"
#include "lib/Gemmi/Reflections.h"

using namespace nanobragg::io;

namespace {

StructureFactors read(const NameAndLabel &file, const std::string &content,
                      StructureFactorFormat format, double defaultF) {
  return format == StructureFactorFormat::Mtz ? readMtz(file, content, defaultF)
                                              : readCifReflections(file, content, defaultF);
}

std::optional<std::array<double, 6>> cell(const std::string &path, const std::string &content,
                                          StructureFactorFormat format) {
  if (format == StructureFactorFormat::Mtz)
    return cellOfMtz(path, content);
  return isModel(format) ? cellOfModel(path, content, format) : cellOfCifReflections(path, content);
}

constexpr GemmiModule module{NB_VERSION, read, factorsOfModel, cell};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_gemmi_module() { return &module; }
