#include "lib/Choose/Defaults.h"
#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/Flag.h"
#include "lib/Runs/ExperimentOf.h"

#include "test/CommandLine/Support.h"
#include "test/IO/TemporaryDirectory.h"

using namespace nanobragg;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;

namespace {

/// An SMV image of 2 x 2 pixels whose header has these lines too.
std::string smv(const std::string &lines) {
  std::string text = "{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\n"
                     "TYPE=unsigned_short;\nSIZE1=2;\nSIZE2=2;\n" +
                     lines + "}\f";
  text.resize(512, ' ');
  return text + std::string("\1\0\0\0\1\0\1\0", 8);
}

class LoadInputsTest : public testing::Test {
protected:
  LoadedInputs load(const std::string &words) {
    line = parse(words);
    const SeriesTables tables = readTables(line);
    LoadedInputs loaded = loadInputs(line, tables);
    line.options = toFlagUnits(loaded.options);
    return loaded;
  }
  std::vector<std::string> noEffect(const std::string &words) {
    const LoadedInputs loaded = load(words);
    Options options = loaded.options;
    options.oversample = 1;
    return flagsWithoutEffect(line,
                              chooseDefaults(options, loaded.inputs, line.semantics).neverRead);
  }
  std::string refused(const std::string &words) {
    try {
      load(words);
    } catch (const UsageError &error) {
      return error.what();
    }
    return "";
  }

  io::TemporaryDirectory folder;
  CommandLine line;
  const std::string hkl = folder.add("a.hkl", "0 0 0 5\n1 2 3 7\n");
  const std::string complete = "-cell 40 -hkl " + hkl + " ";
};

TEST_F(LoadInputsTest, NeedsCellAndStructureFactors) {
  EXPECT_THAT(refused("-default_F 1"), HasSubstr("no unit cell"));
  EXPECT_THAT(refused("-cell 40"), HasSubstr("no structure factors"));
  EXPECT_EQ(refused("-cell 40 -default_F 1"), "");
}

TEST_F(LoadInputsTest, ColumnsOfShelxWithoutInstructionsAreSuspicious) {
  const std::string list = folder.add("s.hkl", "   1   2   3  399.00    1.00\n");
  EXPECT_THAT(load("-cell 40 -hkl " + list).warnings, ElementsAre(HasSubstr("the fourth are F^2")));
}

TEST_F(LoadInputsTest, StructureFactorsAreOfTheCrystalThatIsThere) {
  const auto crystal = [&](const std::string &a) {
    return folder.add(a + ".expt",
                      R"({"experiment": [{"beam": 0, "detector": 0, "crystal": 0}],
      "beam": [{"direction": [0, 0, 1], "wavelength": 1}],
      "detector": [{"panels": [{"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0],
        "origin": [-1, 1, -100], "image_size": [9, 9], "pixel_size": [0.1, 0.1]}]}],
      "crystal": [{"real_space_a": [)" +
                          a + R"(, 0, 0], "real_space_b": [0, 50, 0],
        "real_space_c": [0, 0, 60], "space_group_hall_symbol": " P 1"}]})");
  };
  const std::string cif = folder.add(
      "r.cif", "data_r\n_cell.length_a 40\n_cell.length_b 50\n_cell.length_c 60\n"
               "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
               "_symmetry.space_group_name_H-M 'P 1'\nloop_\n_refln.index_h\n_refln.index_k\n"
               "_refln.index_l\n_refln.F_meas_au\n1 2 3 10\n");
  EXPECT_EQ(refused("--expt=" + crystal("40.1") + " -hkl " + cif), "");
  EXPECT_THAT(refused("--expt=" + crystal("41") + " -hkl " + cif),
              HasSubstr("has a crystal of the cell 41 50 60 90 90 90, and"));
  EXPECT_EQ(refused("--expt=" + crystal("41") + " -hkl " + hkl), "") << "has no cell";
  const std::string matrix = folder.add("a.mat", "0.05 0 0 0 0.04 0 0 0 0.0333333\n");
  EXPECT_EQ(refused("-mat " + matrix + " -lambda 2 -hkl " + cif), "");
  EXPECT_THAT(refused("-mat " + matrix + " -lambda 1 -hkl " + cif),
              HasSubstr("a.mat has a crystal of the cell 20 25 30"));
}

