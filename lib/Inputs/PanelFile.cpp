#include "lib/Inputs/PanelFile.h"

#include "lib/Experiment/Units.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/JsonText.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nanobragg {
namespace {

using nlohmann::json;

/// A panel of the file, and how to complain about it.
class PanelReader {
public:
  PanelReader(const std::string &path, std::size_t index, const json &object)
      : path(path), index(index), object(object) {}

  PanelOptions read() const {
    if (!object.is_object())
      refuse("must be an object with \"offset_mm\", \"fast\" and \"slow\"");
    static constexpr std::string_view keys[] = {"offset_mm", "fast", "slow", "normal", "pixels"};
    for (const auto &[key, value] : object.items())
      if (std::find(std::begin(keys), std::end(keys), key) == std::end(keys))
        refuse("has an unknown key \"" + key +
               "\"; the keys are offset_mm, fast, slow, normal and pixels");
    PanelOptions panel;
    panel.file = path;
    panel.offset = vector("offset_mm");
    for (double &x : panel.offset)
      x = units::fromMillimetres(x);
    panel.fastAxis = direction("fast");
    panel.slowAxis = direction("slow");
    if (object.contains("normal"))
      panel.normal = direction("normal");
    if (const auto pixels = object.find("pixels"); pixels != object.end())
      readPixels(*pixels, panel);
    return panel;
  }

private:
  void readPixels(const json &pixels, PanelOptions &panel) const {
    const auto isCount = [](const json &x) {
      return x.is_number_integer() && x > 0 && x < 1000000;
    };
    if (!pixels.is_array() || pixels.size() != 2 || !isCount(pixels[0]) || !isCount(pixels[1]))
      refuse("\"pixels\" must be a list of two whole numbers, along fast and along slow");
    panel.fastPixels = pixels[0].get<std::int64_t>();
    panel.slowPixels = pixels[1].get<std::int64_t>();
  }

  Vec3 vector(const char *key) const {
    const auto found = object.find(key);
    if (found == object.end())
      refuse("lacks \"" + std::string(key) + "\"");
    const bool numbers =
        found->is_array() && found->size() == 3 &&
        std::all_of(found->begin(), found->end(), [](const json &x) { return x.is_number(); });
    if (!numbers)
      refuse("\"" + std::string(key) + "\" must be a list of three numbers");
    return {found->at(0).get<double>(), found->at(1).get<double>(), found->at(2).get<double>()};
  }

  Vec3 direction(const char *key) const {
    const Vec3 found = vector(key);
    if (found == Vec3{})
      refuse("\"" + std::string(key) + "\" must not be zero");
    return found;
  }

  [[noreturn]] void refuse(const std::string &what) const {
    throw io::FileError(path, "panel " + std::to_string(index) + " " + what);
  }

  const std::string &path;
  std::size_t index; ///< counted from 0, as in the image
  const json &object;
};

} // namespace

std::vector<PanelOptions> readPanels(const std::string &path) {
  const json list =
      io::parseJson(path, io::readMaybeCompressed(path), "check brackets, commas and quotes");
  if (!list.is_array() || list.empty())
    throw io::FileError(path, "must be a list of panels: [{\"offset_mm\": [x,y,z], \"fast\": "
                              "[x,y,z], \"slow\": [x,y,z]}, ...]");
  std::vector<PanelOptions> panels;
  panels.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    panels.push_back(PanelReader(path, i, list[i]).read());
  return panels;
}

} // namespace nanobragg
