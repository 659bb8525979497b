#include "lib/Formats/ExptFile.h"

#include "lib/Experiment/Words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nanobragg::io {
namespace {

using nlohmann::json;

/// Models of one kind, each once.
class ModelList {
public:
  std::size_t add(const json &model) {
    const std::string text = model.dump();
    const auto found = std::find(texts.begin(), texts.end(), text);
    if (found != texts.end())
      return std::size_t(found - texts.begin());
    texts.push_back(text);
    models.push_back(model);
    return models.size() - 1;
  }
  json models = json::array();

private:
  std::vector<std::string> texts;
};

json asJson(const DialsBeam &beam) {
  json model = {{"__id__", beam.wavelengthRange ? "polychromatic" : "monochromatic"},
                {"direction", beam.direction},
                {"divergence", 0.0},
                {"sigma_divergence", 0.0},
                {"polarization_normal", beam.polarizationNormal},
                {"polarization_fraction", beam.polarizationFraction},
                {"flux", beam.flux},
                {"transmission", 1.0}};
  if (beam.wavelengthRange)
    model["wavelength_range"] = *beam.wavelengthRange;
  else
    model["wavelength"] = beam.wavelength;
  return model;
}

json asJson(const std::vector<DialsPanel> &panels) {
  json list = json::array(), children = json::array();
  for (const DialsPanel &p : panels) {
    children.push_back({{"panel", list.size()}});
    list.push_back(
        {{"name", p.name},
         {"type", p.type},
         {"fast_axis", p.fast},
         {"slow_axis", p.slow},
         {"origin", p.origin},
         {"raw_image_offset", {0, 0}},
         {"image_size", p.pixels},
         {"pixel_size", p.pixelSize},
         {"trusted_range", p.trustedRange},
         {"thickness", p.thickness},
         {"material", p.material},
         {"mu", p.mu},
         {"identifier", ""},
         {"mask", p.masked},
         {"gain", p.gain},
         {"pedestal", p.pedestal},
         {"px_mm_strategy",
          {{"type", p.parallax ? "ParallaxCorrectedPxMmStrategy" : "SimplePxMmStrategy"}}}});
  }
  const Vec3 x{1, 0, 0}, y{0, 1, 0}, zero{};
  return {{"panels", list},
          {"hierarchy",
           {{"name", ""},
            {"type", ""},
            {"fast_axis", x},
            {"slow_axis", y},
            {"origin", zero},
            {"raw_image_offset", {0, 0}},
            {"image_size", {0, 0}},
            {"pixel_size", {0.0, 0.0}},
            {"trusted_range", {0.0, 0.0}},
            {"thickness", 0.0},
            {"material", ""},
            {"mu", 0.0},
            {"identifier", ""},
            {"mask", json::array()},
            {"gain", 1.0},
            {"pedestal", 0.0},
            {"px_mm_strategy", {{"type", "SimplePxMmStrategy"}}},
            {"children", children}}}};
}

json asJson(const DialsGoniometer &g) {
  return {{"rotation_axis", g.axis}, {"fixed_rotation", g.fixed}, {"setting_rotation", g.setting}};
}

json asJson(const DialsScan &scan) {
  const std::vector<double> exposure(std::size_t(scan.images()), scan.exposure);
  std::vector<double> epochs(exposure.size());
  for (std::size_t i = 0; i < epochs.size(); ++i)
    epochs[i] = double(i) * scan.exposure;
  return {{"image_range", {scan.first, scan.last}},
          {"batch_offset", 0},
          {"oscillation", {scan.start, scan.width}},
          {"exposure_time", exposure},
          {"epochs", epochs},
          {"valid_image_ranges", json::object()}};
}

json asJson(const DialsCrystal &crystal) {
  json model = {{"__id__", "crystal"},
                {"real_space_a", crystal.real[0]},
                {"real_space_b", crystal.real[1]},
                {"real_space_c", crystal.real[2]},
                {"space_group_hall_symbol", crystal.hallSymbol}};
  if (!crystal.atScanPoints.empty())
    model["A_at_scan_points"] = crystal.atScanPoints;
  return model;
}

json asJson(const Averages &averages) {
  json model = {{"average", wordsOf<Averaging>[std::size_t(averages.how)]}};
  const auto add = [&](const char *key, const auto &value) {
    if (value)
      model[key] = *value;
  };
  add("mosaic", averages.mosaicSpread);
  add("mosaic_abc", averages.mosaicAbc);
  add("bandwidth_sigma", averages.bandwidthSigma);
  add("divergence_sigma", averages.divergenceSigma);
  return model;
}

template <typename T>
json keptOr(const std::string &text, const T &model) {
  return text.empty() ? asJson(model) : json::parse(text);
}

json imageSet(const ExptImages &images, const DialsExperiment &e, std::size_t index) {
  json set = {{"mask", ""}, {"gain", ""}, {"pedestal", ""},
              {"dx", ""},   {"dy", ""},   {"params", json::object()}};
  if (!images.pattern.empty()) {
    set["__id__"] = "ImageSequence";
    set["template"] = images.pattern;
    if (images.pattern.find('#') == std::string::npos) {
      json indices = json::array();
      for (std::int64_t i = 0; e.scan && i < e.scan->images(); ++i)
        indices.push_back(i);
      set["single_file_indices"] = indices;
    }
    return set;
  }
  set["__id__"] = "ImageSet";
  set["images"] = json::array(
      {images.names.empty() ? "" : images.names[std::min(index, images.names.size() - 1)]});
  const bool oneFile = images.names.size() == 1;
  set["single_file_indices"] = json::array({oneFile ? index : 0});
  return set;
}

} // namespace

void writeExpt(OutputFile &out, std::span<const DialsExperiment> experiments,
               const ExptImages &images) {
  ModelList beams, detectors, goniometers, scans, crystals, sets;
  json list = json::array();
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    const DialsExperiment &e = experiments[i];
    json entry = {{"__id__", "Experiment"}, {"identifier", ""}};
    entry["beam"] = beams.add(keptOr(e.beamText, e.beam));
    entry["detector"] = detectors.add(keptOr(e.detectorText, e.panels));
    if (e.goniometer)
      entry["goniometer"] = goniometers.add(keptOr(e.goniometerText, *e.goniometer));
    if (e.scan)
      entry["scan"] = scans.add(keptOr(e.scanText, *e.scan));
    if (e.crystal)
      entry["crystal"] = crystals.add(keptOr(e.crystalText, *e.crystal));
    if (e.averages)
      entry["nanobragg"] = asJson(*e.averages);
    entry["imageset"] =
        sets.add(imageSet(images, e, e.imageSet >= 0 ? std::size_t(e.imageSet) : i));
    list.push_back(entry);
  }
  const json all = {{"__id__", "ExperimentList"},   {"experiment", list},
                    {"imageset", sets.models},      {"beam", beams.models},
                    {"detector", detectors.models}, {"goniometer", goniometers.models},
                    {"scan", scans.models},         {"crystal", crystals.models},
                    {"profile", json::array()},     {"scaling_model", json::array()}};
  out.write(all.dump(2) + "\n");
}

} // namespace nanobragg::io
