#include "lib/Experiment/Structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace nanobragg {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Every value of every choice, one changed at a time.
std::vector<Structure> variants() {
  std::vector<Structure> all;
  auto vary = [&](auto Structure::*field, int first, int last) {
    for (int i = first; i <= last; ++i) {
      Structure s;
      s.*field = static_cast<std::remove_reference_t<decltype(s.*field)>>(i);
      all.push_back(s);
    }
  };
  vary(&Structure::shape, 0, 3);
  vary(&Structure::structureFactors, 0, 2);
  vary(&Structure::cellSource, 0, 2);
  vary(&Structure::cellSetting, 0, 1);
  vary(&Structure::spotMetric, 0, 1);
  vary(&Structure::sources, 0, 1);
  vary(&Structure::pivot, 0, 1);
  vary(&Structure::distance, 0, 1);
  vary(&Structure::curvature, 0, 2);
  vary(&Structure::solidAngle, 0, 1);
  vary(&Structure::omega, 1, 2);
  vary(&Structure::polarization, 0, 2);
  vary(&Structure::capture, 0, 3);
  vary(&Structure::water, 0, 2);
  vary(&Structure::dmin, 0, 1);
  vary(&Structure::panels, 0, 1);
  vary(&Structure::mask, 0, 1);
  vary(&Structure::imageType, 0, 1);
  return all;
}

TEST(Structure, RoundTripsEveryValue) {
  for (const Structure &structure : variants())
    EXPECT_EQ(Structure::fromString(structure.toString()), structure) << structure.toString();
}

TEST(Structure, DistinctStructuresHaveDistinctTexts) {
  for (const Structure &x : variants())
    for (const Structure &y : variants())
      EXPECT_EQ(x == y, x.toString() == y.toString());
}

TEST(Structure, DefaultText) {
  EXPECT_EQ(Structure().toString(),
            "shape=square structure_factors=constant cell_source=cell cell_setting=right "
            "spot_metric=right sources=generated pivot=beam distance=distance curvature=flat "
            "solid_angle=pixel omega=once polarization=once capture=none water=none dmin=no "
            "panels=no mask=no image_type=f32");
}

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = Structure().toString();
  return text.replace(text.find(from), from.size(), to);
}

TEST(Structure, RefusesBadText) {
  auto refuses = [](const std::string &text, const std::string &why) {
    EXPECT_THAT([&] { Structure::fromString(text); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(why)))
        << text;
  };
  refuses("", "expected 'shape='");
  refuses("shape=square", "expected 'structure_factors='");
  refuses(replaced("shape=square", "shape=cube"), "'shape' cannot be 'cube'");
  refuses(replaced("shape=square", "form=square"), "found 'form=square'");
  refuses(replaced("shape=square", "shape=squares"), "'squares'");
  refuses(replaced("dmin=no", "dmin="), "'dmin' cannot be ''");
  refuses(replaced("shape=square ", "shape=square  "), "expected 'structure_factors='");
  refuses(replaced("omega=once", "omega=none"), "'omega' cannot be 'none'");
  refuses(Structure().toString() + " extra=1", "unexpected 'extra=1'");
  refuses(Structure().toString() + " ", "at the end");
}

} // namespace
} // namespace nanobragg
