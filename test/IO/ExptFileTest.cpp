#include "lib/Formats/ExptFile.h"

#include "test/IO/TemporaryDirectory.h"

namespace nanobragg::io {
namespace {

const std::string list = R"({"__id__": "ExperimentList",
 "experiment": [{"__id__": "Experiment", "beam": 0, "detector": 0, "goniometer": 0, "scan": 0,
                 "crystal": 0, "imageset": 0}],
 "imageset": [{"__id__": "ImageSequence", "template": "x_####.cbf", "mask": ""}],
 "beam": [{"direction": [0, 0, 2], "wavelength": 0.98}],
 "detector": [{"panels": [{"name": "p", "fast_axis": [1, 0, 0], "slow_axis": [0, 1, 0],
                           "origin": [1, 2, 3], "image_size": [10, 20], "pixel_size": [0.1, 0.1]}],
   "hierarchy": {"fast_axis": [0, 1, 0], "slow_axis": [-1, 0, 0], "origin": [5, 0, -100],
                 "children": [{"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [0, 0, 10],
                               "children": [{"panel": 0}]}]}}],
 "goniometer": [{"rotation_axis": [0, 1, 0]}],
 "scan": [{"image_range": [1, 10], "oscillation": [3, 0.5]}],
 "crystal": [{"real_space_a": [50, 0, 0], "real_space_b": [0, 60, 0], "real_space_c": [0, 0, 70],
              "space_group_hall_symbol": " P 2 2ab"}]})";

struct ExptFileTest : testing::Test {
  TemporaryDirectory directory;
  DialsExperiment first(const std::string &text) {
    return readExpt(directory.add("a.expt", text)).front();
  }
  void expectRefusal(std::string from, const std::string &to, const std::string &part) {
    std::string text = list;
    text.replace(text.find(from), from.size(), to);
    expectFileError([&] { first(text); }, part);
  }
};

void expectNear(const Vec3 &a, const Vec3 &b) {
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(a[i], b[i], 1e-12);
}

TEST_F(ExptFileTest, PlacesPanelsThroughTheHierarchy) {
  const DialsPanel p = first(list).panels.at(0);
  // Root: x -> y, y -> -x, z -> z; then y and z turned about x.
  expectNear(p.fast, {0, 1, 0});
  expectNear(p.slow, {1, 0, 0});
  expectNear(p.origin, {5 + 2, 1, -100 + 10 - 3});
}

TEST_F(ExptFileTest, ReadsTheOtherModels) {
  const DialsExperiment e = first(list);
  expectNear(e.beam.direction, {0, 0, 1});
  EXPECT_EQ(e.beam.wavelength, 0.98);
  EXPECT_EQ(e.scan->images(), 10);
  EXPECT_EQ(e.scan->width, 0.5);
  EXPECT_EQ(e.goniometer->axis[1], 1);
  EXPECT_EQ(e.crystal->hallSymbol, " P 2 2ab");
  EXPECT_EQ(e.imageSet, 0);
}

TEST_F(ExptFileTest, APolychromaticBeamHasARange) {
  const std::string key = "\"wavelength\": 0.98";
  std::string text = list;
  text.replace(text.find(key), key.size(), "\"wavelength_range\": [0.9, 1.1]");
  const DialsBeam beam = first(text).beam;
  EXPECT_EQ((*beam.wavelengthRange)[0], 0.9);
  EXPECT_EQ((*beam.wavelengthRange)[1], 1.1);
  EXPECT_EQ(beam.wavelength, 1);
  expectRefusal(key, "\"wavelength_range\": [1.1, 0.9]", "two ascending numbers");
}