TEST_F(LoadInputsTest, GoesOnWithoutAMaskThatIsElsewhere) {
  const std::string list =
      folder.add("m.expt", R"({"experiment": [{"beam": 0, "detector": 0, "imageset": 0}],
      "imageset": [{"images": ["a.cbf"], "mask": "/elsewhere/hot_mask_0.pickle"}],
      "beam": [{"direction": [0, 0, 1], "wavelength": 1}],
      "detector": [{"panels": [{"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0],
        "origin": [-1, 1, -100], "image_size": [2, 2], "pixel_size": [0.1, 0.1]}]}]})");
  const std::string words = "-cell 40 -default_F 1 --expt=" + list;
  EXPECT_THAT(load(words).warnings, ElementsAre(HasSubstr("hot_mask_0.pickle is not there")));
  const std::string mask = folder.add("mask.img", smv("PIXEL_SIZE=0.1;\n"));
  EXPECT_THAT(load(words + " -mask " + mask).warnings, IsEmpty());
}

TEST_F(LoadInputsTest, ReadsTextWithAByteOrderMark) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(load("-cell 40 -hkl " + folder.add("b.hkl", mark + "1 2 3 7\n")).reflections, 1u);
  EXPECT_EQ(refused("-mat " + folder.add("b.mat", mark + "0.05 0 0 0 0.04 0 0 0 0.03\n") +
                    " -default_F 1"),
            "");
}

TEST_F(LoadInputsTest, AGeometryOfCrystfelAndFlagsComplementEachOther) {
  const std::string panel = "res = 1000\np/min_fs = 0\np/max_fs = 9\np/min_ss = 0\np/max_ss = 9\n"
                            "p/corner_x = -5\np/corner_y = -5\n";
  const std::string geometry = folder.add(
      "a.geom",
      "clen = /LCLS/clen\ncoffset = 50 mm\nphoton_energy = 9000\nbandwidth = 0.01\n" + panel);
  const std::string words = "-cell 40 -default_F 1 --geom=" + geometry + " -distance 100 ";
  EXPECT_THAT(load(words).warnings, ElementsAre(HasSubstr("bandwidth of 1 % is not used")));
  EXPECT_NEAR(line.options.distance.value(), 150, 1e-9);
  EXPECT_THAT(noEffect(words), IsEmpty());
  EXPECT_THAT(load(words + "-gauss_xtal --average=closed").warnings, IsEmpty());
  EXPECT_NEAR(line.options.bandwidthSigma.value(), 1, 1e-9);
  const std::string inImage =
      folder.add("b.geom", "clen = 0.1\nphoton_energy = /LCLS/energy\n" + panel);
  try {
    load("-cell 40 -default_F 1 --geom=" + inImage);
    FAIL() << "1 A is not what the file says";
  } catch (const io::FileError &error) {
    EXPECT_THAT(error.what(), HasSubstr("(/LCLS/energy); give -lambda or -energy"));
  }
  EXPECT_THAT(load("-cell 40 -default_F 1 -energy 9000 --geom=" + inImage).warnings, IsEmpty());
}

TEST_F(LoadInputsTest, TakesTheCellOfTheFirstShot) {
  const std::string table =
      folder.add("table", "N cell\n5 41 42 43 90 90 90\n6 51 52 53 90 90 90\n");
  load("-default_F 1 --shots=" + table);
  EXPECT_THAT(line.options.cell.value(), ElementsAre(41, 42, 43, 90, 90, 90));
  load("-default_F 1 -cell 40 --shots=" + table);
  EXPECT_EQ(line.options.cell.value()[0], 40);
  load("-default_F 1 --shots=" + folder.add("drawn", "draw 3\ncell 38..39 = = 90 90 90\n"));
  EXPECT_THAT(line.options.cell.value()[1], AllOf(Ge(38), Le(39)));
  EXPECT_THAT(refused("-default_F 1 --shots=" + folder.add("none", "N\n5\n")),
              HasSubstr("no unit cell"));
  EXPECT_THAT(refused("-default_F 1 --shots=" + folder.add("a.expt", "{}")),
              HasSubstr("give --expt="));
}

