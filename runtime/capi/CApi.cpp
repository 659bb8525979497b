// Nanobragg.h over the C++ runtime.

#include "runtime/capi/FlagValues.h"
#include "lib/CommandLine/ExperimentOf.h"
#include "runtime/capi/ParameterValues.h"
#include "lib/CommandLine/UsageError.h"
#include "runtime/gpu/DevicePlacement.h"
#include "runtime/kernels/KernelFit.h"
#include "runtime/kernels/KernelProvider.h"
#include "nanobragg/nanobragg.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

using namespace nanobragg;

struct nb_simulator {
  explicit nb_simulator(KernelHandle handle, std::shared_ptr<cuda::Device> device = nullptr)
      : kernel(std::move(handle)), values(*kernel), outputs(*kernel),
        executor(kernel, std::move(device)) {}

  const KernelHandle kernel;
  mutable std::mutex mutex;
  ParameterValues values;
  OutputMemory outputs; ///< of the last run, but for the image that went to the caller
  bool complete = false;
  KernelExecutor executor;

  // nb_cancel does not wait for a run.
  std::mutex cancelMutex;
  std::shared_ptr<CancellationToken> cancel = std::make_shared<CancellationToken>();
};

namespace {

thread_local std::string lastError;

/// A kernel that cannot be used, as opposed to anything else that failed.
struct BadKernel : std::runtime_error {
  using std::runtime_error::runtime_error;
};

nb_status failed(nb_status status, const char *why) {
  lastError = why;
  return status;
}

/// Runs `work`; exceptions do not leave the library.
template <typename Work>
nb_status guarded(Work work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return failed(NB_FAILED, "out of memory");
  } catch (const BadKernel &error) {
    return failed(NB_BAD_KERNEL, error.what());
  } catch (const UsageError &error) {
    return failed(NB_BAD_ARGUMENT, error.what());
  } catch (const std::invalid_argument &error) {
    return failed(NB_BAD_ARGUMENT, error.what());
  } catch (const std::exception &error) {
    return failed(NB_FAILED, error.what());
  }
}

template <typename Work>
nb_status locked(const nb_simulator *simulator, Work work) noexcept {
  return guarded([&] {
    if (!simulator)
      throw std::invalid_argument("the simulator is NULL");
    std::lock_guard lock(simulator->mutex);
    work();
    return NB_OK;
  });
}

const char *given(const char *text, const char *what) {
  if (!text)
    throw std::invalid_argument(std::string(what) + " is NULL");
  return text;
}

void *given(void *memory, const char *what) {
  given(static_cast<const char *>(memory), what);
  return memory;
}

template <typename Work>
auto asBadKernel(Work work) {
  try {
    return work();
  } catch (const std::runtime_error &error) {
    throw BadKernel(error.what());
  }
}

std::vector<std::string> words(int count, const char *const *flags) {
  if (count < 0 || (count && !flags))
    throw std::invalid_argument("the flags are NULL");
  std::vector<std::string> all;
  for (int i = 0; i != count; ++i)
    all.emplace_back(given(flags[i], "a flag"));
  return all;
}

std::unique_ptr<nb_simulator> simulatorFor(const Structure &structure, DeviceChoice choice) {
  KernelRequest request;
  request.structure = structure.toString();
  request.choice = choice;
  findDevice(request);
  const auto make = [&] {
    return std::make_unique<nb_simulator>(KernelProvider::ofProcess().get(request), request.gpu);
  };
  if (!request.gpu || choice.kind == DeviceChoice::Kind::Cuda)
    return make();
  try {
    return make();
  } catch (const std::runtime_error &) {
    request = onProcessor(request);
    return make();
  }
}

nb_status setNumbers(nb_simulator *s, const char *name, nb_parameter_kind kind,
                     const double *numbers, std::int64_t count) {
  return locked(s, [&] { s->values.setNumbers(given(name, "the name"), kind, numbers, count); });
}

} // namespace

const char *nb_last_error(void) { return lastError.c_str(); }

nb_status nb_simulator_load(const char *file, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    given(file, "the file's name");
    *simulator = new nb_simulator(asBadKernel([&] { return openKernelFile(file); }));
    return NB_OK;
  });
}

nb_status nb_simulator_link(const nb_kernel_descriptor *kernel, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    if (!kernel)
      throw std::invalid_argument("the kernel is NULL");
    const nb_kernel_descriptor *version = asBadKernel([&] { return &selectVersion(*kernel); });
    *simulator = new nb_simulator(KernelHandle(KernelHandle(), version));
    return NB_OK;
  });
}

