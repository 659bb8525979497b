// Which engine renders. The compiler here is a stand-in that counts what it is asked for.
#include "runtime/simulator/Renderer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

using namespace nanobragg;
using testing::Each;

struct nb_kernel {};

namespace {

struct Asked {
  int compiled = 0, interpreted = 0;
  bool failing = false;
} asked;

constexpr nb_kernel_output outputs[] = {{"image", NB_OUTPUT_IMAGE, "photons"}};

constexpr nb_kernel_descriptor kernel = {
    NB_KERNEL_ABI_VERSION,
    NB_IMAGE_F32,
    "image",
    "",
    "stand-in",
    "f64",
    0,
    nullptr,
    1,
    outputs,
    [](const void *const *) -> std::int64_t { return 0; },
    [](const void *const *, void *) {},
    [](const void *const *, const void *, const nb_tile *tile, void *const *outputs, void *,
       void *) {
      for (std::int64_t slow = tile->slow_begin; slow != tile->slow_end; ++slow)
        for (int fast = 0; fast != 3; ++fast)
          static_cast<float *>(outputs[0])[slow * 3 + fast] = 1;
    }};

int compile(const nb_compile_request *, nb_kernel **out, char **error) {
  ++asked.compiled;
  if (asked.failing) {
    *error = strdup("no compiler today");
    return 1;
  }
  *out = new nb_kernel;
  return 0;
}

int interpret(const nb_compile_request *, const void *const *, const nb_interpret_options *options,
              void *image, char **report, char **) {
  ++asked.interpreted;
  if (options->progress)
    options->progress(options->context, 1);
  if (image && !options->cancelled(options->context))
    for (int i = 0; i != 6; ++i)
      static_cast<float *>(image)[i] = 2;
  *report = strdup(options->trace ? "TRACE steps 1\n" : options->probe ? options->probe : "");
  return 0;
}

nb_compiler_api makeApi(bool withInterpreter) {
  nb_compiler_api api = {};
  api.version = NB_COMPILER_API_VERSION;
  api.compile = compile;
  api.descriptor = [](const nb_kernel *) { return &kernel; };
  api.release = [](nb_kernel *k) { delete k; };
  api.free_text = [](char *text) { std::free(text); };
  if (withInterpreter)
    api.interpret = interpret;
  return api;
}

class RendererTest : public testing::Test {
protected:
  RendererTest() {
    asked = {};
    for (const char *name : {"NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"})
      unsetenv(name);
    setenv("NB_CACHE_DIR", testing::TempDir().c_str(), 1);
    experiment.detector.slowPixels = 2;
    experiment.detector.fastPixels = 3;
    experiment.detector.roiFastMax = 2;
    experiment.detector.roiSlowMax = 1;
    experiment.beam.unitHdiv = experiment.beam.unitVdiv = experiment.beam.unitDispersion = {0};
  }
  ~RendererTest() override {
    for (const char *name : {"NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"})
      unsetenv(name);
  }

  std::vector<float> imageOf(Renderer &renderer, const RunOptions &options = {}) {
    std::vector<float> image(6);
    renderer.run(std::span<float>(image), options);
    return image;
  }

  nb_compiler_api api = makeApi(true);
  KernelProvider kernels{[this] { return std::make_shared<const CompilerLibrary>(api); }};
  Experiment experiment;
  KernelRequest request{.variant = ProgramVariant().toString()};
};

TEST_F(RendererTest, CompilesByDefault) {
  Renderer renderer(kernels, request, experiment);
  EXPECT_EQ(renderer.engine(), Engine::Fused);
  EXPECT_THAT(imageOf(renderer), Each(1));
  EXPECT_EQ(asked.interpreted, 0);
}

TEST_F(RendererTest, InterpretsWhenAsked) {
  request.engine = Engine::Interpreter;
  Renderer renderer(kernels, request, experiment);
  EXPECT_EQ(renderer.engine(), Engine::Interpreter);
  EXPECT_THAT(imageOf(renderer), Each(2));
  EXPECT_EQ(asked.compiled, 0);
}

TEST_F(RendererTest, BothVariablesAreRead) {
  for (const char *name : {"NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"})
    for (const auto &[value, engine] :
         {std::pair("1", Engine::Interpreter), std::pair("on", Engine::Interpreter),
          std::pair("0", Engine::Fused), std::pair("", Engine::Fused)}) {
      setenv(name, value, 1);
      EXPECT_EQ(Renderer(kernels, request, experiment).engine(), engine) << name << "=" << value;
      unsetenv(name);
    }
}

TEST_F(RendererTest, VariablesAreReadOncePerRenderer) {
  setenv("NANOBRAGG_DISABLE_COMPILE", "1", 1);
  Renderer interpreting(kernels, request, experiment);
  unsetenv("NANOBRAGG_DISABLE_COMPILE");
  Renderer fused(kernels, request, experiment);
  setenv("NANOBRAG_DISABLE_COMPILE", "1", 1);
  EXPECT_THAT(imageOf(interpreting), Each(2));
  EXPECT_THAT(imageOf(fused), Each(1));
}

TEST_F(RendererTest, FallsBackWhenCompilingFails) {
  asked.failing = true;
  Renderer renderer(kernels, request, experiment);
  EXPECT_EQ(renderer.engine(), Engine::Interpreter);
  EXPECT_EQ(renderer.fallbackReason(), "no compiler today");
  EXPECT_THAT(imageOf(renderer), Each(2));
}

TEST_F(RendererTest, FallsBackOnlyWhenAllowedAndPossible) {
  asked.failing = true;
  auto message = [&] {
    try {
      Renderer renderer(kernels, request, experiment, /*fallback=*/false);
    } catch (const std::runtime_error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(), "no compiler today");
  api.interpret = nullptr;
  EXPECT_THROW(Renderer(kernels, request, experiment), std::runtime_error);
}

TEST_F(RendererTest, InstrumentsWorkBesideTheKernel) {
  Renderer renderer(kernels, request, experiment);
  EXPECT_EQ(renderer.trace({0, 1, 2}), "TRACE steps 1\n");
  std::vector<float> image(6);
  std::string report;
  renderer.interpret(std::span<float>(image), {}, {.probe = "F_*"}, report);
  EXPECT_EQ(report, "F_*");
  EXPECT_THAT(imageOf(renderer), Each(1));
}

TEST_F(RendererTest, ExceptionsOfTheProgressCallbackArrive) {
  request.engine = Engine::Interpreter;
  Renderer renderer(kernels, request, experiment);
  RunOptions options;
  options.progress = [](double) { throw std::domain_error("enough"); };
  EXPECT_THROW(imageOf(renderer, options), std::domain_error);
}

TEST_F(RendererTest, RefusesMemoryOfAnotherSize) {
  request.engine = Engine::Interpreter;
  Renderer renderer(kernels, request, experiment);
  std::vector<float> tooSmall(5);
  EXPECT_THROW(renderer.run(std::span<float>(tooSmall)), std::invalid_argument);
  std::vector<double> ofAnotherType(6);
  EXPECT_THROW(renderer.run(std::span<double>(ofAnotherType)), std::invalid_argument);
}

} // namespace