TEST_F(LoadInputsTest, NeverTakesADumpThatNobodyNamed) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path(""));
  folder.add("Fdump.bin", "left behind");
  EXPECT_THAT(refused("-cell 40"), HasSubstr("Fdump.bin in this folder is read only with -dump"));
  EXPECT_FALSE(load("-cell 40 -default_F 1").inputs.grid);
  std::filesystem::current_path(before);
}

TEST_F(LoadInputsTest, ReadsReflections) {
  const LoadedInputs loaded = load(complete + "-default_F 3");
  ASSERT_TRUE(loaded.inputs.grid);
  EXPECT_EQ(loaded.reflections, 2u);
  EXPECT_EQ(loaded.inputs.grid->hMax, 1);
  EXPECT_EQ(loaded.inputs.grid->lMax, 3);
  EXPECT_EQ(loaded.inputs.grid->values.back(), 7);
  EXPECT_EQ(loaded.inputs.grid->values[1], 3);
}

TEST_F(LoadInputsTest, APolychromaticBeamOfAnExptHasALevelSpectrum) {
  const std::string expt = "--expt=" + folder.add("laue.expt", R"({"__id__": "ExperimentList",
    "experiment": [{"beam": 0, "detector": 0}],
    "beam": [{"__id__": "polychromatic", "direction": [0, 0, 1], "wavelength_range": [0.9, 1.1],
              "probe": "neutron"}],
    "detector": [{"panels": [{"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0],
      "origin": [-5, 5, -100], "image_size": [100, 100], "pixel_size": [0.1, 0.1]}]}]})") +
                           " ";
  const LoadedInputs loaded = load(complete + expt);
  EXPECT_DOUBLE_EQ(line.options.lambda.value_or(0), 1);
  EXPECT_DOUBLE_EQ(line.options.dispersion.value_or(0), 20);
  EXPECT_EQ(line.options.dispersionSteps.value_or(0), 201);
  EXPECT_THAT(loaded.remarks, Contains(HasSubstr("level from 0.9 to 1.1 A")));
  EXPECT_THAT(loaded.warnings, Contains(HasSubstr("neutrons")));
  load(complete + expt + "-dispsteps 11");
  EXPECT_EQ(line.options.dispersionSteps.value_or(0), 11);
  load(complete + expt + "--spectrum=" + folder.add("s.txt", "1.0 3\n1.4 1\n"));
  EXPECT_FALSE(line.options.dispersion);
  const LoadedInputs linear = load(complete + expt + "--spectrum-between=linear");
  EXPECT_FALSE(line.options.dispersion);
  EXPECT_THAT(linear.inputs.spectrum,
              testing::ElementsAre(testing::ElementsAre(testing::DoubleEq(0.9e-10), 1),
                                   testing::ElementsAre(testing::DoubleEq(1.1e-10), 1)));
}

TEST_F(LoadInputsTest, WeightsOfModelsAreNumbers) {
  const std::string pdb = folder.add("a.pdb", "CRYST1   20.000   24.000   28.000\n");
  io::expectFileError([&] { load("-hkl " + pdb + ":x," + pdb); }, "the weight 'x'");
  io::expectFileError([&] { load("-hkl " + hkl + "," + pdb); }, "is not a model");
}

TEST_F(LoadInputsTest, ASpectrumSaysTheWavelengthWhereNothingElseDoes) {
  const std::string spectrum = "--spectrum=" + folder.add("s.txt", "1.0 3\n1.4 1\n") + " ";
  EXPECT_EQ(load(complete + spectrum).inputs.sources.size(), 2u);
  EXPECT_DOUBLE_EQ(line.options.lambda.value_or(0), 1.1);
  const LoadedInputs linear = load(complete + spectrum + "--spectrum-between=linear");
  EXPECT_TRUE(linear.inputs.sources.empty());
  EXPECT_EQ(linear.inputs.spectrum.size(), 2u);
  load(complete + spectrum + "-lambda 1.2");
  EXPECT_DOUBLE_EQ(line.options.lambda.value_or(0), 1.2);
  load(complete + spectrum + "-energy 9000");
  EXPECT_FALSE(line.options.lambda);
  const std::string image = folder.add("i.img", smv("WAVELENGTH=1.3;\n"));
  load(complete + spectrum + "-img " + image);
  EXPECT_FALSE(line.options.lambda);
}