nb_status nb_simulator_compile(const char *structure, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    const auto parsed = Structure::fromString(given(structure, "the structure"));
    *simulator = simulatorFor(parsed, {DeviceChoice::Kind::Cpu}).release();
    return NB_OK;
  });
}

nb_status nb_simulator_compile_for(const char *structure, const char *device,
                                   nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    const auto parsed = Structure::fromString(given(structure, "the structure"));
    const auto choice = DeviceChoice::fromString(given(device, "the device"));
    if (!choice)
      throw std::invalid_argument("'" + std::string(device) +
                                  "' is no device; say auto, cpu, gpu-on-cpu, cuda or cuda:N");
    *simulator = simulatorFor(parsed, *choice).release();
    return NB_OK;
  });
}

nb_status nb_simulator_from_flags(int count, const char *const *flags, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    const std::vector<std::string> all = words(count, flags);
    const Experiment experiment = experimentOf(all);
    auto created = simulatorFor(experiment.structure, deviceOf(all));
    setAll(created->values, *created->kernel, experiment);
    *simulator = created.release();
    return NB_OK;
  });
}

void nb_simulator_free(nb_simulator *simulator) { delete simulator; }

const nb_kernel_descriptor *nb_simulator_kernel(const nb_simulator *simulator) {
  return simulator ? simulator->kernel.get() : nullptr;
}

nb_status nb_set_f64(nb_simulator *s, const char *name, double value) {
  return setNumbers(s, name, NB_PARAMETER_F64, &value, 1);
}

nb_status nb_set_index(nb_simulator *s, const char *name, int64_t value) {
  return locked(s, [&] {
    ParameterValue &place = s->values.of(given(name, "the name"), NB_PARAMETER_INDEX);
    place.index = value;
    place.set = true;
  });
}

nb_status nb_set_vec3(nb_simulator *s, const char *name, const double value[3]) {
  return setNumbers(s, name, NB_PARAMETER_VEC3, value, 3);
}

nb_status nb_set_mat3(nb_simulator *s, const char *name, const double row_major[9]) {
  return setNumbers(s, name, NB_PARAMETER_MAT3, row_major, 9);
}

nb_status nb_set_table_f64(nb_simulator *s, const char *name, const double *values, int64_t count) {
  return setNumbers(s, name, NB_PARAMETER_TABLE_F64, values, count);
}

nb_status nb_set_table_vec3(nb_simulator *s, const char *name, const double *values,
                            int64_t count) {
  // Three times this is still refused, and does not overflow.
  constexpr int64_t most = int64_t(1) << 50;
  return setNumbers(s, name, NB_PARAMETER_TABLE_VEC3, values,
                    3 * std::clamp<int64_t>(count, -1, most));
}

nb_status nb_set_hkl_grid(nb_simulator *s, const char *name, const nb_hkl_grid *grid) {
  return locked(s, [&] {
    if (!grid)
      throw std::invalid_argument("the grid is NULL");
    s->values.setGrid(given(name, "the name"), *grid);
  });
}

nb_status nb_set_mask(nb_simulator *s, const char *name, const uint8_t *mask,
                      const int64_t shape[3]) {
  return locked(s, [&] {
    if (!shape)
      throw std::invalid_argument("the shape is NULL");
    s->values.setMask(given(name, "the name"), mask, shape);
  });
}

nb_status nb_set_image(nb_simulator *s, const char *name, const double *pixels,
                       const int64_t shape[3]) {
  return locked(s, [&] {
    if (!shape)
      throw std::invalid_argument("the shape is NULL");
    s->values.setImage(given(name, "the name"), pixels, shape);
  });
}

namespace {
/// The experiment's structure as a kernel of its derivatives says it: which derivatives is the
/// kernel's business, no flag chooses them.
std::string structureFor(const nb_kernel_descriptor &kernel, Structure structure) {
  std::string_view text = kernel.structure;
  const std::size_t derivative = text.find(" derivative=");
  if (derivative == text.npos)
    return structure.toString();
  structure.imageType = ImageType::F64;
  text.remove_prefix(derivative);
  return structure.toString() + std::string(text.substr(0, text.find(' ', 1)));
}
} // namespace

nb_status nb_set_flags(nb_simulator *s, int count, const char *const *flags) {
  return locked(s, [&] {
    const Experiment experiment = experimentOf(words(count, flags));
    try {
      checkFits(*s->kernel, structureFor(*s->kernel, experiment.structure), s->kernel->precision,
                "the simulator's kernel");
    } catch (const std::runtime_error &error) {
      throw std::invalid_argument(error.what());
    }
    setAll(s->values, *s->kernel, experiment);
  });
}

