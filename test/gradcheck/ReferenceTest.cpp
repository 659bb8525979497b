// The checks of the PyTorch port, to one part in a million: a cubic crystal of 5x5x5 cells of 100 A
// with default_F 100 on 1024 x 1024 pixels, loss = sum, one cell parameter at a time moved to the
// values that the port tries.

#include "runtime/processor/Stopwatch.h"
#include "test/gradcheck/Support.h"

#include <array>
#include <cmath>
#include <numbers>
#include <sys/resource.h>

namespace nanobragg {
namespace {

using Cell = std::array<double, 6>; // A and degrees
constexpr const char *names[] = {"cell_a",     "cell_b",    "cell_c",
                                 "cell_alpha", "cell_beta", "cell_gamma"};
constexpr Cell cubic = {100, 100, 100, 90, 90, 90};

Experiment experimentWith(const char *detector) {
  return experimentFrom(std::string("-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 6.2 "
                                    "-distance 100 -oversample 1 ") +
                        detector);
}

struct Bench {
  Simulator analytic, reference;

  Bench(const char *detector, Engine engine, Engine referenceEngine)
      : analytic(experimentWith(detector), on(engine)),
        reference(experimentWith(detector), on(referenceEngine)) {}

  /// Same field of view, sixteen times fewer pixels.
  static Bench small(Engine engine, Engine referenceEngine = Engine::Interpreter) {
    return {"-pixel 0.4 -detpixels 256", engine, referenceEngine};
  }
  static Bench large(Engine referenceEngine) {
    return {"-pixel 0.1 -detpixels 1024", Engine::Fused, referenceEngine};
  }

  void moveTo(const Cell &cell) {
    for (Simulator *simulator : {&analytic, &reference})
      for (int i = 0; i != 6; ++i)
        simulator->set(names[i], cell[std::size_t(i)] * (i < 3 ? 1e-10 : std::numbers::pi / 180));
  }

  void expectGradient(const Cell &cell, const std::string &parameters, int order = 1) {
    moveTo(cell);
    CheckOptions options;
    options.order = order;
    // Known from the size of the crystal; choosing it would take two images more.
    options.step = order == 1 ? 4e-6 : 2e-4;
    const CheckResult result = check(analytic, reference, parameters, options);
    std::string where;
    for (double number : cell)
      where += std::to_string(number) + " ";
    SCOPED_TRACE(where);
    expectPassed(result);
    for (const CheckedDerivative &d : result.derivatives) {
      worst = std::max(worst, d.verdict == Verdict::Dead ? 0 : d.relativeError);
      ++checked;
      EXPECT_NE(d.verdict, Verdict::Dead) << d.name;
    }
  }

  double worst = 0;
  int checked = 0;
};

/// Each parameter alone at the values of the port.
void eachValue(Bench &bench) {
  const std::vector<double> values[6] = {
      {100, 50, 150, 200},        {100, 10, 500},
      {100, 25, 165.2, 300},      {89, 60, 75, 89.5, 90.5, 91, 105, 120},
      {89, 30, 60, 91, 120, 150}, {89, 60, 75, 91, 105, 120}};
  for (std::size_t i = 0; i != 6; ++i)
    for (double value : values[i]) {
      Cell cell = cubic;
      cell[i] = value;
      bench.expectGradient(cell, names[i]);
    }
  bench.expectGradient({100, 100, 100, 89, 89, 89}, "cell");
  bench.expectGradient({281, 281, 165.2, 89, 89, 120}, "cell");
}

class Reference : public testing::Test {
protected:
  void TearDown() override {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%.1f s, %ld MB at most so far\n", sinceStart.seconds(), usage.ru_maxrss / 1024);
  }
  static void tell(const Bench &bench) {
    std::printf("%d derivatives, largest relative difference %.1e\n", bench.checked, bench.worst);
  }

private:
  Stopwatch sinceStart;
};

// The kernel's image is the interpreter's (nb-engines-test), and its differences cost a twentieth.
// So the whole detector is left to it, but for one cell; differences of the interpreter are taken
// of every cell with fewer pixels, for both engines.

TEST_F(Reference, EachValueOnTheWholeDetector) {
  Bench bench = Bench::large(Engine::Fused);
  eachValue(bench);
  tell(bench);
}

TEST_F(Reference, JointCheckAgainstTheInterpreterOnTheWholeDetector) {
  Bench bench = Bench::large(Engine::Interpreter);
  bench.expectGradient({100, 100, 100, 89, 89, 89}, "cell");
  tell(bench);
}

TEST_F(Reference, EachValueAgainstTheInterpreter) {
  for (Engine engine : {Engine::Fused, Engine::Interpreter}) {
    Bench bench = Bench::small(engine);
    eachValue(bench);
    tell(bench);
  }
}

TEST_F(Reference, SecondOrder) {
  Bench bench = Bench::large(Engine::Fused);
  bench.expectGradient({100, 100, 100, 89, 89, 89}, "cell", 2);
  tell(bench);
}

TEST_F(Reference, RandomTriclinicCells) {
  Bench bench = Bench::small(Engine::Fused, Engine::Fused);
  const std::vector<double> draws = randomNumbers(25 * 6, 2024);
  for (std::size_t i = 0; i != 25; ++i) {
    Cell cell;
    for (std::size_t k = 0; k != 6; ++k)
      cell[k] = k < 3 ? 110 + 70 * draws[6 * i + k] : 90 + 25 * draws[6 * i + k];
    bench.expectGradient(cell, "cell");
  }
  tell(bench);
}

/// From the flags to the loss nothing is cut: every number that the image depends on has a finite
/// derivative that is not zero.
TEST_F(Reference, GradientsFlow) {
  Simulator simulator(experimentFrom(std::string(everything) + " -detpixels 256 -pixel 0.2"),
                      on(Engine::Fused));
  const LossGradient result = simulator.gradient("all", Loss::sum());
  EXPECT_GT(result.loss, 0);
  for (const Gradient &g : result.gradient)
    for (std::size_t i = 0; i != g.values.size(); ++i) {
      EXPECT_TRUE(std::isfinite(g.values[i])) << g.parameter << " " << i;
      if (g.values.size() == 1)
        EXPECT_NE(g.values[i], 0) << g.parameter;
    }
}

/// The port's loss is zero without structure factors, and so is its gradient: that is said here.
TEST_F(Reference, ALossThatIsZeroChecksNothing) {
  Bench bench = Bench::small(Engine::Fused);
  for (Simulator *simulator : {&bench.analytic, &bench.reference})
    simulator->set("default_F", 0);
  const CheckResult result = check(bench.analytic, bench.reference, "cell", {});
  EXPECT_EQ(result.loss, 0);
  EXPECT_FALSE(result.passed());
  for (const CheckedDerivative &d : result.derivatives) {
    EXPECT_EQ(d.verdict, Verdict::Dead) << d.name;
    EXPECT_NE(d.why.find("all structure factors are zero"), std::string::npos) << d.why;
  }
}

TEST_F(Reference, MemoryStaysSmall) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer's own memory would count";
#endif
#endif
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss / 1024, 256) << "MB, of all tests of this program so far";
}

} // namespace
} // namespace nanobragg
