#include "lib/Experiment/Quantity.h"

#include "lib/Experiment/ParameterGroups.h"
#include "lib/Experiment/Parameters.h"
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
  findQuantity("-cell")->set(options, {40, 0, 50});
  EXPECT_EQ(options.cell, (std::array<double, 6>{40, 40, 50, 90, 90, 90}));
  findQuantity("-N")->set(options, {4, 5, 6});
  EXPECT_EQ(options.nb, 5);
  findQuantity("-oversample")->set(options, {0});
  EXPECT_FALSE(options.oversample);
  findQuantity("-diffuse_gamma")->set(options, {50});
  EXPECT_EQ(options.diffuseGamma, (Vec3{50, 50, 50}));
  EXPECT_THROW(findQuantity("-distance")->set(options, {-1}), std::invalid_argument);
  EXPECT_THROW(findQuantity("-distance")->set(options, {NAN}), std::invalid_argument);
  EXPECT_THROW(findQuantity("-phisteps")->set(options, {1.5}), std::invalid_argument);
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