TEST_F(LoadInputsTest, MaskThenImageWhateverTheirOrder) {
  const std::string mask = folder.add("m.img", smv("DISTANCE=90;\nBEAM_CENTER_Y=15;\n"));
  const std::string image = folder.add("i.img", smv("WAVELENGTH=1.3;\n"));
  const Inputs inputs = load(complete + "-img " + image + " -mask " + mask).inputs;
  ASSERT_TRUE(inputs.mask && inputs.maskHeader && inputs.imageHeader);
  EXPECT_THAT(inputs.mask->pixels, ElementsAre(1, 0, 1, 1));
  EXPECT_EQ(inputs.maskHeader->distance, 90);
  EXPECT_EQ(inputs.maskHeader->beamCenterY, 15);
  EXPECT_FALSE(inputs.maskHeader->wavelength);
  EXPECT_EQ(inputs.imageHeader->wavelength, 1.3);
  EXPECT_EQ(inputs.imageHeader->fastPixels, 2);
}

TEST_F(LoadInputsTest, HeaderLookupByName) {
  const std::string image = folder.add("i.img", smv("ORGX=3;\nXDS_ORGX=7;\nDISTANCE=90;\n"));
  const LoadedInputs right = load(complete + "-xds -img " + image);
  EXPECT_EQ(right.inputs.imageHeader->orgX, 3);
  EXPECT_THAT(right.notices, ElementsAre("header-lookup"));
  const LoadedInputs c = load(complete + "-compat c -xds -img " + image);
  EXPECT_EQ(c.inputs.imageHeader->orgX, 7);
  EXPECT_THAT(c.notices, IsEmpty());
  EXPECT_THAT(load(complete + "-mosflm -img " + image).notices, IsEmpty());
}

TEST_F(LoadInputsTest, HeaderLookupOfDistance) {
  const std::string image = folder.add("i.img", smv("DISTANCE=90;\nCLOSE_DISTANCE=85;\n"));
  EXPECT_EQ(load(complete + "-img " + image).inputs.imageHeader->distance, 90);
  EXPECT_EQ(load(complete + "-compat c -img " + image).inputs.imageHeader->distance, 85);
}

TEST_F(LoadInputsTest, BeamCenterIsTheConventionsOwn) {
  const std::string image = folder.add(
      "i.img", smv("BEAM_CENTER_X=1;\nBEAM_CENTER_Y=2;\nADXV_CENTER_X=3;\nADXV_CENTER_Y=4;\n"
                   "MOSFLM_CENTER_X=5;\nMOSFLM_CENTER_Y=6;\nDENZO_X_BEAM=7;\nDENZO_Y_BEAM=8;\n"
                   "XDS_ORGX=9;\nXDS_ORGY=10;\n"));
  const auto center = [&](const std::string &flags) {
    const LoadedInputs loaded = load(complete + flags + " -img " + image);
    const HeaderValues &values = *loaded.inputs.imageHeader;
    return std::pair(*values.beamCenterX, *values.beamCenterY);
  };
  EXPECT_EQ(center("-mosflm"), std::pair(5., 6.));
  EXPECT_EQ(center("-denzo"), std::pair(7., 8.));
  EXPECT_EQ(center("-adxv"), std::pair(3., 4.));
  EXPECT_EQ(center("-adxv -compat c"), std::pair(1., 2.));
  EXPECT_THAT(load(complete + "-adxv -img " + image).notices, ElementsAre("header-lookup"));

  // The C program finds the XDS origin too, by its substring lookup.
  const LoadedInputs xds = load(complete + "-xds -img " + image);
  EXPECT_EQ(xds.inputs.imageHeader->orgX, 9);
  EXPECT_EQ(xds.inputs.imageHeader->orgY, 10);
  EXPECT_THAT(xds.notices, IsEmpty());
}

TEST_F(LoadInputsTest, ImpossibleHeaderIsRefused) {
  const std::string image = folder.add("i.img", smv("PIXEL_SIZE=0;\n"));
  io::expectFileError([&] { load(complete + "-img " + image); }, "i.img: PIXEL_SIZE=0");
}

