#include "lib/Formats/CrystfelGeometry.h"

#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace nanobragg::io {
namespace {

constexpr double mm = 1000;
constexpr std::size_t mostPanels = 100000;

struct Value {
  std::string text;
  std::size_t line = 0;
};
using Keys = std::map<std::string, Value>;

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\"";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos)
    return "";
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

class Reader {
public:
  Reader(const std::string &path, std::optional<double> distance)
      : path(path), distance(distance) {}

  CrystfelGeometry read() {
    parse(readMaybeCompressed(path));
    if (panels.empty())
      throw FileError(path, "has no panels (name/min_fs = ...); give a geometry of CrystFEL");
    CrystfelGeometry geometry;
    for (const std::string &name : order)
      geometry.panels.push_back(panelOf(panels.at(name), name));
    for (const auto &[name, keys] : regions)
      mask(name, keys, geometry.panels);
    geometry.saysDistance = firstLength.has_value();
    geometry.wavelength = wavelength(geometry.wavelengthInImage);
    takeGain(geometry);
    if (const Value *width = find(globals, "bandwidth"))
      geometry.bandwidth = numberOf(*width, "bandwidth");
    warnAboutUnread(geometry.warnings);
    return geometry;
  }

private:
  void parse(const std::string &text) {
    std::string_view rest = text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      line = line.substr(0, line.find(';'));
      const std::size_t equals = line.find('=');
      const std::string key = trimmed(line.substr(0, equals));
      if (key.empty())
        continue;
      if (equals == line.npos)
        throw FileError(path, number, inQuotes(key) + " has no value; lines are 'key = value'");
      take(key, {trimmed(line.substr(equals + 1)), number});
    }
  }

  void take(const std::string &key, Value value) {
    const std::size_t slash = key.find('/');
    if (slash == key.npos) {
      globals[key] = std::move(value);
      return;
    }
    const std::string name = key.substr(0, slash), field = key.substr(slash + 1);
    if (name.starts_with("bad")) {
      regions[name][field] = std::move(value);
      return;
    }
    if (!panels.contains(name)) {
      if (order.size() == mostPanels)
        throw FileError(path, value.line, "has more than 100000 panels");
      order.push_back(name);
      panels[name] = globals; // a global holds for the panels that follow it
    }
    panels[name][field] = std::move(value);
  }

  const Value *find(const Keys &keys, const char *key) const {
    asked.insert(key);
    if (const auto found = keys.find(key); found != keys.end())
      return &found->second;
    const auto global = globals.find(key);
    return global == globals.end() ? nullptr : &global->second;
  }

  double numberOf(const Value &value, const std::string &what) const {
    double number = 0;
    const char *begin = value.text.data(), *end = begin + value.text.size();
    if (!value.text.empty() && *begin == '+')
      ++begin;
    if (!parseNumber(begin, end, number) || !(std::fabs(number) < 1e12))
      throw FileError(path, value.line,
                      what + " is " + inQuotes(value.text) + ", which is not a number");
    return number;
  }

  double needed(const Keys &keys, const char *key, const std::string &name) const {
    const Value *value = find(keys, key);
    if (!value)
      throw FileError(path, "panel " + inQuotes(name) + " lacks " + key);
    return numberOf(*value, name + "/" + key);
  }

  bool isPath(const Value &value) const { return value.text.starts_with('/'); }

  /// In mm; numbers are metres unless a unit follows.
  double lengthOf(const Value &value, const std::string &what) const {
    const double number = numberOf(value, what);
    const std::string unit = trimmed(value.text.substr(value.text.find_last_of("0123456789.") + 1));
    if (unit != "" && unit != "m" && unit != "mm")
      throw FileError(path, value.line,
                      what + " is " + inQuotes(value.text) + "; lengths are in m or in mm");
    return unit == "mm" ? number : number * mm;
  }

  double cameraLength(const Keys &keys, const std::string &name) {
    const Value *offset = find(keys, "coffset"), *length = find(keys, "clen");
    const double behind = offset ? lengthOf(*offset, name + "/coffset") : 0;
    if (!length || isPath(*length)) {
      if (!distance)
        throw FileError(path, "does not say how far away panel " + inQuotes(name) +
                                  " is, but where in an image it is (clen); give -distance");
      return *distance + behind;
    }
    const double stated = lengthOf(*length, name + "/clen");
    if (!firstLength)
      firstLength = stated;
    return (distance ? *distance + (stated - *firstLength) : stated) + behind;
  }

  /// In mm; of the whole detector.
  double shift(const char *key) {
    const Value *value = find(globals, key);
    if (!value)
      return 0;
    if (!isPath(*value))
      return lengthOf(*value, key);
    notes.insert(std::string(key) + " is in an image (" + value->text +
                 ") and is not used; write the number into the geometry");
    return 0;
  }

  /// "+0.99x -0.01y +0.001z"
  Vec3 directionOf(const Keys &keys, const char *key, const Vec3 &otherwise,
                   const std::string &name) const {
    const Value *value = find(keys, key);
    if (!value)
      return otherwise;
    Vec3 vector{};
    const std::string what = name + "/" + key;
    std::string text;
    for (char c : value->text)
      if (c != ' ' && c != '\t')
        text += c;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t axis = text.find_first_of("xyz", begin);
      if (axis == text.npos)
        throw FileError(path, value->line,
                        what + " is " + inQuotes(value->text) +
                            "; directions are written +0.99x -0.01y");
      std::string number = text.substr(begin, axis - begin);
      if (number.empty() || number == "+" || number == "-")
        number += "1";
      vector[std::size_t(text[axis] - 'x')] += numberOf({number, value->line}, what);
      begin = axis + 1;
    }
    return vector;
  }

  DialsPanel panelOf(const Keys &keys, const std::string &name) {
    DialsPanel p;
    p.name = name;
    const double resolution = needed(keys, "res", name);
    if (!(resolution > 0))
      throw FileError(path, "panel " + inQuotes(name) + " has a res that is not above 0");
    const double pixel = mm / resolution;
    const Vec3 fast = directionOf(keys, "fs", {1, 0, 0}, name);
    const Vec3 slow = directionOf(keys, "ss", {0, 1, 0}, name);
    if (!(length(cross(fast, slow)) > 1e-6))
      throw FileError(path, "panel " + inQuotes(name) + " has fs and ss that are parallel");
    constexpr double rounding = 2e-3; // directions may have three digits
    for (const double side : {length(fast), length(slow)})
      if (std::fabs(side - 1) > rounding)
        throw FileError(path, "panel " + inQuotes(name) + " has pixels with a side of " +
                                  shortNumber(side) +
                                  " times 1/res (the lengths of fs and ss); all pixels must be "
                                  "squares of one size here: correct fs, ss or res");
    p.fast = unit(fast);
    p.slow = unit(slow);
    p.pixelSize = {pixel, pixel};
    p.origin = {needed(keys, "corner_x", name) * pixel + shift("detector_shift_x"),
                needed(keys, "corner_y", name) * pixel + shift("detector_shift_y"),
                cameraLength(keys, name)};
    const char *bounds[2][2] = {{"min_fs", "max_fs"}, {"min_ss", "max_ss"}};
    for (std::size_t i = 0; i < 2; ++i) {
      const double count = needed(keys, bounds[i][1], name) - needed(keys, bounds[i][0], name) + 1;
      if (!(count >= 1 && count < 1e6))
        throw FileError(path, "panel " + inQuotes(name) + " has " + bounds[i][0] + " and " +
                                  bounds[i][1] + " between which there are no pixels");
      p.pixels[i] = std::int64_t(count);
    }
    if (const Value *bad = find(keys, "no_index"); bad && bad->text != "0")
      p.masked.push_back({0, 0, p.pixels[0], p.pixels[1]});
    if (const Value *edge = find(keys, "mask_edge_pixels"))
      maskEdge(numberOf(*edge, name + "/mask_edge_pixels"), p);
    if (const Value *gain = find(keys, "adu_per_photon"))
      p.gain = numberOf(*gain, name + "/adu_per_photon");
    else if (const Value *perVolt = find(keys, "adu_per_eV"))
      perEnergy.emplace_back(p.name, numberOf(*perVolt, name + "/adu_per_eV"));
    if (const Value *largest = find(keys, "max_adu"))
      p.trustedRange[1] = numberOf(*largest, name + "/max_adu");
    return p;
  }

  static void maskEdge(double width, DialsPanel &p) {
    const auto [f, s] = p.pixels;
    const std::int64_t edge = std::int64_t(std::clamp(width, 0.0, double(std::max(f, s))));
    if (edge == 0)
      return;
    for (const std::array<std::int64_t, 4> &border :
         {std::array{std::int64_t(0), std::int64_t(0), f, edge},
          {std::int64_t(0), s - edge, f, s},
          {std::int64_t(0), std::int64_t(0), edge, s},
          {f - edge, std::int64_t(0), f, s}})
      p.masked.push_back(border);
  }

  /// Gains by the energy of a photon.
  void takeGain(CrystfelGeometry &geometry) {
    for (const auto &[name, perVolt] : perEnergy) {
      if (!geometry.wavelength) {
        notes.insert("adu_per_eV is not used, since the photon energy is in an image; -gain "
                     "gives counts per photon");
        return;
      }
      for (DialsPanel &p : geometry.panels)
        if (p.name == name)
          p.gain = perVolt * constants::hc / *geometry.wavelength;
    }
  }

  /// Keys that nothing has asked for, apart from those about the data of images.
  void warnAboutUnread(std::vector<std::string> &warnings) {
    static constexpr std::string_view ofImages[] = {"data",
                                                    "dim",
                                                    "peak_list",
                                                    "peak_info_location",
                                                    "badrow_direction",
                                                    "rigid_group",
                                                    "group_",
                                                    "flag_",
                                                    "saturation_map",
                                                    "rail_",
                                                    "clen_for_centering",
                                                    "panel",
                                                    "min_x",
                                                    "max_x",
                                                    "min_y",
                                                    "max_y",
                                                    "min_fs",
                                                    "max_fs",
                                                    "min_ss",
                                                    "max_ss"};
    std::set<std::string> unread;
    const auto look = [&](const Keys &keys) {
      for (const auto &[key, value] : keys) {
        if (asked.contains(key) || std::ranges::any_of(ofImages, [&](std::string_view known) {
              return key.starts_with(known);
            }))
          continue;
        if (key.starts_with("mask"))
          notes.insert("the mask in " + value.text +
                       " is not read; save it as an SMV image and give it with -mask");
        else
          unread.insert(key);
      }
    };
    look(globals);
    for (const auto *named : {&panels, &regions})
      for (const auto &[name, keys] : *named)
        look(keys);
    for (const std::string &note : notes)
      warnings.push_back(path + ": " + note);
    std::string names;
    for (const std::string &key : unread)
      names += (names.empty() ? "" : ", ") + key;
    if (!unread.empty())
      warnings.push_back(path + ": not known here and not used: " + names);
  }

  void mask(const std::string &region, const Keys &keys, std::vector<DialsPanel> &all) const {
    const auto bound = [&](const char *key) {
      const auto found = keys.find(key);
      if (found == keys.end())
        throw FileError(path, "bad region " + inQuotes(region) + " lacks " + key);
      return numberOf(found->second, region + "/" + key);
    };
    if (keys.contains("min_x"))
      return maskBox({bound("min_x"), bound("max_x"), bound("min_y"), bound("max_y")}, all);
    const auto panel = keys.find("panel");
    for (DialsPanel &p : all) {
      if (panel != keys.end() && p.name != panel->second.text)
        continue;
      const Keys &own = panels.at(p.name);
      const std::int64_t f = std::int64_t(needed(own, "min_fs", p.name));
      const std::int64_t s = std::int64_t(needed(own, "min_ss", p.name));
      p.masked.push_back({std::int64_t(bound("min_fs")) - f, std::int64_t(bound("min_ss")) - s,
                          std::int64_t(bound("max_fs")) - f + 1,
                          std::int64_t(bound("max_ss")) - s + 1});
    }
  }

  /// Bounds in pixels of the laboratory: min and max of x, of y. Row by row, since panels are
  /// turned.
  static void maskBox(const std::array<double, 4> &box, std::vector<DialsPanel> &all) {
    for (DialsPanel &p : all)
      for (std::int64_t s = 0; s < p.pixels[1]; ++s) {
        std::int64_t first = -1, end = -1;
        for (std::int64_t f = 0; f < p.pixels[0]; ++f) {
          double at[2];
          for (int i = 0; i < 2; ++i)
            at[i] = p.origin[i] / p.pixelSize[0] + p.fast[i] * (double(f) + 0.5) +
                    p.slow[i] * (double(s) + 0.5);
          if (at[0] < box[0] || at[0] > box[1] || at[1] < box[2] || at[1] > box[3])
            continue;
          first = first < 0 ? f : first;
          end = f + 1;
        }
        if (first >= 0)
          p.masked.push_back({first, s, end, s + 1});
      }
  }

  std::optional<double> wavelength(std::string &inImage) const {
    constexpr double angstrom = 1e10;
    const Value *energy = find(globals, "photon_energy"), *length = find(globals, "wavelength");
    for (const Value *value : {energy, length})
      if (value && isPath(*value))
        inImage = value->text;
    if (energy && !isPath(*energy)) {
      double volts = numberOf(*energy, "photon_energy");
      for (const auto &[unit, factor] : {std::pair("keV", 1e3), std::pair("MeV", 1e6)})
        if (energy->text.ends_with(unit))
          volts *= factor;
      if (!(volts > 0))
        throw FileError(path, energy->line, "photon_energy must be above 0");
      return units::wavelengthFromEnergy(volts) * angstrom;
    }
    if (length && !isPath(*length)) {
      const double value = numberOf(*length, "wavelength");
      const double found = length->text.ends_with("A") ? value : value * angstrom;
      if (!(found > 0))
        throw FileError(path, length->line, "wavelength must be above 0");
      return found;
    }
    return std::nullopt;
  }

  const std::string &path;
  std::optional<double> distance;
  std::optional<double> firstLength; ///< mm, the first number that the file has for clen
  Keys globals;
  std::map<std::string, Keys> panels, regions;
  std::vector<std::string> order;
  mutable std::set<std::string> asked;                   ///< keys that a reader knows
  std::set<std::string> notes;                           ///< warnings without the file's name
  std::vector<std::pair<std::string, double>> perEnergy; ///< panels whose gain is counts per eV
};

} // namespace

CrystfelGeometry readCrystfelGeometry(const std::string &path, std::optional<double> distance) {
  return Reader(path, distance).read();
}

} // namespace nanobragg::io
