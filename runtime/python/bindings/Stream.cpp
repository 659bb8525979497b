// CrystFEL streams of integrated stills.
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/ExptFile.h"
#include "lib/Spots/CrystfelStream.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <tuple>

namespace nanobragg::python {
namespace {

/// File, event, bandwidth (a fraction), divergence (rad) and profile radius (1/A).
using StreamImage = std::tuple<std::string, std::string, double, double, double>;
/// A row for each reflection: h, k, l, panel, fast, slow (pixels), I, sigma(I), background.
using Rows = nb::ndarray<const double, nb::shape<-1, 9>, nb::c_contig, nb::device::cpu>;

std::vector<Spot> spotsOf(const Rows &rows, const io::DialsExperiment &e) {
  const std::array<Vec3, 3> stars = io::reciprocalOf(e.crystal->real);
  const Vec3 incident = scaled(e.beam.direction, -1 / e.beam.wavelength);
  std::vector<Spot> spots(rows.shape(0));
  for (std::size_t i = 0; i < spots.size(); ++i) {
    Spot &s = spots[i];
    s.ray = incident;
    for (int k = 0; k < 3; ++k) {
      s.hkl[k] = std::int32_t(rows(i, k));
      s.ray = sum(s.ray, scaled(stars[k], rows(i, k)));
    }
    s.panel = std::size_t(rows(i, 3));
    s.pixel = {rows(i, 4), rows(i, 5)};
    s.intensity = rows(i, 6);
    s.variance = rows(i, 7) * rows(i, 7);
    s.background = rows(i, 8);
  }
  return spots;
}

void writeStream(const std::string &path, const std::string &experiments,
                 const std::vector<StreamImage> &images, const std::vector<Rows> &rows) {
  const std::vector<io::DialsExperiment> listed = io::readExpt(experiments);
  if (listed.size() != rows.size())
    throw nb::value_error("rows= needs an array for each experiment");
  std::int64_t frameSlow = 0;
  for (const io::DialsPanel &panel : listed.front().panels)
    frameSlow = std::max(frameSlow, panel.pixels[1]);
  std::map<std::int64_t, std::vector<StreamCrystal>> crystals;
  for (std::size_t i = 0; i < listed.size(); ++i)
    crystals[listed[i].imageSet].push_back({listed[i], spotsOf(rows[i], listed[i])});
  io::OutputFile out(path);
  CrystfelStream stream(out, frameSlow, "", "file");
  stream.begin(listed.front());
  if (crystals.size() != images.size())
    throw nb::value_error("images= needs an entry for each image set");
  std::int64_t serial = 0;
  for (const auto &[number, found] : crystals) {
    const auto &[file, event, bandwidth, divergence, node] = images[std::size_t(serial)];
    stream.add({file, event, ++serial, {node, 0, divergence, bandwidth, true}, found});
  }
  out.commit();
}

} // namespace

void bindStream(nb::module_ &module) {
  module.def(
      "write_stream", &writeStream, nb::arg("path"), nb::arg("experiments"), nb::arg("images"),
      nb::arg("rows"),
      "Writes a CrystFEL stream of integrated stills. experiments: their .expt; images: of "
      "each image set its file, event, bandwidth, divergence (rad) and profile radius (1/A); "
      "rows: of each experiment h, k, l, panel, fast, slow, I, sigma and background.");
}

} // namespace nanobragg::python
