// nanobragg.h against kernels that are compiled here, and against kernels that are not what they
// should be.
#include "nanobragg/nanobragg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::HasSubstr;

using Simulator = std::unique_ptr<nb_simulator, decltype(&nb_simulator_free)>;

constexpr int pixels = 32;

std::vector<const char *> flags(std::vector<const char *> more = {}) {
  std::vector<const char *> all = {"-cell", "70",        "80", "90",         "90", "100",
                                   "90",    "-N",        "4",  "-default_F", "10", "-lambda",
                                   "1",     "-distance", "50", "-detpixels", "32", "-pixel",
                                   "1",     "-misset",   "10", "20",         "30"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Simulator fromFlags(const std::vector<const char *> &words) {
  nb_simulator *s = nullptr;
  EXPECT_EQ(nb_simulator_from_flags(int(words.size()), words.data(), &s), NB_OK) << nb_last_error();
  return {s, nb_simulator_free};
}

std::vector<float> render(nb_simulator *s, int threads = 1) {
  std::vector<float> image(pixels * pixels, -1);
  nb_run_options options = {threads, nullptr, nullptr};
  EXPECT_EQ(nb_run(s, &options, image.data(), image.size() * sizeof(float)), NB_OK)
      << nb_last_error();
  return image;
}

TEST(CApi, RendersTheSameForAnyNumberOfThreads) {
  const Simulator s = fromFlags(flags());
  std::int64_t shape[3] = {};
  ASSERT_EQ(nb_image_shape(s.get(), shape), NB_OK);
  EXPECT_THAT(shape, testing::ElementsAre(1, pixels, pixels));
  const auto image = render(s.get());
  EXPECT_GT(*std::max_element(image.begin(), image.end()), 0);
  EXPECT_EQ(render(s.get(), 4), image);
}

TEST(CApi, FlagsSayHowItIsRun) {
  const Simulator mixed = fromFlags(flags({"--precision=mixed"}));
  EXPECT_STREQ(nb_simulator_kernel(mixed.get())->precision, "mixed");
  nb_simulator *s = nullptr;
  const auto question = flags({"--grad=cell"});
  EXPECT_EQ(nb_simulator_from_flags(int(question.size()), question.data(), &s), NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("--grad is a question to nb-sim"));
}

TEST(CApi, WarningsAboutFlagsAndNumbers) {
  const Simulator s = fromFlags(flags());
  EXPECT_STREQ(nb_simulator_warnings(s.get()), "");
  EXPECT_EQ(nb_set_f64(s.get(), "distance", 15.0), NB_OK) << nb_last_error();
  EXPECT_THAT(nb_simulator_warnings(s.get()), HasSubstr("parameter 'distance': 15 m is unusual"));
  EXPECT_EQ(nb_set_f64(s.get(), "distance", 0.015), NB_OK);
  EXPECT_STREQ(nb_simulator_warnings(s.get()), "");
  const Simulator doubtful = fromFlags(flags({"-fluence", "1e12", "-mosaic_domains", "1"}));
  EXPECT_THAT(nb_simulator_warnings(doubtful.get()), HasSubstr("-fluence"));
  EXPECT_STREQ(nb_simulator_warnings(nullptr), "");
}

TEST(CApi, TablesOfReflections) {
  const auto words = flags({"-gauss_xtal", "-mosaic", "0.3", "--average=closed"});
  nb_reflections *made = nullptr;
  ASSERT_EQ(nb_reflections_from_flags(int(words.size()), words.data(), 1e-3, &made), NB_OK)
      << nb_last_error();
  const std::unique_ptr<nb_reflections, void (*)(nb_reflections *)> table(made,
                                                                          nb_reflections_free);
  const std::int64_t rows = nb_reflections_rows(made);
  ASSERT_GT(rows, 5);
  const double *fast = nullptr, *wavelength = nullptr;
  ASSERT_EQ(nb_reflections_column(made, "fast", &fast), NB_OK);
  ASSERT_EQ(nb_reflections_column(made, "wavelength", &wavelength), NB_OK);
  const std::int32_t *hkl = nb_reflections_miller_index(made);
  for (std::int64_t i = 0; i != rows; ++i) {
    EXPECT_EQ(nb_reflections_panel(made)[i], 0);
    EXPECT_GE(fast[i], 0);
    EXPECT_LT(fast[i], pixels);
    EXPECT_NEAR(wavelength[i], wavelength[0], 1e-9);
    EXPECT_TRUE(hkl[3 * i] != 0 || hkl[3 * i + 1] != 0 || hkl[3 * i + 2] != 0);
  }
  EXPECT_EQ(nb_reflections_column(made, "place", &fast), NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("has no column 'place'; it has photons, partiality"));
  const auto sampled = flags({"-gauss_xtal"});
  EXPECT_EQ(nb_reflections_from_flags(int(sampled.size()), sampled.data(), 1e-3, &made),
            NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("set its averaging to closed"));
  EXPECT_EQ(nb_reflections_rows(nullptr), 0);
  nb_reflections_free(nullptr);
}

TEST(CApi, TheInterpreterStandsInForAKernel) {
  const Simulator kernel = fromFlags(flags()), interpreter = fromFlags(flags({"--no-fuse"}));
  EXPECT_STREQ(nb_simulator_kernel(interpreter.get())->target, "interpreter");
  EXPECT_STREQ(nb_simulator_kernel(interpreter.get())->variant,
               nb_simulator_kernel(kernel.get())->variant);
  for (const double wavelength : {1e-10, 1.1e-10}) {
    EXPECT_EQ(nb_set_f64(kernel.get(), "wavelength", wavelength), NB_OK);
    EXPECT_EQ(nb_set_f64(interpreter.get(), "wavelength", wavelength), NB_OK);
    const auto image = render(kernel.get()), other = render(interpreter.get());
    for (std::size_t i = 0; i != image.size(); ++i)
      ASSERT_NEAR(other[i], image[i], 1e-6 * image[i]) << i;
  }
  const auto words = flags({"-distance", "60"});
  EXPECT_EQ(nb_set_flags(interpreter.get(), int(words.size()), words.data()), NB_OK)
      << nb_last_error();
}

TEST(CApi, ParametersComeBack) {
  const Simulator s = fromFlags(flags());
  double value = 0, vector[3] = {};
  std::int64_t index = 0, count = 0;
  EXPECT_EQ(nb_get_f64(s.get(), "cell_b", &value), NB_OK);
  EXPECT_DOUBLE_EQ(value, 80e-10);
  EXPECT_EQ(nb_get_index(s.get(), "fast_pixels", &index), NB_OK);
  EXPECT_EQ(index, pixels);
  EXPECT_EQ(nb_get_numbers(s.get(), "beam_direction", vector, 3, &count), NB_OK);
  EXPECT_EQ(count, 3);
  EXPECT_THAT(vector, testing::ElementsAre(1, 0, 0));
}

TEST(CApi, FlagsOfAnotherVariantAreRefusedSayingWhere) {
  const Simulator s = fromFlags(flags());
  const auto other = flags({"-round_xtal", "-nopolar"});
  EXPECT_EQ(nb_set_flags(s.get(), int(other.size()), other.data()), NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("it has shape=square and shape=round is needed"));
  EXPECT_THAT(nb_last_error(), HasSubstr("polarization=none"));
  const auto moved = flags({"-misset", "0", "0", "0"});
  EXPECT_EQ(nb_set_flags(s.get(), int(moved.size()), moved.data()), NB_OK) << nb_last_error();
  EXPECT_EQ(render(s.get()), render(fromFlags(moved).get()));
}

TEST(CApi, DevicesAreChosenByName) {
  const Simulator cpu = fromFlags(flags({"--device=cpu"}));
  const Simulator grid = fromFlags(flags({"--device=gpu-on-cpu"}));
  EXPECT_THAT(nb_simulator_kernel(grid.get())->target, HasSubstr("gpu-on-cpu"));
  const auto one = render(cpu.get()), other = render(grid.get());
  for (std::size_t i = 0; i != one.size(); ++i)
    ASSERT_NEAR(one[i], other[i], 1e-5 * one[i]);

  const char *variant = nb_simulator_kernel(cpu.get())->variant;
  nb_simulator *made = nullptr;
  ASSERT_EQ(nb_simulator_compile_for(variant, "gpu-on-cpu", &made), NB_OK) << nb_last_error();
  EXPECT_EQ(nb_simulator_kernel(made), nb_simulator_kernel(grid.get()));
  nb_simulator_free(made);
  EXPECT_EQ(nb_simulator_compile_for(variant, "tpu", &made), NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("'tpu' is not a device"));
  // No machine has as many.
  EXPECT_EQ(nb_simulator_compile_for(variant, "cuda:999", &made), NB_FAILED);
  EXPECT_THAT(nb_last_error(), HasSubstr("--device=cpu"));
}

TEST(CApi, SimulatorsOfOneVariantCompileOnce) {
  nb_counters before = {}, after = {};
  fromFlags(flags({"-tophat_spots"}));
  nb_get_counters(&before);
  for (int i = 0; i != 10; ++i)
    fromFlags(flags({"-tophat_spots", "-mosaic", "1", "-mosaic_dom", "3"}));
  nb_get_counters(&after);
  EXPECT_EQ(after.compiles, before.compiles);
  EXPECT_EQ(after.hits, before.hits + 10);
}

TEST(CApi, ConcurrentSimulatorsDoNotDisturbEachOther) {
  const auto expected = render(fromFlags(flags()).get());
  std::vector<std::vector<float>> images(4);
  std::vector<std::thread> threads;
  for (auto &image : images)
    threads.emplace_back([&image] {
      const Simulator s = fromFlags(flags());
      for (int i = 0; i != 20; ++i)
        image = render(s.get(), 2);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &image : images)
    EXPECT_EQ(image, expected);
}

struct Refusal {
  const char *what;
  nb_status (*act)(nb_simulator *);
  const char *sentence;
};

TEST(CApi, ImpossibleValuesAreRefused) {
  static const double numbers[] = {0, 0, 0, 0, 0, 0};
  const Refusal refusals[] = {
      {"name", [](nb_simulator *s) { return nb_set_f64(s, "cell_d", 1); }, "no parameter 'cell_d'"},
      {"kind", [](nb_simulator *s) { return nb_set_index(s, "cell_a", 1); },
       "'cell_a' is of kind f64, not index"},
      {"wavelength without its unit",
       [](nb_simulator *s) { return nb_set_f64(s, "wavelength", 0.98); },
       "0.98 m is beyond any experiment; values up to 2e-08 m are allowed; numbers are in SI "
       "units: "
       "9.8e-11 for 0.98 A"},
      {"angle without its unit", [](nb_simulator *s) { return nb_set_f64(s, "misset_x", 10); },
       "0.174533 for 10 degrees"},
      {"NaN", [](nb_simulator *s) { return nb_set_f64(s, "cell_a", std::nan("")); },
       "'cell_a' is not a number"},
      {"null name", [](nb_simulator *s) { return nb_set_f64(s, nullptr, 1); }, "name is NULL"},
      {"null simulator", [](nb_simulator *) { return nb_set_f64(nullptr, "cell_a", 1); },
       "simulator is NULL"},
      {"null vector", [](nb_simulator *s) { return nb_set_vec3(s, "spindle_axis", nullptr); },
       "'spindle_axis'"},
      {"negative table",
       [](nb_simulator *s) { return nb_set_table_vec3(s, "mosaic_axis", numbers, -2); },
       "'mosaic_axis'"},
  };
  const Simulator s = fromFlags(flags());
  for (const Refusal &refusal : refusals) {
    EXPECT_EQ(refusal.act(s.get()), NB_BAD_ARGUMENT) << refusal.what;
    EXPECT_THAT(nb_last_error(), HasSubstr(refusal.sentence)) << refusal.what;
  }
}

TEST(CApi, ValuesThatDoNotAgreeAreRefusedByTheRun) {
  static const double numbers[] = {0, 0, 0, 0, 0, 0};
  const Refusal refusals[] = {
      {"short table", [](nb_simulator *s) { return nb_set_index(s, "mosaic_domains", 2); },
       "has 1 entries where 'mosaic_domains' is 2"},
      {"long table",
       [](nb_simulator *s) { return nb_set_table_f64(s, "source_weight", numbers, 6); },
       "'source_weight' has 6 entries"},
      {"count", [](nb_simulator *s) { return nb_set_index(s, "oversample", 0); },
       "'oversample' is 0"},
      {"pixels", [](nb_simulator *s) { return nb_set_index(s, "fast_pixels", -1); },
       "'fast_pixels' is -1"},
      {"region", [](nb_simulator *s) { return nb_set_index(s, "roi_fast_max", pixels); },
       "'roi_fast_max' is outside the image"},
      {"begin of a region", [](nb_simulator *s) { return nb_set_index(s, "roi_slow_min", -1); },
       "'roi_slow_min' is outside the image"},
      {"size", [](nb_simulator *s) { return nb_set_index(s, "slow_pixels", pixels + 1); },
       "bytes of the"},
  };
  for (const Refusal &refusal : refusals) {
    const Simulator s = fromFlags(flags());
    std::vector<float> image(pixels * pixels, -1);
    ASSERT_EQ(refusal.act(s.get()), NB_OK) << refusal.what;
    EXPECT_EQ(nb_run(s.get(), nullptr, image.data(), image.size() * sizeof(float)), NB_BAD_ARGUMENT)
        << refusal.what;
    EXPECT_THAT(nb_last_error(), HasSubstr(refusal.sentence)) << refusal.what;
    EXPECT_EQ(image, std::vector<float>(pixels * pixels, -1)) << refusal.what;
  }
}

TEST(CApi, WhatHasNoNeutralValueMustBeSet) {
  const Simulator complete = fromFlags(flags());
  nb_simulator *raw = nullptr;
  ASSERT_EQ(nb_simulator_compile(nb_simulator_kernel(complete.get())->variant, &raw), NB_OK);
  const Simulator s(raw, nb_simulator_free);
  std::vector<float> image(pixels * pixels);
  nb_set_index(raw, "fast_pixels", pixels);
  nb_set_index(raw, "slow_pixels", pixels);
  EXPECT_EQ(nb_run(raw, nullptr, image.data(), image.size() * sizeof(float)), NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("has not been set"));
}

TEST(CApi, GradientOfAKernelFile) {
  const std::string file = testing::TempDir() + "gradient.so";
  std::string command = NB_COMPILE " --grad=cell,distance -o " + file;
  for (const char *word : flags())
    command += std::string(" ") + word;
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  nb_simulator *loaded = nullptr;
  ASSERT_EQ(nb_simulator_load(file.c_str(), &loaded), NB_OK) << nb_last_error();
  const Simulator s(loaded, nb_simulator_free);
  const std::vector<const char *> words = flags();
  ASSERT_EQ(nb_set_flags(s.get(), int(words.size()), words.data()), NB_OK) << nb_last_error();
  const std::vector<double> ones(pixels * pixels, 1.0);
  const std::int64_t shape[3] = {1, pixels, pixels};
  ASSERT_EQ(nb_set_image(s.get(), "image_cotangent", ones.data(), shape), NB_OK) << nb_last_error();

  std::vector<double> image(ones.size());
  auto total = [&] {
    EXPECT_EQ(nb_run(s.get(), nullptr, image.data(), image.size() * sizeof(double)), NB_OK)
        << nb_last_error();
    double sum = 0;
    for (double pixel : image)
      sum += pixel;
    return sum;
  };
  for (const char *name : {"cell_a", "cell_gamma", "distance"}) {
    total();
    double gradient = 0, value = 0;
    std::int64_t count = 0;
    EXPECT_EQ(
        nb_get_output(s.get(), (std::string("gradient.") + name).c_str(), &gradient, 1, &count),
        NB_OK)
        << nb_last_error();
    EXPECT_EQ(count, 1);
    ASSERT_EQ(nb_get_f64(s.get(), name, &value), NB_OK);
    // The same kernel's images: it changes nothing of what it is given.
    const double step = 1e-6 * value;
    nb_set_f64(s.get(), name, value + step);
    const double above = total();
    nb_set_f64(s.get(), name, value - step);
    const double below = total();
    nb_set_f64(s.get(), name, value);
    EXPECT_NEAR(gradient * 2 * step / (above - below), 1, 1e-5) << name;
  }
  std::int64_t count = 0;
  EXPECT_NE(nb_get_output(s.get(), "gradient.cell_z", nullptr, 0, &count), NB_OK);
  EXPECT_THAT(nb_last_error(), HasSubstr("gradient.cell_z"));
}

TEST(CApi, CancelStopsOneRun) {
  const Simulator s = fromFlags(flags());
  const auto expected = render(s.get());
  std::vector<float> image(pixels * pixels);
  nb_cancel(s.get());
  EXPECT_EQ(nb_run(s.get(), nullptr, image.data(), image.size() * sizeof(float)), NB_CANCELLED);
  EXPECT_EQ(render(s.get()), expected);
}

TEST(CApi, ProgressEndsAtOne) {
  const Simulator s = fromFlags(flags());
  std::vector<float> image(pixels * pixels);
  double last = 0;
  nb_run_options options = {
      2, [](void *context, double fraction) { *static_cast<double *>(context) = fraction; }, &last};
  EXPECT_EQ(nb_run(s.get(), &options, image.data(), image.size() * sizeof(float)), NB_OK);
  EXPECT_EQ(last, 1);
}

// Kernels that are linked in.

nb_kernel_descriptor emptyKernel(const char *features, const nb_kernel_descriptor *alternative) {
  static constexpr nb_kernel_output outputs[] = {{"image", NB_OUTPUT_IMAGE, "photons"}};
  nb_kernel_descriptor kernel = {};
  kernel.num_outputs = 1;
  kernel.outputs = outputs;
  kernel.abi_version = NB_KERNEL_ABI_VERSION;
  kernel.size = sizeof(kernel);
  kernel.name = "empty";
  kernel.variant = "";
  kernel.target = features;
  kernel.precision = "f64";
  kernel.workspace_size = [](const void *const *) -> std::int64_t { return 0; };
  kernel.prepare = [](const void *const *, void *) {};
  kernel.run_tile = [](const void *const *, const void *, const nb_tile *, void *const *, void *,
                       void *) {};
  kernel.features = features;
  kernel.alternative = alternative;
  return kernel;
}

TEST(LinkedKernel, TheFirstVersionThatTheProcessorCanRunIsTaken) {
  const auto least = emptyKernel("", nullptr);
  const auto middle = emptyKernel("no-such-instructions", &least);
  const auto best = emptyKernel("no-such-instructions neither-these", &middle);
  nb_simulator *s = nullptr;
  ASSERT_EQ(nb_simulator_link(&best, &s), NB_OK) << nb_last_error();
  EXPECT_EQ(nb_simulator_kernel(s), &least);
  nb_simulator_free(s);
}

TEST(LinkedKernel, AProcessorThatLacksSomethingIsToldWhat) {
  const auto kernel = emptyKernel("no-such-instructions", nullptr);
  nb_simulator *s = nullptr;
  EXPECT_EQ(nb_simulator_link(&kernel, &s), NB_BAD_KERNEL);
  EXPECT_THAT(nb_last_error(), HasSubstr("this processor lacks no-such-instructions"));
  EXPECT_EQ(s, nullptr);
}

TEST(LinkedKernel, AnotherAbiIsRefused) {
  auto kernel = emptyKernel("", nullptr);
  kernel.abi_version = NB_KERNEL_ABI_VERSION + 1;
  nb_simulator *s = nullptr;
  EXPECT_EQ(nb_simulator_link(&kernel, &s), NB_BAD_KERNEL);
  EXPECT_THAT(nb_last_error(), HasSubstr("version"));
}

} // namespace
