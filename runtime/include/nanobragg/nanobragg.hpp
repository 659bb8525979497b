// nanobragg-mlir from C++.
//
//   auto kernel = nanobragg::LoadedKernel::fromFlags({"-cell", "100", ..., "-detpixels", "512"});
//   kernel.set("wavelength", 1e-10);              SI units, as in nanobragg.h
//   std::vector<float> image = kernel.image();    image[panel][slow][fast]
//
// A thin layer over nanobragg.h, which describes the functions: objects that free themselves,
// standard containers, exceptions. It needs C++20; any compiler will do.
#ifndef NANOBRAGG_NANOBRAGG_HPP
#define NANOBRAGG_NANOBRAGG_HPP

#include "nanobragg/nanobragg.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nanobragg {

struct LoadedKernelOptions {
  int threads = 0; ///< 0: as many as the machine offers
  /// The finished fraction, see nb_run_options. It must not throw.
  std::function<void(double fraction)> progress{};
};

/// A kernel and the numbers that it will be run with. It can be moved but not copied.
class LoadedKernel {
public:
  /// The exception of all functions here: one sentence, and the C status.
  class Error : public std::runtime_error {
  public:
    Error(nb_status status, const std::string &what) : std::runtime_error(what), code(status) {}
    nb_status status() const { return code; }

  private:
    nb_status code;
  };

  using Options = LoadedKernelOptions;

  static LoadedKernel load(const std::string &file) {
    return make([&](nb_simulator **made) { return nb_simulator_load(file.c_str(), made); });
  }
  static LoadedKernel link(const nb_kernel_descriptor *kernel) {
    return make([&](nb_simulator **made) { return nb_simulator_link(kernel, made); });
  }
  static LoadedKernel compile(const std::string &variant) {
    return make([&](nb_simulator **made) { return nb_simulator_compile(variant.c_str(), made); });
  }
  /// For a device as nb-sim's --device, such as "cuda", see nb_simulator_compile_for.
  static LoadedKernel compileFor(const std::string &variant, const std::string &device) {
    return make([&](nb_simulator **made) {
      return nb_simulator_compile_for(variant.c_str(), device.c_str(), made);
    });
  }
  static LoadedKernel fromFlags(const std::vector<std::string> &flags) {
    const std::vector<const char *> words = pointersTo(flags);
    return make([&](nb_simulator **made) {
      return nb_simulator_from_flags(int(words.size()), words.data(), made);
    });
  }

  const nb_kernel_descriptor &kernel() const { return *nb_simulator_kernel(handle.get()); }

  /// A line for each warning, see nb_simulator_warnings.
  std::string warnings() const { return nb_simulator_warnings(handle.get()); }

  /// A parameter of one number, f64 or index.
  void set(const std::string &name, double value) {
    if (kindOf(name) != NB_PARAMETER_INDEX)
      return check(nb_set_f64(handle.get(), name.c_str(), value));
    if (value != std::nearbyint(value))
      throw Error(NB_BAD_ARGUMENT, name + " is a whole number");
    check(nb_set_index(handle.get(), name.c_str(), std::int64_t(value)));
  }
  void set(const std::string &name, const std::array<double, 3> &vector) {
    check(nb_set_vec3(handle.get(), name.c_str(), vector.data()));
  }
  void set(const std::string &name, const std::array<double, 9> &rowMajor) {
    check(nb_set_mat3(handle.get(), name.c_str(), rowMajor.data()));
  }
  /// The numbers of a table; three for each entry of a table of vectors.
  void setTable(const std::string &name, std::span<const double> values) {
    const auto count = std::int64_t(values.size());
    check(kindOf(name) == NB_PARAMETER_TABLE_VEC3
              ? nb_set_table_vec3(handle.get(), name.c_str(), values.data(), count / 3)
              : nb_set_table_f64(handle.get(), name.c_str(), values.data(), count));
  }
  void set(const std::string &name, const nb_hkl_grid &grid) {
    check(nb_set_hkl_grid(handle.get(), name.c_str(), &grid));
  }
  void setMask(const std::string &name, std::span<const std::uint8_t> mask,
               const std::array<std::int64_t, 3> &shape) {
    if (std::int64_t(mask.size()) != shape[0] * shape[1] * shape[2])
      throw Error(NB_BAD_ARGUMENT, "the mask is not as large as its shape says");
    check(nb_set_mask(handle.get(), name.c_str(), mask.data(), shape.data()));
  }
  void setFlags(const std::vector<std::string> &flags) {
    const std::vector<const char *> words = pointersTo(flags);
    check(nb_set_flags(handle.get(), int(words.size()), words.data()));
  }

