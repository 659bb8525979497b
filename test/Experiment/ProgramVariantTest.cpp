#include "lib/Experiment/ProgramVariant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace nanobragg {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Every value of every choice, one changed at a time.
std::vector<ProgramVariant> variants() {
  std::vector<ProgramVariant> all;
  auto vary = [&](auto ProgramVariant::*field, int first, int last) {
    for (int i = first; i <= last; ++i) {
      ProgramVariant s;
      s.*field = static_cast<std::remove_reference_t<decltype(s.*field)>>(i);
      all.push_back(s);
    }
  };
  vary(&ProgramVariant::shape, 0, 4);
  vary(&ProgramVariant::structureFactors, 0, 2);
  vary(&ProgramVariant::cellSource, 0, 2);
  vary(&ProgramVariant::cellSetting, 0, 1);
  vary(&ProgramVariant::spotMetric, 0, 1);
  vary(&ProgramVariant::sources, 0, 1);
  vary(&ProgramVariant::pivot, 0, 1);
  vary(&ProgramVariant::distance, 0, 1);
  vary(&ProgramVariant::curvature, 0, 2);
  vary(&ProgramVariant::solidAngle, 0, 1);
  vary(&ProgramVariant::omega, 1, 2);
  vary(&ProgramVariant::polarization, 0, 2);
  vary(&ProgramVariant::capture, 0, 3);
  vary(&ProgramVariant::water, 0, 2);
  vary(&ProgramVariant::mosaicity, 0, 2);
  vary(&ProgramVariant::diffuse, 0, 1);
  vary(&ProgramVariant::background, 0, 1);
  vary(&ProgramVariant::dmin, 0, 1);
  vary(&ProgramVariant::bySource, 0, 1);
  vary(&ProgramVariant::panels, 0, 1);
  vary(&ProgramVariant::mask, 0, 1);
  vary(&ProgramVariant::lightGiven, 0, 1);
  vary(&ProgramVariant::countingLoss, 0, 1);
  vary(&ProgramVariant::gainMap, 0, 1);
  vary(&ProgramVariant::gain, 0, 1);
  vary(&ProgramVariant::imageType, 0, 1);
  return all;
}

TEST(ProgramVariant, RoundTripsEveryValue) {
  for (const ProgramVariant &variant : variants())
    EXPECT_EQ(ProgramVariant::fromString(variant.toString()), variant) << variant.toString();
}

TEST(ProgramVariant, DistinctVariantsHaveDistinctTexts) {
  for (const ProgramVariant &x : variants())
    for (const ProgramVariant &y : variants())
      EXPECT_EQ(x == y, x.toString() == y.toString());
}

TEST(ProgramVariant, DefaultText) {
  EXPECT_EQ(ProgramVariant().toString(),
            "shape=square structure_factors=constant cell_source=cell cell_setting=right "
            "spot_metric=right sources=generated divergence=uniform pivot=beam distance=distance "
            "curvature=flat faces=right "
            "solid_angle=pixel omega=once polarization=once capture=none absorption_by_energy=no "
            "water=none mosaicity=ball averaging=sampled bandwidth=no sweep=no diffuse=no "
            "background=no dmin=no "
            "by_source=no panels=no pixel_list=no mask=no light_given=no "
            "point_spread=none counting_loss=no gain_map=no gain=no image_type=f32");
}

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = ProgramVariant().toString();
  return text.replace(text.find(from), from.size(), to);
}

TEST(ProgramVariant, RefusesBadText) {
  auto refuses = [](const std::string &text, const std::string &why) {
    EXPECT_THAT([&] { ProgramVariant::fromString(text); },
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
  refuses(ProgramVariant().toString() + " extra=1", "unexpected 'extra=1'");
  refuses(ProgramVariant().toString() + " ", "at the end");
  refuses(ProgramVariant().toString() + " anomalous_kinds=2", "belong together");
  const std::string anomalous = replaced("factors=constant", "factors=anomalous");
  refuses(anomalous, "belong together");
  for (const char *kinds : {"0", "17", "two", ""})
    refuses(anomalous + " anomalous_kinds=" + kinds, "'anomalous_kinds' cannot be");
}

TEST(ProgramVariant, KindsOfAnomalousScatterers) {
  ProgramVariant variant;
  variant.structureFactors = StructureFactors::Anomalous;
  variant.anomalousKinds = 12;
  EXPECT_EQ(ProgramVariant::fromString(variant.toString()), variant);
}

} // namespace
} // namespace nanobragg
