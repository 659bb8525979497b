#include "runtime/python/bindings/Settings.h"

#include "lib/Parallel/MostThreads.h"
#include "nanobragg/DeviceChoice.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nanobragg::python {
namespace {

using Text = std::string;

/// A key with its two directions.
struct Setting {
  const char *key;
  void (*set)(SimulatorOptions &, nb::handle);
  nb::object (*get)(const SimulatorOptions &);
};

template <auto member>
constexpr Setting plain(const char *key) {
  return {key,
          [](SimulatorOptions &o, nb::handle value) {
            o.*member = nb::cast<std::remove_cvref_t<decltype(o.*member)>>(value);
          },
          [](const SimulatorOptions &o) { return nb::cast(o.*member); }};
}

template <auto member>
constexpr Setting ofPasses(const char *key) {
  return {key,
          [](SimulatorOptions &o, nb::handle value) { o.passes.*member = nb::cast<Text>(value); },
          [](const SimulatorOptions &o) { return nb::cast(o.passes.*member); }};
}

int checkedThreads(nb::handle value) {
  const auto threads = nb::cast<std::int64_t>(value);
  if (threads < 0 || threads > mostThreads)
    throw std::invalid_argument("threads=" + std::to_string(threads) + " is not between 0 and " +
                                std::to_string(mostThreads) +
                                "; 0 means as many as the machine offers");
  return int(threads);
}

Engine engineOf(const Text &word) {
  if (word != "fused" && word != "interpreter")
    throw std::invalid_argument("engine='" + word + "' is not fused or interpreter");
  return word == "fused" ? Engine::Fused : Engine::Interpreter;
}

/// (pixels, 3), as pixelsOf takes them.
NumpyArray<std::int64_t> rowsOf(const std::vector<PixelIndex> &pixels) {
  std::vector<std::int64_t> rows;
  for (const PixelIndex &p : pixels)
    rows.insert(rows.end(), {p.panel, p.slow, p.fast});
  return takeVector(std::move(rows), {pixels.size(), 3});
}

CullSetting cullOf(nb::handle value) {
  const Text text = nb::cast<Text>(nb::str(value));
  if (const auto cull = CullSetting::fromString(text))
    return *cull;
  throw std::invalid_argument("cull=" + text + " is not off, exact or a tolerance such as 1e-9");
}

constexpr Setting settings[] = {
    {"threads", [](SimulatorOptions &o, nb::handle v) { o.threads = checkedThreads(v); },
     [](const SimulatorOptions &o) { return nb::cast(o.threads); }},
    {"precision",
     [](SimulatorOptions &o, nb::handle v) { o.precision = precisionOf(nb::cast<Text>(v)); },
     [](const SimulatorOptions &o) { return nb::cast(Text(toString(o.precision))); }},
    {"device", [](SimulatorOptions &o, nb::handle v) { o.device = nb::cast<Text>(v); },
     [](const SimulatorOptions &o) -> nb::object { return nb::cast(o.device.toString()); }},
    {"engine", [](SimulatorOptions &o, nb::handle v) { o.engine = engineOf(nb::cast<Text>(v)); },
     [](const SimulatorOptions &o) -> nb::object {
       if (!o.engine)
         return nb::none();
       return nb::cast(*o.engine == Engine::Fused ? "fused" : "interpreter");
     }},
    {"cull", [](SimulatorOptions &o, nb::handle v) { o.cull = cullOf(v); },
     [](const SimulatorOptions &o) -> nb::object {
       if (!o.cull)
         return nb::none();
       return nb::cast(o.cull->toString());
     }},
    plain<&SimulatorOptions::specialize>("specialize"),
    plain<&SimulatorOptions::fallback>("fallback"),
    plain<&SimulatorOptions::kernelFile>("kernel_file"),
    ofPasses<&OwnPasses::pipeline>("pipeline"),
    ofPasses<&OwnPasses::plugins>("plugins"),
    ofPasses<&OwnPasses::patterns>("patterns"),
    {"pixels", [](SimulatorOptions &o, nb::handle v) { o.pixels = pixelsOf(nb::cast<Indices>(v)); },
     [](const SimulatorOptions &o) -> nb::object { return nb::cast(rowsOf(o.pixels)); }},
};

} // namespace

void applySettings(const nb::dict &asked, SimulatorOptions &options) {
  for (const auto &[key, value] : asked) {
    const Text name = nb::cast<Text>(key);
    const auto row =
        std::ranges::find_if(settings, [&](const Setting &s) { return name == s.key; });
    if (row == std::end(settings))
      throw std::invalid_argument("there is no setting '" + name + "'");
    if (!value.is_none())
      row->set(options, value);
  }
}

nb::dict settingsOf(const SimulatorOptions &options) {
  nb::dict all;
  for (const Setting &setting : settings)
    all[setting.key] = setting.get(options);
  return all;
}

} // namespace nanobragg::python
