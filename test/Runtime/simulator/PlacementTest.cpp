// Which engine renders. The compiler here is a stand-in that counts what it is asked for.
#include "nanobragg/Simulator.h"

#include "lib/Experiment/Experiment.h"
#include "lib/Program/Specialize.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/kernels/TunedSchedules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>

#include <unistd.h>

using namespace nanobragg;
using testing::Each;

struct nb_kernel {};
struct nb_program {
  std::string probe;
};

namespace {

struct Asked {
  int compiled = 0, interpreted = 0;
  bool failing = false;
  std::string variant, pipeline; ///< the last kernel's
  Precision precision = Precision::F64;
} asked;

constexpr nb_kernel_output outputs[] = {{"image", NB_OUTPUT_IMAGE, "photons"}};

constexpr nb_kernel_parameter parameters[] = {{"cell_alpha", NB_PARAMETER_F64, "rad"}};

constexpr nb_kernel_descriptor kernel = {
    NB_KERNEL_ABI_VERSION,
    sizeof(nb_kernel_descriptor),
    0,
    NB_IMAGE_F32,
    "image",
    "",
    "stand-in",
    "f64",
    1,
    parameters,
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

int compile(const nb_compile_request *request, nb_kernel **out, char **error) {
  ++asked.compiled;
  asked.variant = request->variant.toString();
  asked.pipeline = request->passes.pipeline;
  asked.precision = request->precision;
  if (asked.failing) {
    *error = strdup("no compiler today");
    return 1;
  }
  *out = new nb_kernel;
  return 0;
}

int prepare(const nb_compile_request *, const char *probe, nb_program **program, char **) {
  *program = new nb_program{probe ? probe : ""};
  return 0;
}

int interpret(const nb_program *program, const void *const *, const nb_interpret_options *options,
              void *const *outputs, char **report, char **) {
  ++asked.interpreted;
  if (options->progress)
    options->progress(options->context, 1);
  if (!options->trace && !options->cancelled(options->context))
    for (int i = 0; i != 6; ++i)
      static_cast<float *>(outputs[0])[i] = 2;
  *report = strdup(options->trace ? "TRACE steps 1\n" : program->probe.c_str());
  return 0;
}

nb_compiler_api makeApi(bool withInterpreter) {
  nb_compiler_api api = {};
  api.version = NB_COMPILER_API_VERSION;
  api.request_size = sizeof(CompileRequest);
  api.compile = compile;
  api.descriptor = [](const nb_kernel *) { return &kernel; };
  api.release = [](nb_kernel *k) { delete k; };
  api.free_text = [](char *text) { std::free(text); };
  if (withInterpreter) {
    api.prepare_program = prepare;
    api.program_descriptor = [](const nb_program *) { return &kernel; };
    api.run_program = interpret;
    api.release_program = [](nb_program *program) { delete program; };
  }
  return api;
}

class PlacementTest : public testing::Test {
protected:
  PlacementTest() {
    asked = {};
    for (const char *name : {"NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"})
      unsetenv(name);
    std::filesystem::create_directory(cache);
    std::filesystem::permissions(cache, std::filesystem::perms::owner_all);
    setenv("NB_CACHE_DIR", cache.c_str(), 1);
    experiment.detector.slowPixels = 2;
    experiment.detector.fastPixels = 3;
    experiment.detector.roiFastMax = 2;
    experiment.detector.roiSlowMax = 1;
    experiment.crystal.cellAlpha = experiment.crystal.cellBeta = experiment.crystal.cellGamma = 1.5;
    experiment.beam.unitHdiv = experiment.beam.unitVdiv = experiment.beam.unitDispersion = {0};
  }
  ~PlacementTest() override {
    for (const char *name : {"NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"})
      unsetenv(name);
    std::filesystem::remove_all(cache);
  }

  static std::vector<float> imageOf(Simulator &simulator, const RunOptions &run = {}) {
    std::vector<float> image(6);
    simulator.render(std::span(image), run);
    return image;
  }

  /// With its program made.
  Simulator prepared() {
    Simulator simulator(experiment, options);
    simulator.prepare(PixelType::F32);
    return simulator;
  }

  const std::filesystem::path cache =
      std::filesystem::path(testing::TempDir()) / ("nb-placement-" + std::to_string(getpid()));
  nb_compiler_api api = makeApi(true);
  KernelProvider kernels{[this] { return std::make_shared<const CompilerLibrary>(api); }};
  Experiment experiment;
  SimulatorOptions options{.device = "cpu", .kernels = &kernels};
};

TEST_F(PlacementTest, CompilesByDefault) {
  Simulator simulator = prepared();
  EXPECT_EQ(simulator.engine(), Engine::Fused);
  EXPECT_THAT(imageOf(simulator), Each(1));
  EXPECT_EQ(asked.interpreted, 0);
}

TEST_F(PlacementTest, InterpretsWhenAsked) {
  options.engine = Engine::Interpreter;
  Simulator simulator = prepared();
  EXPECT_EQ(simulator.engine(), Engine::Interpreter);
  EXPECT_THAT(imageOf(simulator), Each(2));
  EXPECT_EQ(asked.compiled, 0);
}

TEST_F(PlacementTest, BothVariablesAreRead) {
  for (const char *name : {"NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"})
    for (const auto &[value, engine] :
         {std::pair("1", Engine::Interpreter), std::pair("on", Engine::Interpreter),
          std::pair("0", Engine::Fused), std::pair("", Engine::Fused)}) {
      setenv(name, value, 1);
      EXPECT_EQ(prepared().engine(), engine) << name << "=" << value;
      unsetenv(name);
    }
}

TEST_F(PlacementTest, VariablesAreReadOncePerSimulator) {
  setenv("NANOBRAGG_DISABLE_COMPILE", "1", 1);
  Simulator interpreting(experiment, options);
  unsetenv("NANOBRAGG_DISABLE_COMPILE");
  Simulator fused(experiment, options);
  setenv("NANOBRAG_DISABLE_COMPILE", "1", 1);
  EXPECT_THAT(imageOf(interpreting), Each(2));
  EXPECT_THAT(imageOf(fused), Each(1));
}

TEST_F(PlacementTest, FallsBackWhenCompilingFails) {
  asked.failing = true;
  options.fallback = true;
  Simulator simulator = prepared();
  EXPECT_EQ(simulator.engine(), Engine::Interpreter);
  EXPECT_EQ(simulator.fallbackReason(), "no compiler today");
  EXPECT_THAT(imageOf(simulator), Each(2));
}

TEST_F(PlacementTest, FallsBackOnlyWhenAllowedAndPossible) {
  asked.failing = true;
  auto message = [&] {
    try {
      prepared();
    } catch (const std::runtime_error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(), "no compiler today");
  options.fallback = true;
  api.prepare_program = nullptr;
  EXPECT_THROW(prepared(), std::runtime_error);
}

TEST_F(PlacementTest, InstrumentsWorkBesideTheKernel) {
  Simulator simulator = prepared();
  EXPECT_EQ(simulator.trace({0, 1, 2}), "TRACE steps 1\n");
  std::vector<float> image(6);
  EXPECT_EQ(simulator.render(std::span(image), {}, {.probe = "F_*"}).report, "F_*");
  EXPECT_THAT(imageOf(simulator), Each(1));
}

TEST_F(PlacementTest, ExceptionsOfTheProgressCallbackArrive) {
  options.engine = Engine::Interpreter;
  Simulator simulator = prepared();
  RunOptions run;
  run.progress = [](double) { throw std::domain_error("enough"); };
  EXPECT_THROW(imageOf(simulator, run), std::domain_error);
}

TEST_F(PlacementTest, RefusesMemoryOfAnotherSize) {
  options.engine = Engine::Interpreter;
  Simulator simulator = prepared();
  std::vector<float> tooSmall(5);
  EXPECT_THROW(simulator.render(std::span(tooSmall)), std::invalid_argument);
}

TEST_F(PlacementTest, NumbersThatNoExperimentHasAreRefused) {
  Simulator simulator = prepared();
  EXPECT_THROW(simulator.set("cell_a", -7e-9), std::invalid_argument);
  EXPECT_THROW(simulator.set("fluence", std::numeric_limits<double>::quiet_NaN()),
               std::invalid_argument);
  EXPECT_THROW(simulator.set("cell_alpha", 4), std::invalid_argument);
  simulator.set("cell_alpha", 3.1); // possible, but not with the other two
  EXPECT_THROW(imageOf(simulator), std::invalid_argument);
  simulator.set("cell_alpha", 1.6);
  EXPECT_THAT(imageOf(simulator), Each(1));
}

TEST_F(PlacementTest, AKernelOfTheCallersIsTheOnlyOne) {
  options.kernel = {std::shared_ptr<void>(), &kernel};
  options.precision = Precision::F64;
  Simulator simulator = prepared();
  EXPECT_THAT(imageOf(simulator), Each(1));
  EXPECT_EQ(asked.compiled, 0);
  EXPECT_EQ(simulator.target(PixelType::F32), "stand-in");
  options.precision = Precision::Mixed;
  EXPECT_THROW(prepared(), std::runtime_error);
}

TEST_F(PlacementTest, TakesTheScheduleThatIsKept) {
  const auto schedules = TunedSchedules::fromEnvironment();
  ASSERT_TRUE(schedules) << "schedules are of a compiler";
  const auto pipelineWith = [&](auto change) {
    KernelProvider noneYet{[this] { return std::make_shared<const CompilerLibrary>(api); }};
    SimulatorOptions changed = options;
    changed.kernels = &noneYet;
    change(changed);
    Simulator(experiment, changed).prepare(PixelType::F32);
    return asked.pipeline;
  };
  const auto asTheyAre = [](SimulatorOptions &) {};
  EXPECT_EQ(pipelineWith(asTheyAre), "");
  const std::string variant = asked.variant;
  const std::string shape = shapeOf(experiment);
  TunedSchedule kept{
      .variant = variant, .precision = "f64", .pipeline = "builtin.module(kept)", .shape = shape};
  schedules->keep(kept);
  EXPECT_EQ(pipelineWith(asTheyAre), "builtin.module(kept)");
  EXPECT_EQ(pipelineWith([](auto &o) { o.keptSchedule = false; }), "");
  EXPECT_EQ(pipelineWith([](auto &o) { o.passes.pipeline = "builtin.module(own)"; }),
            "builtin.module(own)");
  EXPECT_EQ(pipelineWith([](auto &o) { o.precision = Precision::Mixed; }), "") << "kept for f64";
  const std::int64_t oversample = std::exchange(experiment.detector.oversample, 7);
  EXPECT_EQ(pipelineWith(asTheyAre), "") << "kept for another shape";
  kept.everyShape = true;
  schedules->keep(kept);
  EXPECT_EQ(pipelineWith(asTheyAre), "builtin.module(kept)");
  experiment.detector.oversample = oversample;
  schedules->forget(variant, "f64", shape);
  EXPECT_EQ(pipelineWith(asTheyAre), "");
}

TEST_F(PlacementTest, AScheduleIsForOnePrecision) {
  options.passes = {.pipeline = "builtin.module(scheduled)", .precision = Precision::Mixed};
  EXPECT_THROW(prepared(), std::invalid_argument);
  options.precision = Precision::Mixed;
  prepared();
  EXPECT_EQ(asked.pipeline, "builtin.module(scheduled)");
  EXPECT_EQ(asked.precision, Precision::Mixed);
  // A crystal that is too large for mixed is computed in f64, by the passes of that.
  experiment.crystal.ncells = {500, 500, 500};
  prepared();
  EXPECT_EQ(asked.precision, Precision::F64);
  EXPECT_EQ(asked.pipeline, "");
}

TEST_F(PlacementTest, AveragesInClosedFormAreNotInF32) {
  options.precision = Precision::F32;
  prepared();
  EXPECT_EQ(asked.precision, Precision::F32);
  experiment.variant.shape = CrystalShape::Gauss;
  experiment.variant.averaging = Averaging::Closed;
  prepared();
  EXPECT_EQ(asked.precision, Precision::Mixed);
}

TEST_F(PlacementTest, UnknownDevicesAreRefused) {
  EXPECT_THROW(options.device = "gpu", std::invalid_argument);
}

TEST_F(PlacementTest, FlagsDecideWhatOptionsLeaveOpen) {
  const std::vector<std::string> flags = {"-cell",      "40", "-default_F", "1",
                                          "-detpixels", "8",  "--no-fuse"};
  SimulatorOptions given;
  given.kernels = &kernels;
  EXPECT_EQ(Simulator::fromFlags(flags, given).engine(), Engine::Interpreter);
  given.engine = Engine::Fused;
  EXPECT_EQ(Simulator::fromFlags(flags, given).engine(), Engine::Fused);
}

} // namespace