TEST_F(LoadInputsTest, NamesTheNumbersOfAHeaderThatItDoesNotUse) {
  const auto warnings = [&](const std::string &lines) {
    return load(complete + "-img " + folder.add("i.img", smv(lines))).warnings;
  };
  EXPECT_THAT(warnings("DATE=Mon Nov 3;\nTIME=0.5;\nOMEGA=0;\nAXIS=phi;\nPHI=3;\n"), IsEmpty());
  EXPECT_THAT(warnings("OMEGA=30;\nCHI=54.7;\n"),
              ElementsAre(HasSubstr("the header's OMEGA=30, CHI=54.7 are not used")));
}

TEST_F(LoadInputsTest, WarnsOfABeamFarOffTheDetector) {
  const auto warnings = [&](const std::string &lines) {
    return load(complete + "-img " + folder.add("i.img", smv("PIXEL_SIZE=0.1;\n" + lines)))
        .warnings;
  };
  EXPECT_THAT(warnings("BEAM_CENTER_X=0.3;\nBEAM_CENTER_Y=-0.1;\n"), IsEmpty());
  EXPECT_THAT(warnings("BEAM_CENTER_X=1;\nBEAM_CENTER_Y=1.5;\n"),
              ElementsAre(HasSubstr("far off a detector of 0.2 mm; if these are pixels, give "
                                    "-Xbeam 0.1 -Ybeam 0.15")));
}

TEST_F(LoadInputsTest, TwothetaOfTheHeaderIsMentioned) {
  const std::string image = folder.add("i.img", smv("TWOTHETA=12;\n"));
  EXPECT_THAT(load(complete + "-img " + image).warnings, Contains(HasSubstr("-twotheta 12")));
}

TEST_F(LoadInputsTest, BackgroundTablesAreReadAndChecked) {
  const std::string bad = folder.add("bad.txt", "0.1 x\n");
  const std::string back = folder.add("back.txt", "0.1 2\n0.1 3\n");
  const std::string good = folder.add("good.txt", "0.1 2\n0.2 3\n");
  for (const char *flag : {"-stol ", "-4stol ", "-Q "}) {
    io::expectFileError([&] { load(complete + flag + bad); }, "bad.txt:1");
    io::expectFileError([&] { load(complete + flag + back); }, "back.txt:2");
    EXPECT_THAT(noEffect(complete + "-compat c " + flag + good),
                Contains(HasSubstr("has no effect")));
  }
  const LoadedInputs loaded =
      load(complete + "-thickness 3 -density 2 -stol " + good + " -density 4 -stol air");
  ASSERT_EQ(loaded.inputs.backgrounds.size(), 2u);
  const BackgroundTable &first = loaded.inputs.backgrounds[0], &air = loaded.inputs.backgrounds[1];
  EXPECT_EQ(first.stol, (std::vector{0.1e10, 0.2e10}));
  EXPECT_EQ(first.factor, (std::vector{2.0, 3.0}));
  EXPECT_EQ(first.material.thickness, 3e-3);
  EXPECT_EQ(first.material.density, 4e3);
  EXPECT_FALSE(first.material.molarMass);
  EXPECT_EQ(air.material.density, 2e3); // said of all
  EXPECT_EQ(air.material.molarMass, 28e-3);
  EXPECT_THAT(loaded.warnings, Not(Contains(HasSubstr("has no effect"))));
}

TEST_F(LoadInputsTest, ABackgroundNeedsNoCrystal) {
  EXPECT_EQ(refused("-stol water"), "");
  EXPECT_THAT(refused("-stol water -default_F 1"), HasSubstr("no unit cell"));
}

TEST_F(LoadInputsTest, SourcesAndPanels) {
  const std::string sources = folder.add("s.txt", "-10 0 0 1.5 1e-10\n-10 0.1 0\n");
  const std::string panels =
      folder.add("p.json", R"([{"offset_mm":[1,2,3],"fast":[0,0,1],"slow":[0,-1,0]}])");
  const LoadedInputs loaded = load(complete + "-sourcefile " + sources + " --panels=" + panels);
  ASSERT_EQ(loaded.inputs.sources.size(), 2u);
  EXPECT_EQ(loaded.inputs.sources[0].weight, 1.5);
  EXPECT_FALSE(loaded.inputs.sources[1].wavelength);
  ASSERT_EQ(line.options.panels.size(), 1u);
  EXPECT_EQ(line.options.panels[0].offset, (Vec3{1e-3, 2e-3, 3e-3}));
}

