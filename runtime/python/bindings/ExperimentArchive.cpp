#include "runtime/python/bindings/ExperimentArchive.h"

#include <stdexcept>
#include <type_traits>

#ifndef NB_VERSION
#error "NB_VERSION is the version of the library"
#endif

namespace nanobragg::python {
namespace {

constexpr std::string_view head = "nanobragg experiment " NB_VERSION "\n";

class Writer {
public:
  static constexpr bool reads = false;
  void bytes(const void *data, std::size_t size) {
    text.append(static_cast<const char *>(data), size);
  }
  std::string text{head};
};

class Reader {
public:
  static constexpr bool reads = true;
  explicit Reader(std::string_view bytes) : rest(bytes) {
    if (!rest.starts_with(head))
      throw std::invalid_argument("this is not a pickled simulator of version " NB_VERSION
                                  "; pickles are for the version that wrote them");
    rest.remove_prefix(head.size());
  }
  void bytes(void *data, std::size_t size) {
    if (size > rest.size())
      throw std::invalid_argument("the pickled simulator is damaged: it ends too early");
    rest.copy(static_cast<char *>(data), size);
    rest.remove_prefix(size);
  }
  std::size_t left() const { return rest.size(); }

private:
  std::string_view rest;
};

template <typename Archive, typename T>
  requires std::is_arithmetic_v<T>
void field(Archive &a, T &value) {
  a.bytes(&value, sizeof value);
}

template <typename Archive, typename T, std::size_t N>
void field(Archive &a, std::array<T, N> &values) {
  for (T &value : values)
    field(a, value);
}

void field(Writer &a, ProgramVariant &variant) {
  const std::string text = variant.toString();
  std::uint64_t size = text.size();
  field(a, size);
  a.bytes(text.data(), text.size());
}
void field(Reader &a, ProgramVariant &variant) {
  std::uint64_t size = 0;
  field(a, size);
  std::string text(std::min<std::size_t>(size, a.left()), ' ');
  a.bytes(text.data(), text.size());
  variant = ProgramVariant::fromString(text);
}

template <typename Archive>
void field(Archive &a, Panel &panel);

template <typename Archive, typename T>
void field(Archive &a, std::vector<T> &values) {
  std::uint64_t size = values.size();
  field(a, size);
  if constexpr (Archive::reads) {
    if (size > a.left())
      throw std::invalid_argument("the pickled simulator is damaged: a table is too long");
    values.resize(size);
  }
  if constexpr (std::is_arithmetic_v<T>)
    a.bytes(values.data(), size * sizeof(T));
  else
    for (T &value : values)
      field(a, value);
}

template <typename Archive, typename... Fields>
void fields(Archive &a, Fields &...all) {
  (field(a, all), ...);
}

// A field that is added to a struct is added here: the list names all of them, or does not compile.
#define NB_ARCHIVE(Struct, ...)                                                                    \
  template <typename Archive>                                                                      \
  void field(Archive &a, Struct &object) {                                                         \
    auto &[__VA_ARGS__] = object;                                                                  \
    fields(a, __VA_ARGS__);                                                                        \
  }

NB_ARCHIVE(HklGrid, hMin, hMax, kMin, kMax, lMin, lMax, values)

template <typename Archive>
void field(Archive &a, std::shared_ptr<const HklGrid> &grid) {
  std::uint8_t there = grid != nullptr;
  field(a, there);
  if (!there)
    return;
  HklGrid copy = grid ? *grid : HklGrid();
  field(a, copy);
  if constexpr (Archive::reads)
    grid = std::make_shared<const HklGrid>(std::move(copy));
}

NB_ARCHIVE(PixelMap, values)

NB_ARCHIVE(NumberList, values)

NB_ARCHIVE(Panel, offset, fastAxis, slowAxis, normal, fastPixels, slowPixels)

NB_ARCHIVE(Crystal, cellA, cellB, cellC, cellAlpha, cellBeta, cellGamma, reciprocalMatrix, misset,
           ncells, ncellsCross, fudge, defaultF, grid, sheets, sheetStep, energyNodes, fPrime,
           fDoublePrime, mosaicSpread, mosaicAxis, mosaicUnitAngle, mosaicAbc, diffuseGamma,
           diffuseSigma, symmetryH, symmetryK, symmetryL)

NB_ARCHIVE(Goniometer, spindleAxis, phi0, osc, phiStepFraction, phiSteps)

NB_ARCHIVE(Beam, direction, polarizationAxis, kahnFactor, wavelength, dispersion, hdivRange,
           vdivRange, hdivSigma, vdivSigma, bandwidthSigma, spectrumWavelength, spectrumDensity,
           fluence, exposure, unitHdiv, unitVdiv, unitDispersion, sourceDirection, sourceWavelength,
           wavelengthOffset, wavelengthScale, sourceWeight)

NB_ARCHIVE(Detector, distance, closeDistance, beamCenterFast, beamCenterSlow, fastAxis, slowAxis,
           normal, rotation, twotheta, twothetaAxis, pixelSize, fastPixels, slowPixels, oversample,
           roiFastMin, roiFastMax, roiSlowMin, roiSlowMax, attenuationDepth, absorptionNode,
           absorption, sensorThickness, layerFraction, layers, panels, mask, gainMap, light,
           listPanel, listSlow, listFast, wholeFastPixels, wholeSlowPixels, gain, psfFwhm,
           psfRadius, deadTime)

template <typename Archive>
void field(Archive &a, ListedPixels &listed) {
  fields(a, listed.places, listed.imagePixels);
}

NB_ARCHIVE(Background, stol, factor, first, last, thickness, density, molarMass, area, oversample)

NB_ARCHIVE(Average, nodes, weights, exponent, tolerance, around, fast, slow, phi, wavelength, hdiv,
           vdiv, rotation)

NB_ARCHIVE(ReflectionList, h, k, l, turn, begin, end, source, layer, wavelength)

NB_ARCHIVE(SpotTable, photons, fast, slow, fastFast, fastSlow, slowSlow, skewFff, skewFfs, skewFss,
           skewSss, panel, depth, nodes, node, weight)

NB_ARCHIVE(Experiment, variant, crystal, goniometer, beam, detector, dmin, waterSize, background,
           average, reflections, spots)

} // namespace

std::string archive(const Experiment &experiment, const ListedPixels &listed) {
  Writer writer;
  Experiment copy = experiment;
  ListedPixels places = listed;
  fields(writer, copy, places);
  return std::move(writer.text);
}

std::pair<Experiment, ListedPixels> restore(std::string_view bytes) {
  Reader reader(bytes);
  std::pair<Experiment, ListedPixels> restored;
  fields(reader, restored.first, restored.second);
  restored.second.findRuns();
  if (reader.left() != 0)
    throw std::invalid_argument("the pickled simulator is damaged: it is too long");
  return restored;
}

} // namespace nanobragg::python
