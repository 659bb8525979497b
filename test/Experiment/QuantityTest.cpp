#include "lib/Quantities/CallersWords.h"
#include "lib/Quantities/LikelyUnits.h"
#include "lib/Quantities/QuantityRows.h"

#include "lib/Program/ParameterGroups.h"
#include "lib/Program/Parameters.h"
#include "test/Experiment/Support.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

TEST(Quantities, NameParametersOfTheirUnit) {
  for (const Quantity *row : allQuantities()) {
    const std::string_view name = row->more.parameter;
    if (name.empty())
      continue;
    EXPECT_TRUE(findParameter(name) || findGroup(name)) << row->name() << " " << name;
    if (const Parameter *parameter = findParameter(name); parameter && row->name() != "-energy")
      EXPECT_STREQ(parameter->unit, row->unit->si) << row->name();
  }
}

TEST(Quantities, ANumberComesBackFromItsUnit) {
  for (const Quantity *row : allQuantities())
    for (const double si : {1e-10, 7e-9, 0.172e-3, 0.1, 1.0, 123.456}) {
      const double back = row->unit->inSI(row->unit->fromSI(si));
      EXPECT_LE(std::fabs(back - si), std::nextafter(si, HUGE_VAL) - si)
          << row->name() << " " << si;
    }
}

TEST(Quantities, AreSetAndReadBack) {
  Options options;
  findQuantity("-cell")->set(options, {40e-10, 0, 50e-10});
  const double right = units::radians(90);
  EXPECT_EQ(options.cell, (std::array<double, 6>{40e-10, 40e-10, 50e-10, right, right, right}));
  findQuantity("-N")->set(options, {4, 5, 6});
  EXPECT_EQ(options.nb, 5);
  findQuantity("-oversample")->set(options, {0});
  EXPECT_FALSE(options.oversample);
  findQuantity("-diffuse_gamma")->set(options, {50e-10});
  EXPECT_EQ(options.diffuseGamma, (Vec3{50e-10, 50e-10, 50e-10}));
  const auto refuses = [](std::string_view name, double value) {
    try {
      findQuantity(name)->check(std::array{value});
    } catch (const std::invalid_argument &) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refuses("-distance", -1));
  EXPECT_TRUE(refuses("-distance", NAN));
  EXPECT_TRUE(refuses("-phisteps", 1.5));
  EXPECT_FALSE(refuses("-distance", 0.1));
}

TEST(Quantities, RangesAreToldInTheCallersUnit) {
  const auto told = [](std::string_view name, double value, Caller caller) -> std::string {
    try {
      findQuantity(name)->check(std::array{value}, caller);
    } catch (const std::invalid_argument &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(told("-dispersion", 2.5, Caller::CommandLine),
            "250 percent is out of range; it must be at least 0 and less than 200");
  EXPECT_EQ(told("-dispersion", -1, Caller::Python),
            "-1 is out of range; it must be at least 0 and less than 2");
  EXPECT_EQ(told("-distance", -0.1, Caller::CommandLine),
            "-100 mm is out of range; it must be greater than 0");
  EXPECT_EQ(told("-distance", -0.1, Caller::Python),
            "-0.1 m is out of range; it must be greater than 0");
}

TEST(Quantities, AForgottenUnitIsToldInTheCallersWords) {
  const auto told = [](std::string_view name, std::vector<double> values, Caller caller) {
    std::string sentence;
    try {
      findQuantity(name)->check(values, caller);
    } catch (const std::invalid_argument &error) {
      sentence = error.what();
    }
    return sentence;
  };
  EXPECT_EQ(told("-lambda", {0.98}, Caller::Python),
            "0.98 m is beyond any experiment; values up to 2e-08 m are allowed; numbers are in SI "
            "units: 0.98 * nb.angstrom");
  EXPECT_EQ(told("-lambda", {0.98}, Caller::C),
            "0.98 m is beyond any experiment; values up to 2e-08 m are allowed; numbers are in SI "
            "units: 9.8e-11 for 0.98 A");
  EXPECT_EQ(told("-distance", {0.00028}, Caller::CommandLine),
            "0.28 mm is beyond any experiment; values from 1 to 50000 mm are allowed; 0.28 m would "
            "be -distance 280");
  EXPECT_EQ(told("-misset", {0, 0, 10}, Caller::Python),
            "10 rad is beyond any experiment; values up to 6.28319 rad are allowed; numbers are in "
            "SI units: 10 * nb.degree");
  EXPECT_EQ(told("-misset", {0, 0, 1000}, Caller::CommandLine), "");
  EXPECT_EQ(told("-distance", {1e-7}, Caller::Python), ""); // no unit explains it
}

TEST(Quantities, EveryAngleOfPythonNeedsItsUnit) {
  int angles = 0;
  for (const Quantity *row : allQuantities())
    if (row->unit->si == std::string_view("rad") && !row->more.parameter.empty()) {
      ++angles;
      EXPECT_TRUE(slipOfUnits(*row, 10, 0, Caller::Python)) << row->name();
    }
  EXPECT_GE(angles, 12);
}

TEST(Quantities, NumbersOfFlagsComeBackAsWritten) {
  for (const double written : {0.1, 63.4, 74.82, 1.2398, 0.07, 33.333, 1e-5, 99.99})
    for (const Quantity *row : allQuantities())
      EXPECT_EQ(row->unit->fromSI(row->unit->inSI(written)), written) << row->name();
}

TEST(Quantities, MessagesNameFieldsOfPython) {
  EXPECT_EQ(inWordsOf(Caller::Python, "-mosaic_domains: 5 domains; give -xds or --average=closed"),
            "Crystal.mosaic_domains: 5 domains; give Detector.convention='xds' or "
            "Crystal.average='closed'");
  EXPECT_EQ(inWordsOf(Caller::Python, "-N 3, -1.5 and x-y stay"),
            "Crystal.ncells 3, -1.5 and x-y stay");
  EXPECT_EQ(inWordsOf(Caller::CommandLine, "-N 3"), "-N 3");
}

TEST(Quantities, WhatIsNotReadIsToldApart) {
  Options options = cubic();
  const auto unread = [&](std::string_view name) {
    return std::ranges::count(completeRight(options).neverRead, findQuantity(name)->fields[0]) > 0;
  };
  EXPECT_TRUE(unread("-exposure"));
  options.flux = 1e12;
  EXPECT_FALSE(unread("-exposure"));
  EXPECT_TRUE(unread("-fluence"));
  EXPECT_TRUE(unread("-fudge"));
  options.shape = CrystalShape::Round;
  EXPECT_FALSE(unread("-fudge"));
}

} // namespace
} // namespace nanobragg
