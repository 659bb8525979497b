#include "lib/Formats/ExptFile.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Experiment/Words.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/JsonText.h"
#include "lib/Formats/ForeignFormats.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

namespace nanobragg::io {
namespace {

using nlohmann::json;

constexpr double largest = 1e12; ///< beyond it no number of an experiment means anything

/// A JSON object of the file and how to complain about it.
class Model {
public:
  Model(const std::string &path, std::string where, const json &object)
      : path(path), where(std::move(where)), object(object) {
    if (!object.is_object())
      refuse("is not a JSON object");
  }

  [[noreturn]] void refuse(const std::string &what) const {
    throw FileError(path, where + " " + what);
  }

  const json *find(const char *key) const {
    asked.insert(key);
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  double number(const char *key, double otherwise) const {
    const json *found = find(key);
    return found ? numberOf(*found, key) : otherwise;
  }

  template <std::size_t N>
  std::optional<std::array<double, N>> numbers(const char *key) const {
    const json *found = find(key);
    if (!found)
      return std::nullopt;
    if (!found->is_array() || found->size() != N)
      refuse(std::string("has a \"") + key + "\" that is not a list of " + std::to_string(N) +
             " numbers");
    std::array<double, N> values;
    for (std::size_t i = 0; i < N; ++i)
      values[i] = numberOf((*found)[i], key);
    return values;
  }

  template <std::size_t N>
  std::array<double, N> needed(const char *key) const {
    const auto values = numbers<N>(key);
    if (!values)
      refuse(std::string("lacks \"") + key + "\"");
    return *values;
  }

  Vec3 direction(const char *key, const std::optional<Vec3> &otherwise = {}) const {
    const std::optional<Vec3> given = numbers<3>(key);
    if (!given && !otherwise)
      refuse(std::string("lacks \"") + key + "\"");
    const Vec3 vector = given.value_or(otherwise.value_or(Vec3{}));
    if (!(length(vector) > 0))
      refuse(std::string("has a \"") + key + "\" of length 0");
    return unit(vector);
  }

  std::string text(const char *key, const std::string &otherwise = "") const {
    const json *found = find(key);
    return found && found->is_string() ? found->get<std::string>() : otherwise;
  }

  double numberOf(const json &value, const char *key) const {
    if (!value.is_number() || !(std::fabs(value.get<double>()) < largest))
      refuse(std::string("has a \"") + key + "\" that is not a number");
    return value.get<double>();
  }

  /// Keys that nothing has asked for and that say something, apart from those that a simulation
  /// does not depend on.
  std::set<std::string> unread(std::span<const std::string_view> beside) const {
    std::set<std::string> keys;
    for (const auto &[key, value] : object.items()) {
      const bool says = !(value.is_null() || value == 0 || value == "" || value == false ||
                          ((value.is_array() || value.is_object()) && value.empty()));
      if (says && !asked.contains(key) && !std::ranges::count(beside, key))
        keys.insert(key);
    }
    return keys;
  }

  const std::string &path;
  std::string where;
  const json &object;

private:
  mutable std::set<std::string> asked;
};

/// Keys of any model that DIALS writes and no simulation depends on.
constexpr std::string_view ofNoEffect[] = {"__id__",
                                           "identifier",
                                           "name",
                                           "names",
                                           "type",
                                           "imageset",
                                           "profile",
                                           "scaling_model",
                                           "epochs",
                                           "batch_offset",
                                           "exposure_time",
                                           "valid_image_ranges",
                                           "raw_image_offset",
                                           "transmission",
                                           "trusted_range",
                                           "B_covariance",
                                           "cell_parameter_sd",
                                           "cell_volume_sd",
                                           "recalculated_cell_parameter_sd",
                                           "recalculated_unit_cell",
                                           "recalculated_cell_volume",
                                           "recalculated_cell_volume_sd",
                                           "B_covariance_at_scan_points",
                                           "recalculated_unit_cell_sd",
                                           "sample_to_source_distance"};

/// Where a node of the hierarchy stands: columns fast, slow, normal, and the origin.
struct Frame {
  Vec3 fast{1, 0, 0}, slow{0, 1, 0}, normal{0, 0, 1}, origin{};

