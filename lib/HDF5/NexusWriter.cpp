#include "lib/HDF5/Nexus.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "lib/HDF5/Filters.h"
#include "lib/HDF5/Handle.h"
#include "lib/HDF5/NexusToGoOnWith.h"

#include <cmath>
#include <cstring>
#include <libdeflate.h>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

namespace nanobragg::io {
namespace {

constexpr double thinnestSensor = 1e-6; ///< mm; dxtbx refuses 0

/// From imgCIF's frame, which dxtbx has, to McStas's.
Vec3 mcStas(const Vec3 &v) { return {-v[0], v[1], -v[2]}; }

/// The experiment turned so that the beam runs along -z.
DialsExperiment alongZ(DialsExperiment e) {
  const Vec3 z{0, 0, 1}, axis = cross(e.beam.direction, z);
  const double sine = length(axis);
  const bool opposite = e.beam.direction[2] < 0;
  if (sine < 1e-12 && !opposite)
    return e;
  const double angle = std::atan2(sine, dot(e.beam.direction, z));
  const Vec3 about = sine < 1e-12 ? Vec3{1, 0, 0} : unit(axis);
  const auto turn = [&](Vec3 &v) { v = rotatedAbout(about, angle, v); };
  turn(e.beam.direction);
  for (DialsPanel &p : e.panels)
    for (Vec3 *v : {&p.origin, &p.fast, &p.slow})
      turn(*v);
  if (e.goniometer)
    turn(e.goniometer->axis);
  return e;
}

/// Groups, numbers and attributes of a file that is being made.
class Builder {
public:
  Builder(const std::string &path, hid_t file) : path(path), file(file) {}

  void group(const std::string &name, const char *nxClass) {
    const Handle g = checked(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             path, "cannot make the group " + name);
    attribute(g, "NX_class", nxClass);
  }

  Handle text(const std::string &name, const std::string &value) {
    const Handle type = textType(value), space(H5Screate(H5S_SCALAR));
    Handle d = dataset(name, type, space);
    H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str());
    return d;
  }

  Handle numbers(const std::string &name, const std::vector<double> &values, const char *units) {
    const hsize_t size = values.size();
    const Handle space(H5Screate_simple(1, &size, nullptr));
    Handle d = dataset(name, H5T_NATIVE_DOUBLE, space);
    H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    if (units)
      attribute(d, "units", units);
    return d;
  }

  /// Rows of equal lengths.
  void rows(const std::string &name, const std::vector<std::vector<double>> &values) {
    const std::array<hsize_t, 2> size{values.size(), values.front().size()};
    std::vector<double> all;
    for (const std::vector<double> &row : values)
      all.insert(all.end(), row.begin(), row.end());
    const Handle space(H5Screate_simple(2, size.data(), nullptr));
    const Handle d = dataset(name, H5T_NATIVE_DOUBLE, space);
    H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
  }

  Handle number(const std::string &name, double value, const char *units) {
    const Handle space(H5Screate(H5S_SCALAR));
    Handle d = dataset(name, H5T_NATIVE_DOUBLE, space);
    H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    if (units)
      attribute(d, "units", units);
    return d;
  }

  void integers(const std::string &name, const std::vector<std::int64_t> &values, bool scalar) {
    const hsize_t size = values.size();
    const Handle space(scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr));
    const Handle d = dataset(name, H5T_NATIVE_INT64, space);
    H5Dwrite(d, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }

