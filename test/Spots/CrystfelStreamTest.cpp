#include "lib/Spots/CrystfelStream.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Formats/CrystfelGeometry.h"
#include "test/IO/TemporaryDirectory.h"

#include <fstream>
#include <sstream>

namespace nanobragg {
namespace {

using testing::HasSubstr;

struct CrystfelStreamTest : testing::Test {
  io::TemporaryDirectory directory;
  io::DialsExperiment experiment;

  CrystfelStreamTest() {
    io::DialsPanel p;
    p.origin = {-20, 30, -100};
    p.fast = unit({1, 0.1, 0.05});
    p.slow = unit(cross({0, 0, 1}, p.fast));
    p.slow = scaled(unit(difference(p.slow, scaled(p.fast, dot(p.slow, p.fast)))), -1);
    p.pixels = {40, 30};
    p.pixelSize = {0.2, 0.2};
    experiment.panels = {p, p};
    experiment.panels[1].origin = {-19, 22, -98};
    experiment.beam.wavelength = 1.2;
    experiment.crystal.emplace();
    experiment.crystal->real = {Vec3{40, 0, 0}, Vec3{0, 50, 0}, Vec3{0, 0, 60}};
  }

  std::string write(const std::string &data) {
    Spot bright, faint;
    bright.hkl = {1, -2, 3};
    bright.panel = 1;
    bright.pixel = {3.25, 4.5};
    bright.ray = {0.1, 0.2, -0.8};
    bright.intensity = bright.variance = 100;
    faint = bright;
    faint.intensity = faint.variance = 2;
    io::OutputFile out(directory.path("a.stream"));
    CrystfelStream stream(out, 30, data, "simulation");
    stream.begin(experiment);
    stream.add({"/a/b.cbf", data.empty() ? "" : "//4", 5, {}, {{experiment, {bright, faint}}}});
    out.commit();
    std::ifstream file(directory.path("a.stream"));
    return (std::stringstream() << file.rdbuf()).str();
  }
};

TEST_F(CrystfelStreamTest, ItsGeometryIsThatOfThePanels) {
  const std::string text = write("/entry/data/data");
  const std::string from = "----- Begin geometry file -----\n";
  const std::size_t begin = text.find(from) + from.size();
  const std::string geometry = text.substr(begin, text.find("----- End geometry") - begin);
  EXPECT_THAT(geometry, HasSubstr("data = /entry/data/data\ndim0 = %"));
  const io::CrystfelGeometry read =
      io::readCrystfelGeometry(directory.add("a.geom", geometry), std::nullopt);
  EXPECT_NEAR(*read.wavelength, 1.2, 1e-9);
  ASSERT_EQ(read.panels.size(), 2u);
  // Half a turn about y leads from dxtbx to CrystFEL.
  const auto turned = [](const Vec3 &v) { return Vec3{-v[0], v[1], -v[2]}; };
  for (std::size_t i = 0; i < 2; ++i) {
    const io::DialsPanel &p = read.panels[i], &q = experiment.panels[i];
    EXPECT_EQ(p.pixels, q.pixels);
    EXPECT_LT(length(difference(p.origin, turned(q.origin))), 1e-6);
    EXPECT_LT(length(difference(p.fast, turned(q.fast))), 1e-9);
    EXPECT_LT(length(difference(p.slow, turned(q.slow))), 1e-9);
  }
}

TEST_F(CrystfelStreamTest, HasItsUnitCell) {
  const auto cell = [&](const std::array<Vec3, 3> &real, const char *hall) {
    experiment.crystal->real = real;
    experiment.crystal->hallSymbol = hall;
    const std::string all = write(""), from = "----- Begin unit cell -----\n";
    const std::size_t begin = all.find(from);
    EXPECT_THAT(all.substr(begin), HasSubstr("nm^-1\nlattice_type")) << "of the crystal, too";
    return all.substr(begin, all.find("----- End unit cell -----\n") - begin);
  };
  const double c = std::cos(2 * M_PI / 3), s = std::sin(2 * M_PI / 3);
  EXPECT_EQ(cell({Vec3{40, 0, 0}, Vec3{0, 40, 0}, Vec3{0, 0, 60}}, "-I 4 2"),
            "----- Begin unit cell -----\nCrystFEL unit cell file version 1.0\n\n"
            "lattice_type = tetragonal\ncentering = I\nunique_axis = c\n\n"
            "a = 40.00000 A\nb = 40.00000 A\nc = 60.00000 A\n"
            "al = 90.00000 deg\nbe = 90.00000 deg\nga = 90.00000 deg\n");
  EXPECT_THAT(cell({Vec3{40, 0, 0}, Vec3{0, 50, 0}, Vec3{0, 0, 60}}, " P 2 2ab"),
              HasSubstr("= orthorhombic\ncentering = P\n\na"));
  EXPECT_THAT(cell({Vec3{40, 0, 0}, Vec3{0, 40, 0}, Vec3{0, 0, 40}}, " F 4 2 3"),
              HasSubstr("= cubic\ncentering = F\n\na"));
  EXPECT_THAT(cell({Vec3{40, 0, 0}, Vec3{0, 50, 0}, Vec3{9, 0, 60}}, " C 2y"),
              HasSubstr("= monoclinic\ncentering = C\nunique_axis = b\n"));
  EXPECT_THAT(cell({Vec3{40, 0, 0}, Vec3{40 * c, 40 * s, 0}, Vec3{0, 0, 60}}, " R 3"),
              HasSubstr("= hexagonal\ncentering = H\nunique_axis = c\n"));
  EXPECT_THAT(cell({Vec3{40, 0, 0}, Vec3{9, 50, 0}, Vec3{3, 5, 60}}, " P 1"),
              HasSubstr("= triclinic\ncentering = P\n\na"));
}

TEST_F(CrystfelStreamTest, SpotsAreCountedInTheSlab) {
  const std::string text = write("");
  EXPECT_THAT(text, HasSubstr("Image filename: /a/b.cbf\nImage serial number: 5\n"));
  EXPECT_THAT(text, HasSubstr("indexed_by = simulation\n"));
  EXPECT_THAT(text, HasSubstr("num_peaks = 1\n")) << "one can be seen";
  EXPECT_THAT(text, HasSubstr("num_reflections = 2\n"));
  EXPECT_THAT(text, HasSubstr("   3.250   34.500")) << "the second panel begins at row 30";
  EXPECT_THAT(text, HasSubstr("Cell parameters 4.00000 5.00000 6.00000 nm"));
  EXPECT_THAT(text, HasSubstr("astar = -0.2500000 +0.0000000 ")) << "turned, in 1/nm";
  EXPECT_THAT(write("/d"), HasSubstr("Event: //4\n"));
}

} // namespace
} // namespace nanobragg