  Vec3 turned(const Vec3 &v) const {
    return sum(sum(scaled(fast, v[0]), scaled(slow, v[1])), scaled(normal, v[2]));
  }
  Frame at(const Vec3 &localFast, const Vec3 &localSlow, const Vec3 &localOrigin) const {
    const Vec3 localNormal = cross(localFast, localSlow);
    return {turned(localFast), turned(localSlow), turned(localNormal),
            sum(turned(localOrigin), origin)};
  }
};

Frame frameOf(const Model &model, const Frame &parent) {
  const Vec3 fast = model.direction("fast_axis", Vec3{1, 0, 0});
  const Vec3 slow = model.direction("slow_axis", Vec3{0, 1, 0});
  if (std::fabs(dot(fast, slow)) > 1e-6)
    model.refuse("has axes that are not perpendicular");
  return parent.at(fast, slow, model.numbers<3>("origin").value_or(Vec3{}));
}

class DetectorReader {
public:
  DetectorReader(const std::string &path, const std::string &where, const json &object)
      : model(path, where, object) {}

  /// Adds to `unread` the keys of panels that are not used.
  std::vector<DialsPanel> read(std::set<std::string> &unread) {
    const json *list = model.find("panels");
    if (!list || !list->is_array() || list->empty())
      model.refuse("has no \"panels\"");
    frames.assign(list->size(), std::nullopt);
    if (const json *hierarchy = model.find("hierarchy"))
      place(Model(model.path, model.where + ", hierarchy", *hierarchy), *list, Frame{}, 0);
    std::vector<DialsPanel> panels;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Model panel = panelAt(*list, i);
      panels.push_back(panelOf(panel, frames[i] ? *frames[i] : frameOf(panel, Frame{})));
      if (frames[i])
        frameOf(panel, Frame{}); // these keys were read with the hierarchy
      unread.merge(panel.unread(ofNoEffect));
    }
    return panels;
  }

private:
  Model panelAt(const json &list, std::size_t i) const {
    return Model(model.path, model.where + ", panel " + std::to_string(i), list[i]);
  }

  void place(const Model &node, const json &list, const Frame &parent, int depth) {
    if (depth > 64)
      node.refuse("is nested more than 64 times");
    const Frame frame = frameOf(node, parent);
    const json *children = node.find("children");
    if (!children)
      return;
    if (!children->is_array())
      node.refuse("has \"children\" that is not a list");
    for (const json &child : *children) {
      if (!child.is_object())
        node.refuse("has a child that is not a JSON object");
      const auto panel = child.find("panel");
      if (panel == child.end()) {
        place(Model(node.path, node.where, child), list, frame, depth + 1);
        continue;
      }
      if (!panel->is_number_unsigned() || panel->get<std::size_t>() >= list.size())
        node.refuse("names a panel that is not there");
      const std::size_t index = panel->get<std::size_t>();
      frames[index] = frameOf(panelAt(list, index), frame);
    }
  }

  static DialsPanel panelOf(const Model &model, const Frame &frame) {
    DialsPanel p;
    p.name = model.text("name", p.name);
    p.type = model.text("type", p.type);
    p.material = model.text("material");
    p.origin = frame.origin;
    p.fast = frame.fast;
    p.slow = frame.slow;
    const auto pixels = model.needed<2>("image_size");
    p.pixelSize = model.needed<2>("pixel_size");
    for (int i = 0; i < 2; ++i) {
      if (!(pixels[i] >= 1 && pixels[i] < 1e6))
        model.refuse("has an \"image_size\" that is not a number of pixels");
      if (!(p.pixelSize[i] > 0))
        model.refuse("has a \"pixel_size\" that is not above 0");
      p.pixels[i] = std::int64_t(pixels[i]);
    }
    if (const auto range = model.numbers<2>("trusted_range"))
      p.trustedRange = *range;
    p.thickness = model.number("thickness", 0);
    p.mu = model.number("mu", 0);
    p.gain = model.number("gain", 1);
    // Is written again, but no image has it, which unread() says.
    if (const auto pedestal = model.object.find("pedestal"); pedestal != model.object.end())
      p.pedestal = model.numberOf(*pedestal, "pedestal");
    if (const json *mask = model.find("mask")) {
      for (const json &rectangle : *mask) {
        if (!rectangle.is_array() || rectangle.size() != 4)
          model.refuse("has a \"mask\" whose rectangles are not lists of four numbers");
        std::array<std::int64_t, 4> bounds;
        for (std::size_t i = 0; i < 4; ++i)
          bounds[i] = std::int64_t(std::clamp(model.numberOf(rectangle[i], "mask"), -1e6, 1e6));
        p.masked.push_back(bounds);
      }
    }
    if (const json *strategy = model.find("px_mm_strategy"))
      p.parallax = strategy->is_object() &&
                   strategy->value("type", std::string()).find("Parallax") != std::string::npos;
    return p;
  }

