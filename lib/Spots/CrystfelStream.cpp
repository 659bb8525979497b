#include "lib/Spots/CrystfelStream.h"

#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace nanobragg {
namespace {

/// A spot that counting would find: its photons in standard deviations.
constexpr double seen = 5;

[[gnu::format(printf, 1, 2)]] std::string text(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

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
  std::string all = text("photon_energy = %.17g eV\nadu_per_photon = %g\nclen = %.12g m\n",
                         photonEnergy(e), e.panels.front().gain, length);
  if (!data.empty())
    all += "data = " + data + "\ndim0 = %\ndim1 = ss\ndim2 = fs\n";
  for (std::size_t i = 0; i < e.panels.size(); ++i) {
    const io::DialsPanel &p = e.panels[i];
    const std::string name = panelName(e, i);
    const auto axis = [&](const char *key, const Vec3 &v) {
      const Vec3 t = turned(v);
      all += text("%s/%s = %+.12fx %+.12fy %+.12fz\n", name.c_str(), key, t[0], t[1], t[2]);
    };
    const Vec3 origin = turned(p.origin);
    const auto [fast, slow] = p.pixels;
    const long first = long(std::int64_t(i) * frameSlow);
    all += text("%s/res = %.12g\n", name.c_str(), 1000 / p.pixelSize[0]);
    all += text("%s/min_fs = 0\n%s/max_fs = %ld\n%s/min_ss = %ld\n%s/max_ss = %ld\n", name.c_str(),
                name.c_str(), long(fast - 1), name.c_str(), first, name.c_str(),
                long(first + slow - 1));
    all += text("%s/corner_x = %.9f\n%s/corner_y = %.9f\n%s/coffset = %.12g\n", name.c_str(),
                origin[0] / p.pixelSize[0], name.c_str(), origin[1] / p.pixelSize[0], name.c_str(),
                origin[2] / 1000 - length);
    axis("fs", p.fast);
    axis("ss", p.slow);
  }
  return all;
}

/// One image, from its crystals to text.
class Chunk {
public:
  Chunk(const StreamImage &image, std::int64_t frameSlow)
      : image(image), e(image.crystals.front().model), frameSlow(frameSlow), turned(e.beam),
        centre(scaled(e.beam.direction, 1 / e.beam.wavelength)) {}

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
           text("Image serial number: %lld\nhit = 1\nindexed_by = simulation\n",
                (long long)image.serial) +
           text("photon_energy_eV = %.6f\nbeam_divergence = %.2e rad\nbeam_bandwidth = %.2e %%\n",
                photonEnergy(e), image.size.divergence, 200 * image.size.bandwidth) +
           text("average_camera_length = %.6f m\n",
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
        list += text("%8.3f %8.3f %10.4f %12.2f   %s\n", s.pixel[0], slabRow(s), inverseD(s),
                     s.intensity, panelName(e, s.panel).c_str());
      }
    return text("num_peaks = %zu\nPeaks from peak search\n", count) +
           "  fs/px    ss/px (1/d)/nm^-1    Intensity  Panel\n" + list + "End of peak list\n";
  }

  std::string lattice(const io::DialsExperiment &m) const {
    const auto &real = m.crystal->real;
    const std::array<double, 3> edges{length(real[0]), length(real[1]), length(real[2])};
    const auto angle = [&](int i, int j) {
      return units::degrees(std::acos(dot(real[i], real[j]) / (edges[i] * edges[j])));
    };
    std::string all = text("Cell parameters %.5f %.5f %.5f nm, %.5f %.5f %.5f deg\n", edges[0] / 10,
                           edges[1] / 10, edges[2] / 10, angle(1, 2), angle(0, 2), angle(0, 1));
    std::array<Vec3, 3> stars = io::reciprocalOf(real);
    for (int i = 0; i < 3; ++i) {
      if (m.scan && m.goniometer) // as it stands in the middle of the image
        stars[i] = rotatedAbout(m.goniometer->axis,
                                units::radians(m.scan->start + m.scan->width / 2), stars[i]);
      const Vec3 v = scaled(turned(stars[i]), perNanometre);
      all += text("%cstar = %+.7f %+.7f %+.7f nm^-1\n", "abc"[i], v[0], v[1], v[2]);
    }
    return all;
  }

  std::string reflections(const std::vector<Spot> &spots) const {
    double limit = 0;
    for (const Spot &s : spots)
      limit = std::max(limit, inverseD(s));
    std::string all =
        text("profile_radius = %.5f nm^-1\n", perNanometre * image.size.node) +
        text("diffraction_resolution_limit = %.4f nm^-1 or %.4f A\n", limit,
             limit > 0 ? perNanometre / limit : 0) +
        text("num_reflections = %zu\nnum_saturated_reflections = 0\n", spots.size()) +
        "Reflections measured after indexing\n"
        "   h    k    l            I   sigma(I)       peak background    fs/px    ss/px panel\n";
    for (const Spot &s : spots)
      all += text("%4d %4d %4d %12.2f %10.2f %10.2f %10.2f %8.3f %8.3f %s\n", s.hkl[0], s.hkl[1],
                  s.hkl[2], s.intensity, std::sqrt(std::max(s.variance, 0.0)), s.peak, s.background,
                  s.pixel[0], slabRow(s), panelName(e, s.panel).c_str());
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
  ToCrystfel turned;
  Vec3 centre; ///< - s0
};

} // namespace

void CrystfelStream::begin(const io::DialsExperiment &first) {
  out.write("CrystFEL stream format 2.3\nGenerated by nanobragg-mlir: what the model has, not what "
            "was found\n----- Begin geometry file -----\n" +
            geometryOf(first, frameSlow, data) + "----- End geometry file -----\n");
}

void CrystfelStream::add(const StreamImage &image) { out.write(Chunk(image, frameSlow).write()); }

} // namespace nanobragg
