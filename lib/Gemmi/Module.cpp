// The functions that libnb-gemmi.so exports.
#include "lib/Files/ModuleCall.h"
#include "lib/Gemmi/MergedReflections.h"
#include "lib/Gemmi/Model.h"
#include "lib/Gemmi/Reflections.h"

using namespace nanobragg::io;

namespace {

using Cell = std::optional<std::array<double, 6>>;

bool read(const NameAndLabel &file, const std::string &content, StructureFactorFormat format,
          double defaultF, bool phases, StructureFactors &result, std::string &error) {
  return caught(error, [&] {
    result = format == StructureFactorFormat::Mtz ? readMtz(file, content, defaultF, phases)
             : format == StructureFactorFormat::Shelx
                 ? readShelx(file, content, defaultF)
                 : readCifReflections(file, content, defaultF, phases);
  });
}

bool calculate(const std::string &path, const std::string &content, StructureFactorFormat format,
               const ModelOptions &options, const Cell &cell, StructureFactors &result,
               std::string &error) {
  return caught(error, [&] { result = factorsOfModel(path, content, format, options, cell); });
}

bool cell(const std::string &path, const std::string &content, StructureFactorFormat format,
          Cell &result, std::string &error) {
  return caught(error, [&] {
    result = format == StructureFactorFormat::Mtz     ? cellOfMtz(path, content)
             : format == StructureFactorFormat::Shelx ? cellOfShelx(path)
             : isModel(format)                        ? cellOfModel(path, content, format)
                                                      : cellOfCifReflections(path, content);
  });
}

bool asymmetricUnit(const std::string &spaceGroup, const std::vector<std::int32_t> &hkl,
                    AsymmetricIndices &result, std::string &error) {
  return caught(error, [&] { result = asymmetricIndicesOf(spaceGroup, hkl); });
}

bool mtz(const MtzReflections &reflections, std::string &result, std::string &error) {
  return caught(error, [&] { result = contentOfMtz(reflections); });
}

bool operations(const std::string &spaceGroup, std::vector<SymmetryOperation> &result,
                std::string &error) {
  return caught(error, [&] { result = operationsOf(spaceGroup); });
}

bool atoms(const std::string &path, const std::string &content, StructureFactorFormat format,
           const Cell &cell, AtomsOfModel &result, std::string &error) {
  return caught(error, [&] { result = atomsIn(path, content, format, cell); });
}

bool dispersion(const std::string &element, const std::vector<double> &energies, Dispersion &result,
                std::string &error) {
  return caught(error, [&] { result = cromerLiberman(element, energies); });
}

bool items(const std::string &path, const std::string &content, std::vector<CifItem> &result,
           std::string &error) {
  return caught(error, [&] { result = itemsOfCif(path, content); });
}

bool choices(const std::string &spaceGroup, const std::array<double, 6> &cell, double obliquity,
             IndexingChoices &result, std::string &error) {
  return caught(error, [&] { result = choicesOfIndices(spaceGroup, cell, obliquity); });
}

constexpr GemmiModule module{NB_VERSION, read,  calculate,  cell,  asymmetricUnit, mtz,
                             operations, atoms, dispersion, items, choices};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_gemmi_module() { return &module; }