  Model model;
  std::vector<std::optional<Frame>> frames;
};

/// `wavelengthOfShot`: of the experiment's scan, for XFELBeam, which has none.
DialsBeam beamOf(const Model &model, const std::optional<double> &wavelengthOfShot) {
  DialsBeam beam;
  beam.direction = model.direction("direction", beam.direction);
  if (!model.find("wavelength"))
    beam.wavelengthRange = model.numbers<2>("wavelength_range");
  if (const auto &range = beam.wavelengthRange) {
    if (!((*range)[0] > 0 && (*range)[1] > (*range)[0]))
      model.refuse("has a \"wavelength_range\" that is not two ascending numbers above 0");
    beam.wavelength = ((*range)[0] + (*range)[1]) / 2;
  } else {
    beam.wavelength = model.number("wavelength", wavelengthOfShot.value_or(0));
  }
  const bool isXfel = model.text("__id__") == "xfel";
  if (!(beam.wavelength > 0))
    model.refuse(isXfel
                     ? "is that of an XFEL, whose wavelengths are in the \"properties\" of a scan; "
                       "the experiment has no scan with a \"wavelength\""
                     : "has no \"wavelength\" above 0");
  beam.polarizationNormal = model.direction("polarization_normal", beam.polarizationNormal);
  constexpr double unpolarized = 0.5; // dxtbx's default for XFELs
  beam.polarizationFraction =
      model.number("polarization_fraction", isXfel ? unpolarized : beam.polarizationFraction);
  if (const json *flux = model.find("flux")) { // may be larger than any other number
    if (!flux->is_number())
      model.refuse("has a \"flux\" that is not a number");
    beam.flux = flux->get<double>();
  }
  beam.probe = model.text("probe", beam.probe);
  return beam;
}

DialsGoniometer goniometerOf(const Model &model) {
  DialsGoniometer g;
  if (const json *axes = model.find("axes")) {
    // S is what stands in front of the scan's axis, F what stands behind it.
    const json *angles = model.find("angles");
    if (!axes->is_array() || axes->empty() || !angles || !angles->is_array() ||
        angles->size() != axes->size())
      model.refuse("has \"axes\" and \"angles\" of different numbers");
    const double scanAxis = model.number("scan_axis", 0);
    if (!(scanAxis >= 0 && scanAxis < double(axes->size())))
      model.refuse("has a \"scan_axis\" that is not among its axes");
    const auto turn = [&](std::size_t i, Mat3 &product) {
      const json wrapped{{"axis", (*axes)[i]}};
      const Model axis(model.path, model.where, wrapped);
      const Vec3 direction = axis.direction("axis");
      const double angle = model.numberOf((*angles)[i], "angles") * M_PI / 180;
      Mat3 next;
      for (int column = 0; column < 3; ++column) {
        const Vec3 v{product[column], product[3 + column], product[6 + column]};
        const Vec3 r = rotatedAbout(direction, angle, v);
        for (int row = 0; row < 3; ++row)
          next[3 * row + column] = r[row];
      }
      product = next;
    };
    const std::size_t scan = std::size_t(scanAxis);
    for (std::size_t i = 0; i < scan; ++i)
      turn(i, g.fixed);
    for (std::size_t i = scan + 1; i < axes->size(); ++i)
      turn(i, g.setting);
    const json scanDirection{{"axis", (*axes)[scan]}};
    g.axis = Model(model.path, model.where, scanDirection).direction("axis");
    return g;
  }
  g.axis = model.direction("rotation_axis", g.axis);
  g.fixed = model.numbers<9>("fixed_rotation").value_or(g.fixed);
  g.setting = model.numbers<9>("setting_rotation").value_or(g.setting);
  return g;
}

/// `unread`: of the properties.
DialsScan scanOf(const Model &model, std::set<std::string> &unread) {
  DialsScan scan;
  const auto range = model.needed<2>("image_range");
  scan.first = std::int64_t(range[0]);
  scan.last = std::int64_t(range[1]);
  if (scan.last < scan.first || scan.images() > 10000000)
    model.refuse("has an \"image_range\" that is empty or too long");
  const auto exposure = [&](const Model &m) {
    if (const json *times = m.find("exposure_time"))
      if (times->is_array() && !times->empty() && times->front().is_number())
        scan.exposure = times->front().get<double>();
  };
  exposure(model);
  const json *properties = model.find("properties");
  if (const auto oscillation = model.numbers<2>("oscillation")) {
    scan.start = (*oscillation)[0];
    scan.width = (*oscillation)[1];
  } else if (properties) {
    // New lists say where each image starts, and how wide it is where that does not follow.
    const Model each(model.path, model.where + ", properties", *properties);
    const auto first = [&](const char *key) -> std::optional<double> {
      const json *list = each.find(key);
      return list && list->is_array() && !list->empty()
                 ? std::optional(each.numberOf(list->front(), key))
                 : std::nullopt;
    };
    exposure(each);
    each.find("wavelength"); // beamOf() has those of stills
    scan.start = first("oscillation").value_or(0);
    const json *starts = each.find("oscillation");
    if (const auto width = first("oscillation_width"))
      scan.width = *width;
    else if (starts && starts->is_array() && starts->size() > 1)
      scan.width = each.numberOf((*starts)[1], "oscillation") - scan.start;
    unread = each.unread(ofNoEffect);
  }
  return scan;
}

DialsCrystal crystalOf(const Model &model) {
  DialsCrystal crystal;
  crystal.real = {model.needed<3>("real_space_a"), model.needed<3>("real_space_b"),
                  model.needed<3>("real_space_c")};
  const double volume = dot(crystal.real[0], cross(crystal.real[1], crystal.real[2]));
  if (!(std::fabs(volume) > 1e-6))
    model.refuse("has cell vectors that lie in a plane");
  crystal.hallSymbol = model.text("space_group_hall_symbol", crystal.hallSymbol);
  if (const json *points = model.find("A_at_scan_points")) {
    if (!points->is_array())
      model.refuse("has \"A_at_scan_points\" that is not a list");
    for (const json &point : *points) {
      const json wrapped{{"A_at_scan_points", point}};
      crystal.atScanPoints.push_back(
          Model(model.path, model.where, wrapped).needed<9>("A_at_scan_points"));
    }
  }
  return crystal;
}

Averages averagesOf(const Model &model) {
  Averages averages;
  // An image's: a table of reflections is none.
  const std::span<const char *const> words =
      std::span(wordsOf<Averaging>).first(std::size_t(Averaging::Reflections));
  const auto word = std::ranges::find(words, model.text("average"));
  if (word == words.end())
    model.refuse("has an \"average\" that is not sampled, closed, draws or quadrature");
  averages.how = Averaging(word - words.begin());
  if (model.find("mosaic"))
    averages.mosaicSpread = model.number("mosaic", 0);
  averages.mosaicAbc = model.numbers<3>("mosaic_abc");
  if (model.find("bandwidth_sigma"))
    averages.bandwidthSigma = model.number("bandwidth_sigma", 0);
  averages.divergenceSigma = model.numbers<2>("divergence_sigma");
  const Vec3 abc = averages.mosaicAbc.value_or(Vec3{});
  const auto divergence = averages.divergenceSigma.value_or(std::array{0.0, 0.0});
  if (std::min({averages.mosaicSpread.value_or(0), abc[0], abc[1], abc[2],
                averages.bandwidthSigma.value_or(0), divergence[0], divergence[1]}) < 0)
    model.refuse("has a width below 0");
  return averages;
}

class ListReader {
public:
  ListReader(const std::string &path, const json &list) : path(path), list(list) {}

