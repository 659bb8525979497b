#include "lib/Spots/CrystfelStream.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>

namespace nanobragg {
namespace {

/// A spot that counting would find: its photons in standard deviations.
constexpr double seen = 5;

/// From the frame of an experiment to CrystFEL's.
class ToCrystfel {
public:
  explicit ToCrystfel(const io::DialsBeam &beam) {
    // A beam that runs more or less along z (CrystFEL's own geometries) is turned to z; another to
    // -z (dxtbx), from where half a turn about y leads on.
    const Vec3 forward = scaled(beam.direction, -1);
    half = forward[2] < 0;
    const Vec3 target{0, 0, half ? -1.0 : 1.0};
    const Vec3 perpendicular = cross(forward, target);
    angle = std::atan2(length(perpendicular), dot(forward, target));
    axis = unit(perpendicular);
  }
  Vec3 operator()(const Vec3 &v) const {
    const Vec3 r = angle == 0 ? v : rotatedAbout(axis, angle, v);
    return half ? Vec3{-r[0], r[1], -r[2]} : r;
  }

private:
  Vec3 axis{};
  double angle = 0;
  bool half = false;
};

double photonEnergy(const io::DialsExperiment &e) { return constants::hc / e.beam.wavelength; }

std::string panelName(const io::DialsExperiment &e, std::size_t panel) {
  return e.panels.size() == 1 ? "p0" : "p" + std::to_string(panel);
}

std::string geometryOf(const io::DialsExperiment &e, std::int64_t frameSlow,
                       const std::string &data) {
  const ToCrystfel turned(e.beam);
  const double length = turned(e.panels.front().origin)[2] / 1000; // m
  std::string all = formatted("photon_energy = %.17g eV\nadu_per_photon = %g\nclen = %.12g m\n",
                              photonEnergy(e), e.panels.front().gain, length);
  if (!data.empty())
    all += "data = " + data + "\ndim0 = %\ndim1 = ss\ndim2 = fs\n";
  for (std::size_t i = 0; i < e.panels.size(); ++i) {
    const io::DialsPanel &p = e.panels[i];
    const std::string name = panelName(e, i);
    const auto axis = [&](const char *key, const Vec3 &v) {
      const Vec3 t = turned(v);
      all += formatted("%s/%s = %+.12fx %+.12fy %+.12fz\n", name.c_str(), key, t[0], t[1], t[2]);
    };
    const Vec3 origin = turned(p.origin);
    const auto [fast, slow] = p.pixels;
    const long first = long(std::int64_t(i) * frameSlow);
    all += formatted("%s/res = %.12g\n", name.c_str(), 1000 / p.pixelSize[0]);
    all += formatted("%s/min_fs = 0\n%s/max_fs = %ld\n%s/min_ss = %ld\n%s/max_ss = %ld\n",
                     name.c_str(), name.c_str(), long(fast - 1), name.c_str(), first, name.c_str(),
                     long(first + slow - 1));
    all += formatted("%s/corner_x = %.9f\n%s/corner_y = %.9f\n%s/coffset = %.12g\n", name.c_str(),
                     origin[0] / p.pixelSize[0], name.c_str(), origin[1] / p.pixelSize[0],
                     name.c_str(), origin[2] / 1000 - length);
    axis("fs", p.fast);
    axis("ss", p.slow);
  }
  return all;
}

struct StreamLattice {
  std::array<double, 3> edges, angles; ///< A, degrees
  std::string words;                   ///< lattice_type, centering and unique_axis, a line each
};

/// The type that the cell's edges and angles have. Hall symbols begin with the centring.
StreamLattice streamLatticeOf(const io::DialsCrystal &crystal) {
  const auto &real = crystal.real;
  StreamLattice l{};
  for (int i = 0; i < 3; ++i) {
    const Vec3 &u = real[(i + 1) % 3], &v = real[(i + 2) % 3];
    l.edges[i] = length(real[i]);
    l.angles[i] = units::degrees(std::acos(dot(u, v) / (length(u) * length(v))));
  }
  const std::size_t letter = crystal.hallSymbol.find_first_not_of(" -");
  const char centring = letter == std::string::npos ? 'P' : crystal.hallSymbol[letter];
  constexpr double rounding = 1e-4;
  const auto is = [&](int i, double angle) { return std::fabs(l.angles[i] - angle) < 0.01; };
  const auto same = [&](int i, int j) { return std::fabs(l.edges[i] / l.edges[j] - 1) < rounding; };
  const int right = is(0, 90) + is(1, 90) + is(2, 90);
  const char *type = "triclinic";
  char unique = 0, center = centring;
  for (int axis = 0; axis < 3; ++axis) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    if (right == 3 && same(i, j)) {
      type = "tetragonal";
      unique = "abc"[axis];
    } else if (right == 2 && is(axis, 120) && same(i, j)) {
      type = "hexagonal";
      unique = "abc"[axis];
      center = centring == 'R' ? 'H' : centring;
    } else if (right == 2 && !is(axis, 90)) {
      type = "monoclinic";
      unique = "abc"[axis];
    }
  }
  if (right == 3 && unique == 0)
    type = "orthorhombic";
  const bool cube = same(0, 1) && same(1, 2);
  if (right == 3 && cube) {
    type = "cubic";
    unique = 0;
  } else if (right < 2 && cube && is(0, l.angles[1]) && is(1, l.angles[2])) {
    type = "rhombohedral";
    center = 'R';
  }
  l.words = formatted("lattice_type = %s\ncentering = %c\n", type, center);
  if (unique != 0)
    l.words += formatted("unique_axis = %c\n", unique);
  return l;
}

std::string cellText(const io::DialsCrystal &crystal) {
  const StreamLattice l = streamLatticeOf(crystal);
  return "----- Begin unit cell -----\nCrystFEL unit cell file version 1.0\n\n" + l.words +
         formatted(
             "\na = %.5f A\nb = %.5f A\nc = %.5f A\nal = %.5f deg\nbe = %.5f deg\nga = %.5f deg\n",
             l.edges[0], l.edges[1], l.edges[2], l.angles[0], l.angles[1], l.angles[2]) +
         "----- End unit cell -----\n";
}

/// One image, from its crystals to text.
class Chunk {
public:
  Chunk(const StreamImage &image, std::int64_t frameSlow, const std::string &indexer)
      : image(image), e(image.crystals.front().model), frameSlow(frameSlow), indexer(indexer),
        turned(e.beam), centre(scaled(e.beam.direction, 1 / e.beam.wavelength)) {}