/// Stills of dxtbx's XFELBeam: the wavelengths are those of a scan, and each experiment is a point.
TEST_F(ExptFileTest, AnXfelBeamHasTheWavelengthOfItsShot) {
  const std::string text = R"({"__id__": "ExperimentList",
    "experiment": [{"beam": 0, "detector": 0, "scan": 0, "scan_point": 1, "imageset": 0},
                   {"beam": 0, "detector": 0, "scan": 0, "scan_point": 0, "imageset": 0},
                   {"beam": 0, "detector": 0, "scan": 0, "scan_point": 1, "imageset": 0}],
    "beam": [{"__id__": "xfel", "direction": [0, 0, 1], "probe": "x-ray"}],
    "scan": [{"__stills_consolidated": true, "batch_offset": 0, "valid_image_ranges": {},
              "properties": {"wavelength": [1.31, 1.29]}}],
    "imageset": [{"__id__": "ImageSequence", "template": "run.nxs", "single_file_indices": [4, 7]}],
    "detector": [{"panels": [{"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0],
      "origin": [-5, 5, -100], "image_size": [100, 100], "pixel_size": [0.1, 0.1]}]}]})";
  const std::vector<DialsExperiment> all = readExpt(directory.add("x.expt", text));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].beam.wavelength, 1.29);
  EXPECT_EQ(all[1].beam.wavelength, 1.31);
  EXPECT_EQ(all[0].beam.polarizationFraction, 0.5);
  EXPECT_FALSE(all[0].scan);
  EXPECT_TRUE(all[0].warnings.empty()) << all[0].warnings.front();
  EXPECT_EQ(all[0].imageSet, all[2].imageSet);
  EXPECT_NE(all[0].imageSet, all[1].imageSet);
  const auto refuses = [&](const std::string &from, const std::string &to, const char *part) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    expectFileError([&] { readExpt(directory.add("y.expt", other)); }, part);
  };
  refuses("\"scan_point\": 1", "\"scan_point\": 2", "its scan has 2 wavelengths");
  refuses("\"properties\": {\"wavelength\": [1.31, 1.29]}", "\"image_range\": [1, 2]",
          "has no scan with a \"wavelength\"");
}

TEST_F(ExptFileTest, WrittenAndReadAgainItIsTheSame) {
  const DialsExperiment e = first(list);
  OutputFile out(directory.path("b.expt"));
  ExptImages images;
  images.pattern = "x_####.cbf";
  writeExpt(out, std::span(&e, 1), images);
  out.commit();
  const DialsExperiment again = readExpt(directory.path("b.expt")).front();
  EXPECT_EQ(again.detectorText, e.detectorText);
  EXPECT_EQ(again.crystalText, e.crystalText);
  EXPECT_EQ(again.panels[0].origin, e.panels[0].origin);
}

TEST_F(ExptFileTest, ModelsWithoutTextAreWrittenFromNumbers) {
  DialsExperiment e = first(list);
  e.beamText = e.detectorText = e.goniometerText = e.scanText = e.crystalText = "";
  OutputFile out(directory.path("b.expt"));
  writeExpt(out, std::span(&e, 1), {});
  out.commit();
  const DialsExperiment again = readExpt(directory.path("b.expt")).front();
  expectNear(again.panels[0].origin, e.panels[0].origin);
  expectNear(again.panels[0].slow, e.panels[0].slow);
  EXPECT_EQ(again.crystal->real, e.crystal->real);
  EXPECT_EQ(again.scan->start, 3);
}

TEST_F(ExptFileTest, SaysWhatIsAveraged) {
  DialsExperiment e = first(list);
  EXPECT_FALSE(e.averages);
  e.averages = {.how = Averaging::Drawn,
                .mosaicSpread = {},
                .mosaicAbc = Vec3{0.1, 0.2, 0.3},
                .bandwidthSigma = 0.5,
                .divergenceSigma = {{1, 2}}};
  OutputFile out(directory.path("b.expt"));
  writeExpt(out, std::span(&e, 1), {});
  out.commit();
  const DialsExperiment again = readExpt(directory.path("b.expt")).front();
  ASSERT_TRUE(again.averages);
  EXPECT_EQ(again.averages->how, Averaging::Drawn);
  EXPECT_FALSE(again.averages->mosaicSpread);
  EXPECT_EQ(again.averages->mosaicAbc, e.averages->mosaicAbc);
  EXPECT_EQ(again.averages->bandwidthSigma, 0.5);
  EXPECT_EQ(again.averages->divergenceSigma, e.averages->divergenceSigma);
  const std::string key = "\"imageset\": 0";
  expectRefusal(key, key + ", \"nanobragg\": {\"average\": \"all\"}",
                "experiment 0, nanobragg has an \"average\" that is not");
  expectRefusal(key, key + ", \"nanobragg\": {\"average\": \"closed\", \"mosaic\": -1}",
                "has a width below 0");
}