  std::vector<DialsExperiment> read(std::optional<std::size_t> one) const {
    const auto entries = list.find("experiment");
    if (entries == list.end() || !entries->is_array() || entries->empty())
      throw FileError(path,
                      "is not an experiment list of DIALS: it has no \"experiment\"; give an .expt "
                      "file");
    if (one && *one >= entries->size())
      throw FileError(path, "has " + std::to_string(entries->size()) +
                                " experiments, counted from 0; there is no number " +
                                std::to_string(*one));
    std::vector<DialsExperiment> all;
    for (std::size_t i = one.value_or(0); i < (one ? *one + 1 : entries->size()); ++i)
      all.push_back(experiment(i, (*entries)[i]));
    return all;
  }

private:
  /// The model that an experiment refers to, or null.
  const json *referred(const Model &experiment, const char *key) const {
    const json *reference = experiment.find(key);
    if (!reference)
      return nullptr;
    if (reference->is_string())
      experiment.refuse(std::string("names a file for its \"") + key +
                        "\"; write the list anew with a newer DIALS, which keeps all in one file");
    const auto models = list.find(key);
    if (!reference->is_number_unsigned() || models == list.end() || !models->is_array() ||
        reference->get<std::size_t>() >= models->size())
      experiment.refuse(std::string("refers to a \"") + key + "\" that is not in the file");
    return &(*models)[reference->get<std::size_t>()];
  }