nb_status nb_get_f64(const nb_simulator *s, const char *name, double *value) {
  return locked(s, [&] {
    given(value, "the place for the value");
    const ParameterValue &found = s->values.of(given(name, "the name"), NB_PARAMETER_F64);
    if (found.numbers.empty())
      throw std::invalid_argument("parameter '" + std::string(name) + "' has not been set");
    *value = found.numbers[0];
  });
}

nb_status nb_get_index(const nb_simulator *s, const char *name, int64_t *value) {
  return locked(s, [&] {
    given(value, "the place for the value");
    *value = s->values.of(given(name, "the name"), NB_PARAMETER_INDEX).index;
  });
}

nb_status nb_get_numbers(const nb_simulator *s, const char *name, double *values, int64_t capacity,
                         int64_t *count) {
  return locked(s, [&] {
    const std::vector<double> &numbers = s->values.of(given(name, "the name")).numbers;
    if (numbers.empty())
      throw std::invalid_argument("parameter '" + std::string(name) +
                                  "' holds no numbers of type double, or none yet");
    const auto copied = std::min<std::int64_t>(capacity, std::int64_t(numbers.size()));
    if (copied > 0)
      std::copy_n(numbers.begin(), copied,
                  static_cast<double *>(given(values, "the place for the numbers")));
    if (count)
      *count = std::int64_t(numbers.size());
  });
}

nb_status nb_image_shape(const nb_simulator *s, int64_t shape[3]) {
  return locked(s, [&] {
    given(shape, "the place for the shape");
    const ImageShape image = s->values.shape();
    shape[0] = image.panels;
    shape[1] = image.slow;
    shape[2] = image.fast;
  });
}

nb_status nb_run(nb_simulator *s, const nb_run_options *options, void *image, size_t bytes) {
  bool cancelled = false;
  const nb_status status = locked(s, [&] {
    const bool renders = s->kernel->outputs[0].kind == NB_OUTPUT_IMAGE;
    if (renders)
      given(image, "the image");
    else if (image)
      throw std::invalid_argument("the kernel renders no image; pass NULL");
    const std::vector<const void *> arguments = s->values.arguments();
    const ImageShape shape = s->values.shape();
    const std::size_t needed =
        std::size_t(renders ? shape.pixels() : 0) *
        (s->kernel->image_type == NB_IMAGE_F32 ? sizeof(float) : sizeof(double));
    if (bytes != needed)
      throw std::invalid_argument("the image has " + std::to_string(bytes) + " bytes of the " +
                                  std::to_string(needed) + " that it needs");
    std::shared_ptr<CancellationToken> token;
    {
      std::lock_guard lock(s->cancelMutex);
      token = s->cancel;
    }
    RunOptions run;
    run.cancel = token.get();
    if (options) {
      run.threads = options->threads;
      if (options->progress)
        run.progress = [&](double fraction) { options->progress(options->context, fraction); };
    }
    s->complete = false;
    s->outputs.resize(outputSizes(*s->kernel, arguments.data(), shape), image);
    cancelled = s->executor
                    .run(arguments.data(), shape, s->values.rows(), s->outputs.addresses(), run)
                    .cancelled;
    s->complete = !cancelled;
    std::lock_guard lock(s->cancelMutex);
    if (cancelled)
      s->cancel = std::make_shared<CancellationToken>();
  });
  return status == NB_OK && cancelled ? failed(NB_CANCELLED, "the run was cancelled") : status;
}

nb_status nb_get_output(const nb_simulator *s, const char *name, double *values, int64_t capacity,
                        int64_t *count) {
  return locked(s, [&] {
    given(name, "the name");
    if (!s->complete)
      throw std::invalid_argument("there are no outputs before a run has completed");
    const auto copy = [&](auto numbers) {
      const auto copied = std::min<std::int64_t>(capacity, std::int64_t(numbers.size()));
      if (copied > 0)
        std::copy_n(numbers.begin(), copied,
                    static_cast<double *>(given(values, "the place for the numbers")));
      if (count)
        *count = std::int64_t(numbers.size());
    };
    if (s->outputs.isFloat(name))
      copy(s->outputs.floats(name));
    else
      copy(s->outputs.numbers(name));
  });
}

void nb_cancel(nb_simulator *s) {
  if (!s)
    return;
  std::lock_guard lock(s->cancelMutex);
  s->cancel->request();
}

void nb_get_counters(nb_counters *counters) {
  const KernelCounters count = KernelProvider::ofProcess().counters();
  *counters = {count.hits, count.loads, count.compiles};
}
