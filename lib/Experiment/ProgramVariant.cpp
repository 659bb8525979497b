#include "lib/Experiment/ProgramVariant.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace nanobragg {
namespace {

using Names = std::span<const char *const>;

// The words of each enumeration, in the order of its enumerators.
constexpr const char *boolNames[] = {"no", "yes"};
constexpr const char *shapeNames[] = {"square", "round", "gauss", "tophat", "gauss_matrix"};
constexpr const char *structureFactorNames[] = {"constant", "nearest",          "tricubic",
                                                "channels", "between_channels", "anomalous"};
constexpr const char *cellSourceNames[] = {"cell", "matrix", "cell_and_matrix"};
constexpr const char *ruleNames[] = {"right", "c"};
constexpr const char *sourcesNames[] = {"generated", "listed"};
constexpr const char *pivotNames[] = {"beam", "sample"};
constexpr const char *distanceNames[] = {"distance", "close_distance"};
constexpr const char *curvatureNames[] = {"flat", "right", "c"};
constexpr const char *solidAngleNames[] = {"pixel", "point"};
constexpr const char *evaluationNames[] = {"none", "once", "each"};
constexpr const char *captureNames[] = {"none", "sum", "last", "each"};
constexpr const char *waterNames[] = {"none", "right", "c"};
constexpr const char *mosaicityNames[] = {"ball", "ellipsoid"};
constexpr const char *pointSpreadNames[] = {"none", "gauss", "fiber"};
constexpr const char *imageTypeNames[] = {"f32", "f64"};

/// Calls `visit(key, field, words)` for every choice, in canonical order.
template <typename S, typename Visitor>
void forEachChoice(S &s, Visitor visit) {
  visit("shape", s.shape, Names(shapeNames));
  visit("structure_factors", s.structureFactors, Names(structureFactorNames));
  visit("cell_source", s.cellSource, Names(cellSourceNames));
  visit("cell_setting", s.cellSetting, Names(ruleNames));
  visit("spot_metric", s.spotMetric, Names(ruleNames));
  visit("sources", s.sources, Names(sourcesNames));
  visit("pivot", s.pivot, Names(pivotNames));
  visit("distance", s.distance, Names(distanceNames));
  visit("curvature", s.curvature, Names(curvatureNames));
  visit("solid_angle", s.solidAngle, Names(solidAngleNames));
  visit("omega", s.omega, Names(evaluationNames));
  visit("polarization", s.polarization, Names(evaluationNames));
  visit("capture", s.capture, Names(captureNames));
  visit("water", s.water, Names(waterNames));
  visit("mosaicity", s.mosaicity, Names(mosaicityNames));
  visit("diffuse", s.diffuse, Names(boolNames));
  visit("background", s.background, Names(boolNames));
  visit("dmin", s.dmin, Names(boolNames));
  visit("panels", s.panels, Names(boolNames));
  visit("pixel_list", s.pixelList, Names(boolNames));
  visit("mask", s.mask, Names(boolNames));
  visit("light_given", s.lightGiven, Names(boolNames));
  visit("point_spread", s.pointSpread, Names(pointSpreadNames));
  visit("counting_loss", s.countingLoss, Names(boolNames));
  visit("gain_map", s.gainMap, Names(boolNames));
  visit("gain", s.gain, Names(boolNames));
  visit("image_type", s.imageType, Names(imageTypeNames));
}

std::string listed(Names names) {
  std::string text;
  for (const char *name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

} // namespace

std::string ProgramVariant::toString() const {
  std::string text;
  forEachChoice(*this, [&](const char *key, auto field, Names names) {
    if (!text.empty())
      text += ' ';
    text += std::string(key) + '=' + names[std::size_t(field)];
  });
  if (anomalousKinds > 0)
    text += " anomalous_kinds=" + std::to_string(anomalousKinds);
  if (!cull.isOff())
    text += " cull=" + cull.toString();
  return text;
}

ProgramVariant ProgramVariant::fromString(std::string_view text) {
  ProgramVariant variant;
  std::string_view rest = text;
  auto refuse = [&](const std::string &why) {
    throw std::invalid_argument("variant '" + std::string(text) + "': " + why);
  };
  forEachChoice(variant, [&](std::string_view key, auto &field, Names names) {
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.substr(0, key.size()) != key || word.substr(key.size(), 1) != "=")
      refuse("expected '" + std::string(key) + "=' but found '" + std::string(word) + "'");
    std::string_view value = word.substr(key.size() + 1);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (value == names[i]) {
        field = static_cast<std::remove_reference_t<decltype(field)>>(i);
        return;
      }
    refuse("'" + std::string(key) + "' cannot be '" + std::string(value) + "', it is one of " +
           listed(names));
  });
  if (constexpr std::string_view key = "anomalous_kinds="; rest.starts_with(key)) {
    const std::string_view value = rest.substr(key.size(), rest.find(' ') - key.size());
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), variant.anomalousKinds);
    if (error != std::errc() || end != value.data() + value.size() || variant.anomalousKinds < 1 ||
        variant.anomalousKinds > mostAnomalousKinds)
      refuse("'anomalous_kinds' cannot be '" + std::string(value) + "', it is a number from 1 to " +
             std::to_string(mostAnomalousKinds));
    rest.remove_prefix(std::min(rest.size(), key.size() + value.size() + 1));
  }
  if ((variant.structureFactors == StructureFactors::Anomalous) != (variant.anomalousKinds > 0))
    refuse("'structure_factors=anomalous' and 'anomalous_kinds' belong together");
  if (constexpr std::string_view key = "cull="; rest.starts_with(key)) {
    const std::string_view value = rest.substr(key.size(), rest.find(' ') - key.size());
    const auto setting = CullSetting::fromString(value);
    if (!setting || setting->isOff())
      refuse("'cull' cannot be '" + std::string(value) +
             "', it is exact or a number between 0 and 1");
    variant.cull = *setting;
    rest.remove_prefix(std::min(rest.size(), key.size() + value.size()));
  }
  if (!rest.empty() || (!text.empty() && text.back() == ' '))
    refuse("unexpected '" + std::string(rest) + "' at the end");
  if (variant.omega == Evaluation::None)
    refuse("'omega' cannot be 'none', it is one of once, each");
  return variant;
}

} // namespace nanobragg