TEST_F(LoadInputsTest, OutputsDoNotDestroyEachOther) {
  EXPECT_THAT(refused(complete + "-floatfile x.bin -intfile ./x.bin"),
              HasSubstr("-floatfile and -intfile would both write"));
  EXPECT_THAT(refused(complete + "-floatfile " + hkl), HasSubstr("which -hkl reads"));
  EXPECT_EQ(refused(complete + "-floatfile /dev/null -intfile /dev/null"), "");
  EXPECT_EQ(refused(complete + "-noisefile x.bin -intfile x.bin -nonoise"), "");
}

TEST_F(LoadInputsTest, FlagsWithoutEffect) {
  const std::string sources = folder.add("s.txt", "-10 0 0 1 1e-10\n");
  const struct {
    std::string words;
    const char *flag;
  } cases[] = {
      {"-coherent", "-coherent"},
      {"-sample_den 1.2", "-sample_den"},
      {"-MW 5", "-MW"},
      {"-thickness 5", "-thickness"},
      {"-background_oversample 2", "-background_oversample"},
      {"-mosaic 1 -mosaic_abc 1 2 3", "-mosaic"},
      {"-laue_group 3", "-laue_group"},
      {"--write-shots=x", "--write-shots"},
      {"-lambda_scale 1.1", "-lambda_scale"},
      {"-lambda_offset 0.1", "-lambda_offset"},
      {"-stolout x", "-stolout"},
      {"-dispsteps 3", "-dispsteps"},
      {"-square_div -hdivrange 3", "-square_div"},
      {"-hdivstep 3 -hdivsteps 5", "-hdivsteps"},
      {"-vdivstep 3 -vdivsteps 5", "-vdivsteps"},
      {"-phistep 1 -phisteps 5", "-phisteps"},
      {"-beamsize 0.1", "-beamsize"},
      {"-polar 0.5 -nopolar", "-polar"},
      {"-nopolar -polar 0.5", "-nopolar"},
      {"-twotheta_axis 0 1 0", "-twotheta_axis"},
      {"-fdet_vector 0 0 1 -Xbeam 5 -Xclose 5", "-Xclose"},
      {"-fdet_vector 0 0 1 -Ybeam 5 -Yclose 5", "-Yclose"},
      {"-fdet_vector 0 0 1 -Xbeam 5 -ORGX 5", "-ORGX"},
      {"-fdet_vector 0 0 1 -Yclose 5 -ORGY 5", "-ORGY"},
      {"-xds -Xbeam 5", "-Xbeam"},
      {"-dials -Ybeam 5", "-Ybeam"},
      {"-xds -Xclose 5", "-Xclose"},
      {"-mosflm -Yclose 5", "-Yclose"},
      {"-denzo -ORGX 5", "-ORGX"},
      {"-adxv -ORGY 5", "-ORGY"},
      {"-spindle_axis 0 1 0 -xds", "-spindle_axis"},
      {"-pix0_vector 0 1 0", "-pix0_vector"},
      {"-mosflm -pivot sample", "-pivot"},
      {"-distance 100 -close_distance 90", "-distance"},
      {"-detpixels_f 7 -detsize_f 40", "-detsize_f"},
      {"-detpixels 7 -detsize 40", "-detsize"},
      {"-oversample_thick", "-oversample_thick"},
      {"-detector_abs 500", "-detector_abs"},
      {"-thicksteps 4", "-thicksteps"},
      {"-detector_thick 300 -detector_abs 0 -thicksteps 4", "-thicksteps"},
      {"-oversample_polar -nopolar", "-nopolar"},
      {"-flux 1e9 -fluence 1e20", "-fluence"},
      {"-exposure 2", "-exposure"},
      {"-dispersion 1 -sourcefile " + sources, "-dispersion"},
      {"-hdivsteps 3 -sourcefile " + sources, "-hdivsteps"},
      {"-misset_seed 3", "-misset_seed"},
      {"-Na 4 -xtal_thick 0.001", "-Na"},
      {"-N 4 -xtalsize 0.001", "-N"},
      {"-fudge 2", "-fudge"},
      {"-mosaic_dom 5", "-mosaic_dom"},
      {"-mosaic 0 -mosaic_domains 5", "-mosaic_domains"},
      {"-mosaic_seed 5", "-mosaic_seed"},
      {"-seed 3 -nonoise", "-seed"},
      {"-noisefile n -nonoise", "-noisefile"},
      {"-nonoise -noisefile n", "-nonoise"},
      {"-pgmimage n -nopgm", "-pgmimage"},
      {"-pgmscale 3 -nopgm", "-pgmscale"},
      {"-nopgm -pgmscale 3", "-nopgm"},
      {"--no-fuse --no-fallback", "--no-fallback"},
      {"--no-fuse --fallback", "--fallback"},
      {"--kernel k.so --no-fallback", "--no-fallback"},
      {"--no-fuse --precision=mixed", "--precision"},
      {"--no-fuse --cull=1e-9", "--cull"},
      {"--precision=f32 --cull=1e-9", "--cull"},
      {"--emit=nb -intfile i.img", "-intfile"},
      {"--grad=cell --png=p.png", "--png"},
  };
  for (const auto &c : cases)
    EXPECT_THAT(noEffect(complete + c.words),
                ElementsAre(HasSubstr(std::string(c.flag) + " has no effect: ")))
        << c.words;
}

