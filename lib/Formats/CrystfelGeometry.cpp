#include "lib/Formats/CrystfelGeometry.h"

#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

#include <algorithm>
#include <cmath>
#include <map>

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
    geometry.wavelength = wavelength();
    if (!maskLine.text.empty())
      geometry.warnings.push_back(path + ": the mask in " + maskLine.text +
                                  " is not read; save it as an SMV image and give it with -mask");
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
      if (key.starts_with("group_") || key.starts_with("rigid_group"))
        return;
      if (key == "mask" || key == "mask0_data")
        maskLine = value;
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
                      what + " is " + inQuotes(value.text) + ", which is no number");
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
    return value.text.ends_with("mm") ? number : number * mm;
  }

  double cameraLength(const Keys &keys, const std::string &name) const {
    const Value *offset = find(keys, "coffset"), *length = find(keys, "clen");
    const double behind = offset ? lengthOf(*offset, name + "/coffset") : 0;
    if (!length || isPath(*length)) {
      if (!distance)
        throw FileError(path, "does not say how far away panel " + inQuotes(name) +
                                  " is, but where in an image that stands (clen); give -distance");
      return *distance + behind;
    }
    return lengthOf(*length, name + "/clen") + behind;
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

  DialsPanel panelOf(const Keys &keys, const std::string &name) const {
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
    p.fast = unit(fast);
    p.slow = unit(slow);
    p.pixelSize = {pixel, pixel};
    p.origin = {needed(keys, "corner_x", name) * pixel, needed(keys, "corner_y", name) * pixel,
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
    if (const Value *largest = find(keys, "max_adu"))
      p.trustedRange[1] = numberOf(*largest, name + "/max_adu");
    return p;
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

  std::optional<double> wavelength() const {
    constexpr double angstrom = 1e10;
    if (const auto energy = globals.find("photon_energy");
        energy != globals.end() && !isPath(energy->second)) {
      double volts = numberOf(energy->second, "photon_energy");
      if (energy->second.text.find("keV") != std::string::npos)
        volts *= 1000;
      if (!(volts > 0))
        throw FileError(path, energy->second.line, "photon_energy must be above 0");
      return units::wavelengthFromEnergy(volts) * angstrom;
    }
    if (const auto length = globals.find("wavelength");
        length != globals.end() && !isPath(length->second)) {
      const double value = numberOf(length->second, "wavelength");
      const double found = length->second.text.ends_with("A") ? value : value * angstrom;
      if (!(found > 0))
        throw FileError(path, length->second.line, "wavelength must be above 0");
      return found;
    }
    return std::nullopt;
  }

  const std::string &path;
  std::optional<double> distance;
  Keys globals;
  Value maskLine;
  std::map<std::string, Keys> panels, regions;
  std::vector<std::string> order;
};

} // namespace

CrystfelGeometry readCrystfelGeometry(const std::string &path, std::optional<double> distance) {
  return Reader(path, distance).read();
}

} // namespace nanobragg::io
