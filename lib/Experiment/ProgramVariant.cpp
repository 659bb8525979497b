#include "lib/Experiment/ProgramVariant.h"

#include "lib/Experiment/Words.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace nanobragg {
namespace {

using Names = std::span<const char *const>;

/// Calls `visit(key, field)` for every choice, in canonical order.
template <typename S, typename Visitor>
void forEachChoice(S &s, Visitor visit) {
  visit("shape", s.shape);
  visit("structure_factors", s.structureFactors);
  visit("cell_source", s.cellSource);
  visit("cell_setting", s.cellSetting);
  visit("spot_metric", s.spotMetric);
  visit("sources", s.sources);
  visit("divergence", s.divergence);
  visit("pivot", s.pivot);
  visit("distance", s.distance);
  visit("curvature", s.curvature);
  visit("faces", s.faces);
  visit("solid_angle", s.solidAngle);
  visit("omega", s.omega);
  visit("polarization", s.polarization);
  visit("capture", s.capture);
  visit("absorption_by_energy", s.absorptionByEnergy);
  visit("water", s.water);
  visit("mosaicity", s.mosaicity);
  visit("averaging", s.averaging);
  visit("bandwidth", s.bandwidth);
  visit("sweep", s.sweep);
  visit("diffuse", s.diffuse);
  visit("background", s.background);
  visit("dmin", s.dmin);
  visit("by_source", s.bySource);
  visit("panels", s.panels);
  visit("pixel_list", s.pixelList);
  visit("mask", s.mask);
  visit("light_given", s.lightGiven);
  visit("point_spread", s.pointSpread);
  visit("counting_loss", s.countingLoss);
  visit("gain_map", s.gainMap);
  visit("gain", s.gain);
  visit("image_type", s.imageType);
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
  forEachChoice(*this, [&](const char *key, auto field) {
    if (!text.empty())
      text += ' ';
    text += std::string(key) + '=' + wordsOf<decltype(field)>[std::size_t(field)];
  });
  if (anomalousKinds > 0)
    text += " anomalous_kinds=" + std::to_string(anomalousKinds);
  return text;
}

ProgramVariant ProgramVariant::fromString(std::string_view text) {
  ProgramVariant variant;
  std::string_view rest = text;
  auto refuse = [&](const std::string &why) {
    throw std::invalid_argument("variant '" + std::string(text) + "': " + why);
  };
  forEachChoice(variant, [&](std::string_view key, auto &field) {
    const Names names = wordsOf<std::remove_reference_t<decltype(field)>>;
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
  if (!rest.empty() || (!text.empty() && text.back() == ' '))
    refuse("unexpected '" + std::string(rest) + "' at the end");
  if (variant.omega == Evaluation::None)
    refuse("'omega' cannot be 'none', it is one of once, each");
  return variant;
}

} // namespace nanobragg