TEST_F(LoadInputsTest, AveragesInClosedFormAreCulledInSinglePrecision) {
  EXPECT_THAT(noEffect(complete + "-gauss_xtal --average=closed --precision=f32 --cull=1e-9"),
              IsEmpty());
}

TEST_F(LoadInputsTest, PartOfAnEffect) {
  EXPECT_THAT(
      noEffect(complete + "-N 4 -xtal_height 0.001"),
      ElementsAre("-N has only a part of its effect: it applies only along an axis without a "
                  "crystal size (-xtalsize)"));
}

TEST_F(LoadInputsTest, NoEffectOfInterpolationWithoutReflections) {
  EXPECT_THAT(noEffect("-cell 40 -default_F 1 -interpolate"),
              ElementsAre("-interpolate has no effect: it applies only with structure factors from "
                          "a file"));
  EXPECT_THAT(noEffect(complete + "-interpolate"), IsEmpty());
}

TEST_F(LoadInputsTest, NoEffectOfTheDistanceBesideAHeader) {
  const std::string image = folder.add("i.img", smv("CLOSE_DISTANCE=140;\n"));
  EXPECT_THAT(noEffect(complete + "-distance 77 -img " + image),
              ElementsAre("-distance has no effect: it applies only without a close distance "
                          "(-close_distance, or of an image header)"));
  EXPECT_THAT(noEffect(complete + "-detsize_s 77 -img " + image),
              ElementsAre(HasSubstr("-detsize_s has no effect")));
}

/// A row that names a flag that is none would never speak.
TEST(NoEffect, RowsNameFlags) {
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags)
      for (const std::string_view names : {flag.with, flag.without})
        for (const std::string &name : split(std::string(names)))
          EXPECT_TRUE(findFlag(name) && findFlag(name)->name() == name) << flag.name();
}

TEST_F(LoadInputsTest, EffectiveFlagsAreNotWarnedAbout) {
  for (const char *words :
       {"-dispersion 1 -dispsteps 3", "-divergence 3 -divsteps 3 -square_div",
        "-osc 2 -phistep 1 -phisteps 5", "-xtalsize 1 -beamsize .1", "-flux 1e9 -beamsize .1",
        "-twotheta_axis 0 1 0 -twotheta 5", "-seed 3", "-nonoise -nopgm", "-pgmscale 3", "-polar 1",
        "-nopolar", "-fdet_vector 0 0 1 -ORGX 5", "--no-fallback", "--fallback"})
    EXPECT_THAT(noEffect(complete + words), IsEmpty()) << words;
}

} // namespace