  void attribute(hid_t object, const char *name, const std::string &value) {
    const Handle type = textType(value), space(H5Screate(H5S_SCALAR));
    const Handle a(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Awrite(a, type, value.c_str());
  }

  void attribute(hid_t object, const char *name, const Vec3 &value) {
    const hsize_t size = 3;
    const Handle space(H5Screate_simple(1, &size, nullptr));
    const Handle a(H5Acreate2(object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Awrite(a, H5T_NATIVE_DOUBLE, value.data());
  }

  /// Makes a field an axis of a chain of transformations.
  void axis(hid_t field, const char *kind, const Vec3 &vector, const std::string &dependsOn) {
    attribute(field, "transformation_type", kind);
    attribute(field, "vector", vector);
    attribute(field, "depends_on", dependsOn);
  }

  Handle dataset(const std::string &name, hid_t type, hid_t space, hid_t creation = H5P_DEFAULT) {
    return checked(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                   path, "cannot make the field " + name);
  }

private:
  static Handle textType(const std::string &value) {
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, value.size() + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
  }

  const std::string &path;
  hid_t file;
};

class Writer : public NexusWriter {
public:
  Writer(const std::string &path, const DialsExperiment &experiment, const NexusOptions &options)
      : path(path), e(alongZ(experiment)), options(options),
        rows(options.frameSlow * e.panels.size()) {
    if (options.bitshuffle && !hasBitshuffle())
      throw FileError(path,
                      "cannot be written with bitshuffle: HDF5 finds no plugin for it (in wheels "
                      "for pip it takes none to write); install one (Debian: bitshuffle), set "
                      "HDF5_PLUGIN_PATH, or leave out --nexus-bitshuffle");
    options.resume ? reopen() : create();
  }

  void write(std::size_t frame, std::span<const std::byte> pixels) override {
    if (pixels.size() != rows * options.frameFast * 4)
      throw FileError(path, "is given an image of another size than its frames have");
    const hsize_t offset[3] = {frame, 0, 0};
    if (options.bitshuffle) {
      const std::lock_guard lock(mutex);
      const hsize_t count[3] = {1, rows, options.frameFast};
      const Handle memory(H5Screate_simple(3, count, nullptr)), there(H5Dget_space(data));
      H5Sselect_hyperslab(there, H5S_SELECT_SET, offset, nullptr, count, nullptr);
      require(H5Dwrite(data, options.floats ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT32, memory, there,
                       H5P_DEFAULT, pixels.data()));
      require(H5Fflush(file, H5F_SCOPE_GLOBAL));
      return;
    }
    const std::vector<std::byte> bytes = deflated(pixels);
    const std::lock_guard lock(mutex);
    require(H5Dwrite_chunk(data, H5P_DEFAULT, 0, offset, bytes.size(), bytes.data()));
    require(H5Fflush(file, H5F_SCOPE_GLOBAL));
  }

  bool isDone(std::size_t frame) const override {
    const std::lock_guard lock(mutex);
    const hsize_t offset[3] = {frame, 0, 0};
    hsize_t size = 0;
    return H5Dget_chunk_storage_size(data, offset, &size) >= 0 && size > 0;
  }

  void finish() override {
    const std::lock_guard lock(mutex);
    data.close();
    require(H5Fflush(file, H5F_SCOPE_GLOBAL));
    file.close();
  }

private:
  void require(herr_t status) const {
    if (status < 0)
      throw FileError(path, "cannot be written; is there room on the disk?");
  }

  /// As HDF5's filters shuffle and deflate do, on this thread.
  static std::vector<std::byte> deflated(std::span<const std::byte> pixels) {
    const std::size_t count = pixels.size() / 4;
    std::vector<std::byte> shuffled(pixels.size());
    for (std::size_t b = 0; b < 4; ++b)
      for (std::size_t i = 0; i < count; ++i)
        shuffled[b * count + i] = pixels[4 * i + b];
    const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
        libdeflate_alloc_compressor(1), libdeflate_free_compressor);
    if (!compressor)
      throw std::bad_alloc();
    std::vector<std::byte> bytes(libdeflate_zlib_compress_bound(compressor.get(), shuffled.size()));
    bytes.resize(libdeflate_zlib_compress(compressor.get(), shuffled.data(), shuffled.size(),
                                          bytes.data(), bytes.size()));
    return bytes;
  }

  void create() {
    const Handle access = unlockedAccess();
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
    const std::string &at = options.bytes.empty() ? path : options.bytes;
    file = checked(H5Fcreate(at.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), path,
                   "cannot be made; does its folder exist and may it be written to?");
    Builder b(path, file);
    b.attribute(file, "default", "entry");
    b.group("/entry", "NXentry");
    const Handle entry(H5Gopen2(file, "/entry", H5P_DEFAULT));
    b.attribute(entry, "default", "data");
    b.text("/entry/definition", "NXmx");
    b.text("/entry/start_time", "1970-01-01T00:00:00Z");
    b.text("/entry/end_time_estimated", "1970-01-01T00:00:00Z");
    b.group("/entry/source", "NXsource");
    b.text("/entry/source/name", "nanobragg-mlir");
    b.text("/entry/source/type", "Synchrotron X-ray Source");
    b.text("/entry/source/probe", "x-ray");
    b.group("/entry/instrument", "NXinstrument");
    b.text("/entry/instrument/name", "nanobragg-mlir");
    addBeam(b);
    addSample(b);
    addDetector(b);
    addData(b);
    require(H5Fflush(file, H5F_SCOPE_GLOBAL));
  }

  void addBeam(Builder &b) {
    const std::string beam = "/entry/instrument/beam/";
    b.group("/entry/instrument/beam", "NXbeam");
    const Handle wavelength = b.number(beam + "incident_wavelength", e.beam.wavelength, "angstrom");
    if (e.beam.flux > 0)
      b.number(beam + "total_flux", e.beam.flux, "Hz");
    if (e.beam.spectrum.size() < 2)
      return;
    std::vector<double> wavelengths, weights;
    for (const auto &[value, weight] : e.beam.spectrum) {
      wavelengths.push_back(value);
      weights.push_back(weight);
    }
    b.attribute(wavelength, "variant", "incident_wavelength_1Dspectrum");
    b.numbers(beam + "incident_wavelength_1Dspectrum", wavelengths, "angstrom");
    const std::string name = beam + "incident_wavelength_1Dspectrum_weights";
    if (e.beam.weightsOfShots.empty())
      b.numbers(name, weights, nullptr);
    else
      b.rows(name, e.beam.weightsOfShots);
  }

  void addSample(Builder &b) {
    b.group("/entry/sample", "NXsample");
    b.text("/entry/sample/name", "simulated crystal");
    if (options.stills || !e.scan || !e.goniometer) {
      b.text("/entry/sample/depends_on", ".");
      return;
    }
    b.group("/entry/sample/transformations", "NXtransformations");
    const std::string omega = "/entry/sample/transformations/omega";
    b.text("/entry/sample/depends_on", omega);
    std::vector<double> starts, ends;
    for (std::size_t i = 0; i < options.frames; ++i) {
      starts.push_back(e.scan->start + double(i) * e.scan->width);
      ends.push_back(e.scan->start + double(i + 1) * e.scan->width);
    }
    const Handle axis = b.numbers(omega, starts, "deg");
    const Mat3 &s = e.goniometer->setting;
    const Vec3 &a = e.goniometer->axis;
    const Vec3 turned{s[0] * a[0] + s[1] * a[1] + s[2] * a[2],
                      s[3] * a[0] + s[4] * a[1] + s[5] * a[2],
                      s[6] * a[0] + s[7] * a[1] + s[8] * a[2]};
    b.axis(axis, "rotation", mcStas(turned), ".");
    b.numbers(omega + "_end", ends, "deg");
    b.number(omega + "_increment_set", e.scan->width, "deg");
  }

  void addDetector(Builder &b) {
    const std::string detector = "/entry/instrument/detector";
    b.group(detector, "NXdetector");
    b.text(detector + "/description", "simulated detector");
    const std::string material = e.panels.front().material;
    b.text(detector + "/sensor_material", material.empty() ? "Si" : material);
    b.number(detector + "/sensor_thickness", std::max(e.panels.front().thickness, thinnestSensor),
             "mm");
    b.number(detector + "/saturation_value", e.panels.front().trustedRange[1], nullptr);
    b.number(detector + "/underload_value", 0, nullptr);
    b.number(detector + "/count_time", e.scan && e.scan->exposure > 0 ? e.scan->exposure : 1, "s");
    b.number(detector + "/frame_time", e.scan && e.scan->exposure > 0 ? e.scan->exposure : 1, "s");
    b.number(detector + "/distance", std::fabs(e.panels.front().origin[2]), "mm");
    b.integers(detector + "/bit_depth_readout", {32}, true);
    b.group(detector + "/transformations", "NXtransformations");
    b.number(detector + "/x_pixel_size", e.panels.front().pixelSize[0], "mm");
    b.number(detector + "/y_pixel_size", e.panels.front().pixelSize[1], "mm");
    addBeamCenter(b, detector);
    for (std::size_t i = 0; i < e.panels.size(); ++i)
      addPanel(b, detector, i);
    b.text(detector + "/depends_on", detector + "/transformations/panel_0");
    addMask(b, detector);
  }

  /// Pixels of the image where the beam meets the panel that it meets, or the plane of the first.
  void addBeamCenter(Builder &b, const std::string &detector) {
    std::optional<std::array<double, 2>> center;
    const Vec3 beam = scaled(e.beam.direction, -1);
    for (std::size_t i = 0; i < e.panels.size(); ++i) {
      const DialsPanel &p = e.panels[i];
      const Vec3 normal = cross(p.fast, p.slow);
      const double along = dot(beam, normal), away = dot(p.origin, normal) / along;
      if (!(std::fabs(along) > 1e-6) || away <= 0)
        continue;
      const Vec3 at = difference(scaled(beam, away), p.origin);
      const double f = dot(at, p.fast) / p.pixelSize[0], s = dot(at, p.slow) / p.pixelSize[1];
      const bool meets = f >= 0 && s >= 0 && f <= double(p.pixels[0]) && s <= double(p.pixels[1]);
      if (meets || (i == 0 && !center))
        center = {f, s + double(i * options.frameSlow)};
      if (meets)
        break;
    }
    if (!center)
      return;
    b.number(detector + "/beam_center_x", (*center)[0], "pixel");
    b.number(detector + "/beam_center_y", (*center)[1], "pixel");
  }

  void addPanel(Builder &b, const std::string &detector, std::size_t i) {
    const DialsPanel &p = e.panels[i];
    const std::string place = detector + "/transformations/panel_" + std::to_string(i);
    const Handle origin = b.numbers(place, {0}, "mm");
    b.axis(origin, "translation", {0, 0, 1}, ".");
    b.attribute(origin, "offset", mcStas(p.origin));
    b.attribute(origin, "offset_units", "mm");
    char name[32];
    std::snprintf(name, sizeof name, "/module_%04zu", i); // readers go by the alphabet
    const std::string module = detector + name;
    b.group(module, "NXdetector_module");
    b.integers(module + "/data_origin", {std::int64_t(i * options.frameSlow), 0}, false);
    b.integers(module + "/data_size", {p.pixels[1], p.pixels[0]}, false);
    const Handle fast = b.number(module + "/fast_pixel_direction", p.pixelSize[0], "mm");
    b.axis(fast, "translation", mcStas(p.fast), place);
    const Handle slow = b.number(module + "/slow_pixel_direction", p.pixelSize[1], "mm");
    b.axis(slow, "translation", mcStas(p.slow), place);
  }

  void addMask(Builder &b, const std::string &detector) {
    const hsize_t size[2] = {rows, options.frameFast};
    std::vector<std::int32_t> mask(rows * options.frameFast, 1);
    for (std::size_t panel = 0; panel < e.panels.size(); ++panel)
      for (std::size_t s = 0; s < std::size_t(e.panels[panel].pixels[1]); ++s)
        for (std::size_t f = 0; f < std::size_t(e.panels[panel].pixels[0]); ++f) {
          const std::size_t at = (panel * options.frameSlow + s) * options.frameFast + f;
          mask[at] = options.mask.empty() || options.mask[at] ? 0 : 1;
        }
    const Handle space(H5Screate_simple(2, size, nullptr)), creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation, 2, size);
    H5Pset_deflate(creation, 1);
    const Handle d = b.dataset(detector + "/pixel_mask", H5T_NATIVE_INT32, space, creation);
    H5Dwrite(d, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, mask.data());
  }

  void addData(Builder &b) {
    b.group("/entry/data", "NXdata");
    const Handle group(H5Gopen2(file, "/entry/data", H5P_DEFAULT));
    b.attribute(group, "signal", "data");
    const hsize_t size[3] = {options.frames, rows, options.frameFast};
    const hsize_t chunk[3] = {1, rows, options.frameFast};
    const Handle space(H5Screate_simple(3, size, nullptr)), creation(H5Pcreate(H5P_DATASET_CREATE));
    const hid_t type = options.floats ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT32;
    if (!options.parts.empty()) {
      showParts(creation, space);
      data = b.dataset("/entry/data/data", type, space, creation);
      return;
    }
    H5Pset_chunk(creation, 3, chunk);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    if (options.bitshuffle) {
      const unsigned values[] = {0, 2}; // block size by itself, LZ4
      H5Pset_filter(creation, bitshuffleFilter, H5Z_FLAG_MANDATORY, 2, values);
    } else {
      H5Pset_shuffle(creation);
      H5Pset_deflate(creation, 1);
    }
    data = b.dataset("/entry/data/data", type, space, creation);
  }

  /// Frames stand at their places in each part, so that what is chosen there is what is chosen
  /// here.
  void showParts(hid_t creation, hid_t space) const {
    const std::int32_t none = -1;
    const float nan = std::nanf("");
    require(options.floats ? H5Pset_fill_value(creation, H5T_NATIVE_FLOAT, &nan)
                           : H5Pset_fill_value(creation, H5T_NATIVE_INT32, &none));
    for (const NexusPart &part : options.parts) {
      if (part.frames.empty())
        continue;
      const Handle chosen(H5Scopy(space));
      H5Sselect_none(chosen);
      const std::vector<std::size_t> &frames = part.frames;
      for (std::size_t i = 0, end = 0; i < frames.size(); i = end) {
        // As many as follow at the same distance, which is what shards have.
        const std::size_t step = i + 1 < frames.size() ? frames[i + 1] - frames[i] : 1;
        for (end = i + 1; end < frames.size() && frames[end] - frames[end - 1] == step;)
          ++end;
        const hsize_t start[3] = {frames[i], 0, 0}, stride[3] = {step, 1, 1},
                      count[3] = {end - i, 1, 1}, block[3] = {1, rows, options.frameFast};
        require(H5Sselect_hyperslab(chosen, H5S_SELECT_OR, start, stride, count, block));
      }
      require(H5Pset_virtual(creation, chosen, part.file.c_str(), "/entry/data/data", chosen));
    }
  }

  void reopen() {
    file = checked(H5Fopen(path.c_str(), H5F_ACC_RDWR, unlockedAccess()), path, noFileToGoOnWith);
    data = dataToGoOnWith(file, path, options, rows);
  }

  std::string path;
  DialsExperiment e;
  NexusOptions options;
  std::size_t rows;
  Handle file, data; ///< closed in the other order
  mutable std::mutex mutex;
};

} // namespace

bool hasBitshuffle() {
#ifdef NB_STATIC_HDF5
  return false; // to write, the plugin asks the HDF5 that it was linked with, which is the system's
#else
  return H5Zfilter_avail(bitshuffleFilter) > 0;
#endif
}

std::unique_ptr<NexusWriter> makeNexusWriter(const std::string &path,
                                             const DialsExperiment &experiment,
                                             const NexusOptions &options) {
  return std::make_unique<Writer>(path, experiment, options);
}

} // namespace nanobragg::io
