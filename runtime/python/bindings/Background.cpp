// A background table from an image.
#include "nanobragg/Background.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace nanobragg::python {

void bindBackground(nb::module_ &module) {
  module.def(
      "extract_background",
      [](PythonSimulator &self, const Doubles &image, std::size_t bins) {
        std::vector<std::tuple<double, double, double, double>> rows;
        const auto points = self.run([&](Simulator &s, const RunOptions &) {
          return extractBackground(s, {image.data(), image.size()}, bins);
        });
        for (const BackgroundPoint &p : points)
          rows.emplace_back(p.stol, p.factor, p.deviation, double(p.pixels));
        return rows;
      },
      nb::arg("simulator"), nb::arg("image"), nb::arg("bins"));
}

} // namespace nanobragg::python