  /// The value of an f64 or index parameter.
  double get(const std::string &name) const {
    if (kindOf(name) == NB_PARAMETER_INDEX) {
      std::int64_t value = 0;
      check(nb_get_index(handle.get(), name.c_str(), &value));
      return double(value);
    }
    double value = 0;
    check(nb_get_f64(handle.get(), name.c_str(), &value));
    return value;
  }
  /// All numbers of a vec3, mat3 or table.
  std::vector<double> numbers(const std::string &name) const {
    std::int64_t count = 0;
    check(nb_get_numbers(handle.get(), name.c_str(), nullptr, 0, &count));
    std::vector<double> values(std::size_t(count), 0.0);
    check(nb_get_numbers(handle.get(), name.c_str(), values.data(), count, &count));
    return values;
  }

  /// Panels, slow pixels, fast pixels.
  std::array<std::int64_t, 3> shape() const {
    std::array<std::int64_t, 3> shape{};
    check(nb_image_shape(handle.get(), shape.data()));
    return shape;
  }

  /// Renders into memory of the caller; Pixel is float or double as kernel().image_type says. False
  /// if cancel() ended the run; the image is then incomplete.
  template <typename Pixel>
  bool run(std::span<Pixel> image, const Options &options = {}) {
    constexpr auto type = sizeof(Pixel) == sizeof(float) ? NB_IMAGE_F32 : NB_IMAGE_F64;
    static_assert(std::is_same_v<Pixel, float> || std::is_same_v<Pixel, double>);
    if (kernel().image_type != type)
      throw Error(NB_BAD_ARGUMENT, "the kernel renders pixels of the other floating-point type");
    nb_run_options c{options.threads, nullptr, const_cast<Options *>(&options)};
    if (options.progress)
      c.progress = [](void *context, double fraction) {
        static_cast<const Options *>(context)->progress(fraction);
      };
    const nb_status status = nb_run(handle.get(), &c, image.data(), image.size_bytes());
    if (status == NB_CANCELLED)
      return false;
    check(status);
    return true;
  }

  /// A whole image of a kernel that renders floats, as nb-sim's do.
  std::vector<float> image(const Options &options = {}) {
    const auto [panels, slow, fast] = shape();
    std::vector<float> pixels(std::size_t(panels * slow * fast));
    if (!run(std::span(pixels), options))
      throw Error(NB_CANCELLED, "the run was cancelled");
    return pixels;
  }

  /// From any thread, see nb_cancel.
  void cancel() { nb_cancel(handle.get()); }

  /// For what this header lacks.
  nb_simulator *get() { return handle.get(); }

private:
  struct Free {
    void operator()(nb_simulator *simulator) const { nb_simulator_free(simulator); }
  };

  explicit LoadedKernel(nb_simulator *made) : handle(made) {}

  template <typename Make>
  static LoadedKernel make(Make make) {
    nb_simulator *made = nullptr;
    check(make(&made));
    return LoadedKernel(made);
  }

  static void check(nb_status status) {
    if (status != NB_OK)
      throw Error(status, nb_last_error());
  }

  static std::vector<const char *> pointersTo(const std::vector<std::string> &words) {
    std::vector<const char *> pointers;
    for (const std::string &word : words)
      pointers.push_back(word.c_str());
    return pointers;
  }

  /// F64 for a name that the kernel does not have: the library then reports it.
  nb_parameter_kind kindOf(std::string_view name) const {
    const nb_kernel_descriptor &k = kernel();
    for (std::uint32_t i = 0; i != k.num_parameters; ++i)
      if (k.parameters[i].name == name)
        return k.parameters[i].kind;
    return NB_PARAMETER_F64;
  }

  std::unique_ptr<nb_simulator, Free> handle;
};

} // namespace nanobragg
#endif