TEST_F(ExptFileTest, AFluxMayBeLarge) {
  const std::string key = "\"wavelength\": 0.98";
  std::string text = list;
  text.replace(text.find(key), key.size(), key + ", \"flux\": 1e29");
  EXPECT_EQ(first(text).beam.flux, 1e29);
  expectRefusal(key, key + ", \"flux\": \"much\"", "experiment 0, beam has a \"flux\"");
}

TEST_F(ExptFileTest, AScanOfOneImageHasItsWidth) {
  std::string text = list;
  const std::string key = "\"image_range\": [1, 10], \"oscillation\": [3, 0.5]";
  text.replace(text.find(key), key.size(),
               "\"image_range\": [1, 1], \"properties\": {\"oscillation\": [3], "
               "\"oscillation_width\": [0.5], \"exposure_time\": [0.1], \"epochs\": [0]}");
  const DialsExperiment e = first(text);
  EXPECT_EQ(e.scan->start, 3);
  EXPECT_EQ(e.scan->width, 0.5);
  EXPECT_EQ(e.scan->exposure, 0.1);
  EXPECT_TRUE(e.warnings.empty());
}

TEST_F(ExptFileTest, NamesTheKeysThatItDoesNotUse) {
  EXPECT_THAT(first(list).warnings, testing::IsEmpty());
  const auto warning = [&](const std::string &from, const std::string &more) {
    std::string text = list;
    text.insert(text.find(from), more + ", ");
    const std::vector<std::string> all = first(text).warnings;
    return all.size() == 1 ? all.front() : "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(warning("\"wavelength\"", "\"s0_at_scan_points\": [[0, 0, 1]], \"divergence\": 0.1"),
              HasSubstr("\"divergence\", \"s0_at_scan_points\" of its beam is not used"));
  EXPECT_THAT(warning("\"real_space_b\"", "\"mosaicity\": 0.1"),
              HasSubstr("\"mosaicity\" of its crystal"));
  EXPECT_THAT(warning("\"image_size\"", "\"pedestal\": 100"), HasSubstr("\"pedestal\""));
  EXPECT_THAT(warning("\"rotation_axis\"", "\"setting_rotation_at_scan_points\": [1]"),
              HasSubstr("of its goniometer"));
  EXPECT_THAT(warning("\"oscillation\"", "\"time_of_flight\": [1]"), HasSubstr("of its scan"));
  EXPECT_THAT(warning("\"imageset\": 0", "\"partner\": 2"), HasSubstr("of its experiment"));
  // Empty values are no reason for a warning.
  EXPECT_EQ(warning("\"real_space_b\"", "\"mosaicity\": 0.0, \"other\": null, \"list\": []"), "");
}

TEST_F(ExptFileTest, RefusalsNameExperimentAndKey) {
  expectRefusal("\"wavelength\": 0.98", "\"wavelength\": 0",
                "experiment 0, beam has no \"wavelength\"");
  expectRefusal("\"pixel_size\": [0.1, 0.1]", "\"pixel_size\": [0.1]",
                "panel 0 has a \"pixel_size\"");
  expectRefusal("\"panel\": 0", "\"panel\": 7", "names a panel that is not there");
  expectRefusal("\"crystal\": 0", "\"crystal\": 3", "refers to a \"crystal\"");
  expectRefusal("\"beam\": 0", "\"beam\": \"beam.json\"", "names a file for its \"beam\"");
  expectRefusal("[0, 0, 70]", "[100, 120, 0]", "in a plane");
  expectRefusal("\"image_range\": [1, 10]", "\"image_range\": [5, 1]", "image_range");
  expectRefusal("{\"__id__\": \"ExperimentList\"", "{,", "is not JSON");
  expectRefusal("{\"__id__\"",
                "\x93\xb8"
                "dials::af::reflection_table",
                "is a reflection table");
  expectRefusal("{\"__id__\"", "{\nHEADER_BYTES=512;", "is an image, not an experiment list");
}

} // namespace
} // namespace nanobragg::io