  /// The wavelength in a scan of stills at the experiment's "scan_point", or at the first point.
  std::optional<double> wavelengthOfShot(const Model &experiment, const std::string &where) const {
    const json *scan = referred(experiment, "scan");
    if (!scan || !scan->is_object() || !scan->contains("properties"))
      return std::nullopt;
    const Model properties(path, where + ", scan, properties", (*scan)["properties"]);
    const json *list = properties.find("wavelength");
    if (!list || !list->is_array())
      return std::nullopt;
    const auto point = std::size_t(experiment.number("scan_point", 0));
    if (point >= list->size())
      experiment.refuse("has the \"scan_point\" " + std::to_string(point) + ", and its scan has " +
                        std::to_string(list->size()) + " wavelengths");
    return properties.numberOf((*list)[point], "wavelength");
  }

  DialsExperiment experiment(std::size_t index, const json &entry) const {
    const std::string where = "experiment " + std::to_string(index);
    const Model model(path, where, entry);
    DialsExperiment e;
    const auto warn = [&](const char *of, const std::set<std::string> &keys) {
      std::string names;
      for (const std::string &key : keys)
        names += (names.empty() ? "\"" : ", \"") + key + "\"";
      if (!keys.empty())
        e.warnings.push_back(path + ": " + names + " of its " + of +
                             " is not used; flags can replace it");
    };
    const auto take = [&](const char *key, std::string &text, auto read) {
      const json *found = referred(model, key);
      if (!found)
        return false;
      const Model m(path, where + ", " + key, *found);
      std::set<std::string> unread;
      read(m, unread);
      unread.merge(m.unread(ofNoEffect));
      warn(key, unread);
      text = found->dump();
      return true;
    };
    using Keys = std::set<std::string>;
    const std::optional<double> ofShot = wavelengthOfShot(model, where);
    if (!take("beam", e.beamText, [&](const Model &m, Keys &) { e.beam = beamOf(m, ofShot); }))
      model.refuse("has no \"beam\"");
    if (ofShot && !(*referred(model, "beam")).contains("wavelength"))
      e.beamText.clear(); // the beam of one shot is monochromatic
    if (!take("detector", e.detectorText, [&](const Model &m, Keys &unread) {
          e.panels = DetectorReader(path, m.where, m.object).read(unread);
          for (const char *read : {"panels", "hierarchy"})
            m.find(read);
        }))
      model.refuse("has no \"detector\"");
    take("goniometer", e.goniometerText,
         [&](const Model &m, Keys &) { e.goniometer = goniometerOf(m); });
    take("scan", e.scanText, [&](const Model &m, Keys &unread) {
      if (m.find("image_range"))
        e.scan = scanOf(m, unread);
      else if (!ofShot)
        m.refuse("lacks \"image_range\"");
      else // a scan of stills has their wavelengths alone, which are known
        for (const char *read : {"properties", "__stills_consolidated"})
          m.find(read);
    });
    take("crystal", e.crystalText, [&](const Model &m, Keys &) { e.crystal = crystalOf(m); });
    if (const json *ours = model.find("nanobragg"))
      e.averages = averagesOf(Model(path, where + ", nanobragg", *ours));
    warn("experiment", model.unread(ofNoEffect));
    if (const json *set = model.find("imageset"); set && set->is_number_unsigned()) {
      // The stills of one sequence are told apart by their points.
      e.imageSet = (set->get<std::int64_t>() << 32) + std::int64_t(model.number("scan_point", 0));
      if (const json *found = referred(model, "imageset"); found && found->is_object())
        e.mask = Model(path, where, *found).text("mask");
    }
    if (e.crystal && !e.crystal->atScanPoints.empty() &&
        (!e.scan || std::int64_t(e.crystal->atScanPoints.size()) != e.scan->images() + 1))
      model.refuse("has a crystal whose \"A_at_scan_points\" are not one more than its images");
    return e;
  }

  const std::string &path;
  const json &list;
};

} // namespace

std::array<Vec3, 3> reciprocalOf(const std::array<Vec3, 3> &v) {
  const double volume = dot(v[0], cross(v[1], v[2]));
  return {scaled(cross(v[1], v[2]), 1 / volume), scaled(cross(v[2], v[0]), 1 / volume),
          scaled(cross(v[0], v[1]), 1 / volume)};
}

std::vector<DialsExperiment> readExpt(const std::string &path, std::optional<std::size_t> one) {
  const std::string content = readMaybeCompressed(path);
  refuseOtherThanExperiments(path, content);
  const json list = parseJson(path, content, "give an experiment list of DIALS (.expt)");
  if (!list.is_object())
    throw FileError(path, "is not an experiment list of DIALS; give an .expt file");
  try {
    return ListReader(path, list).read(one);
  } catch (const json::exception &) {
    throw FileError(path,
                    "has a value of another kind than DIALS writes there; write the list anew");
  }
}

} // namespace nanobragg::io