  std::string write() const {
    std::string all = "----- Begin chunk -----\n" + header() + peaks();
    for (const StreamCrystal &crystal : image.crystals)
      all += "--- Begin crystal\n" + lattice(crystal.model) + reflections(crystal.spots) +
             "--- End crystal\n";
    return all + "----- End chunk -----\n";
  }

private:
  std::string header() const {
    const io::DialsPanel &p = e.panels.front();
    return "Image filename: " + image.file + "\n" +
           (image.event.empty() ? "" : "Event: " + image.event + "\n") +
           formatted("Image serial number: %lld\nhit = 1\n", (long long)image.serial) +
           "indexed_by = " + indexer + "\n" +
           formatted(
               "photon_energy_eV = %.6f\nbeam_divergence = %.2e rad\nbeam_bandwidth = %.2e %%\n",
               photonEnergy(e), image.size.divergence, 200 * image.size.bandwidth) +
           formatted("average_camera_length = %.6f m\n",
                     std::fabs(dot(p.origin, cross(p.fast, p.slow))) / 1000);
  }

  std::string peaks() const {
    std::size_t count = 0;
    std::string list;
    for (const StreamCrystal &crystal : image.crystals)
      for (const Spot &s : crystal.spots) {
        if (s.intensity < seen * std::sqrt(s.variance) || s.intensity < seen * seen)
          continue;
        ++count;
        list += formatted("%8.3f %8.3f %10.4f %12.2f   %s\n", s.pixel[0], slabRow(s), inverseD(s),
                          s.intensity, panelName(e, s.panel).c_str());
      }
    return formatted("num_peaks = %zu\nPeaks from peak search\n", count) +
           "  fs/px    ss/px (1/d)/nm^-1    Intensity  Panel\n" + list + "End of peak list\n";
  }

  std::string lattice(const io::DialsExperiment &m) const {
    const StreamLattice l = streamLatticeOf(*m.crystal);
    std::string all =
        formatted("Cell parameters %.5f %.5f %.5f nm, %.5f %.5f %.5f deg\n", l.edges[0] / 10,
                  l.edges[1] / 10, l.edges[2] / 10, l.angles[0], l.angles[1], l.angles[2]);
    std::array<Vec3, 3> stars = io::reciprocalOf(m.crystal->real);
    for (int i = 0; i < 3; ++i) {
      if (m.scan && m.goniometer) // as it stands in the middle of the image
        stars[i] = rotatedAbout(m.goniometer->axis,
                                units::radians(m.scan->start + m.scan->width / 2), stars[i]);
      const Vec3 v = scaled(turned(stars[i]), perNanometre);
      all += formatted("%cstar = %+.7f %+.7f %+.7f nm^-1\n", "abc"[i], v[0], v[1], v[2]);
    }
    return all + l.words;
  }

  std::string reflections(const std::vector<Spot> &spots) const {
    double limit = 0;
    for (const Spot &s : spots)
      limit = std::max(limit, inverseD(s));
    std::string all =
        formatted("profile_radius = %.5f nm^-1\n", perNanometre * image.size.node) +
        formatted("diffraction_resolution_limit = %.4f nm^-1 or %.4f A\n", limit,
                  limit > 0 ? perNanometre / limit : 0) +
        formatted("num_reflections = %zu\nnum_saturated_reflections = 0\n", spots.size()) +
        "Reflections measured after indexing\n"
        "   h    k    l            I   sigma(I)       peak background    fs/px    ss/px panel\n";
    for (const Spot &s : spots)
      all += formatted("%4d %4d %4d %12.2f %10.2f %10.2f %10.2f %8.3f %8.3f %s\n", s.hkl[0],
                       s.hkl[1], s.hkl[2], s.intensity, std::sqrt(std::max(s.variance, 0.0)),
                       s.peak, s.background, s.pixel[0], slabRow(s), panelName(e, s.panel).c_str());
    return all + "End of reflections\n";
  }

  double slabRow(const Spot &s) const {
    return s.pixel[1] + double(std::int64_t(s.panel) * frameSlow);
  }
  /// 1/nm.
  double inverseD(const Spot &s) const { return perNanometre * length(sum(s.ray, centre)); }

  static constexpr double perNanometre = 10; ///< 1/A to 1/nm

  const StreamImage &image;
  const io::DialsExperiment &e;
  std::int64_t frameSlow;
  const std::string &indexer;
  ToCrystfel turned;
  Vec3 centre; ///< - s0
};

} // namespace

void CrystfelStream::begin(const io::DialsExperiment &first) {
  out.write("CrystFEL stream format 2.3\nGenerated by nanobragg-mlir\n"
            "----- Begin geometry file -----\n" +
            geometryOf(first, frameSlow, data) + "----- End geometry file -----\n" +
            (first.crystal ? cellText(*first.crystal) : ""));
}

void CrystfelStream::add(const StreamImage &image) {
  out.write(Chunk(image, frameSlow, indexer).write());
}

} // namespace nanobragg
