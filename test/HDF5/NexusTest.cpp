#include "lib/HDF5/Nexus.h"
#include "lib/HDF5/Handle.h"

#include "lib/Files/FileError.h"
#include "test/IO/TemporaryDirectory.h"

#include <cstring>
#include <fstream>

namespace nanobragg::io {
namespace {

struct NexusTest : testing::Test {
  TemporaryDirectory directory;
  DialsExperiment experiment;
  NexusOptions options;

  NexusTest() {
    DialsPanel p;
    p.origin = {-1, 1, -100};
    p.pixels = {4, 3};
    p.pixelSize = {0.1, 0.1};
    experiment.panels = {p, p};
    options.frames = 3;
    options.frameFast = 4;
    options.frameSlow = 3;
  }

  static std::vector<std::int32_t> frame(int first) {
    std::vector<std::int32_t> pixels(24);
    for (int i = 0; i < 24; ++i)
      pixels[std::size_t(i)] = first + 1000 * i;
    return pixels;
  }
  static void write(NexusWriter &writer, std::size_t number,
                    const std::vector<std::int32_t> &pixels) {
    writer.write(number, std::as_bytes(std::span(pixels)));
  }
  std::string path() const { return directory.path("a.nxs"); }
};

TEST_F(NexusTest, FramesComeBack) {
  const auto writer = makeNexusWriter(path(), experiment, options);
  write(*writer, 2, frame(5));
  write(*writer, 0, frame(-2));
  EXPECT_TRUE(writer->isDone(2));
  EXPECT_FALSE(writer->isDone(1));
  writer->finish();
  const NexusImage image = readNexusImage(path(), 2);
  EXPECT_EQ(image.slow, 6u) << "two panels";
  EXPECT_EQ(image.fast, 4u);
  EXPECT_EQ(image.pixels[23], 5 + 23000);
  EXPECT_EQ(readNexusImage(path(), 0).pixels[0], -2);
}

TEST_F(NexusTest, PartsAreSeenAsOneFile) {
  options.frames = 9;
  NexusOptions view = options;
  const std::vector<std::vector<std::size_t>> frames = {{0, 2, 4, 7}, {}, {1, 3}};
  for (std::size_t part = 0; part < frames.size(); ++part) {
    const std::string name = "part" + std::to_string(part) + ".nxs";
    const auto writer = makeNexusWriter(directory.path(name), experiment, options);
    for (const std::size_t i : frames[part])
      write(*writer, i, frame(int(i) + 10));
    writer->finish();
    view.parts.push_back({name, frames[part]});
  }
  makeNexusWriter(path(), experiment, view)->finish();
  for (const std::size_t i : {0, 1, 2, 3, 4, 7}) {
    const NexusImage image = readNexusImage(path(), i);
    EXPECT_EQ(image.pixels[0], double(i) + 10) << i;
    EXPECT_EQ(image.pixels[23], double(i) + 23010) << i;
  }
  for (const std::size_t missing : {5, 6, 8})
    EXPECT_EQ(readNexusImage(path(), missing).pixels[5], -1) << missing;
  // Moved together they are found again.
  std::filesystem::create_directory(directory.path("moved"));
  for (const char *name : {"a.nxs", "part0.nxs", "part2.nxs"})
    std::filesystem::rename(directory.path(name), directory.path("moved") + "/" + name);
  EXPECT_EQ(readNexusImage(directory.path("moved") + "/a.nxs", 3).pixels[0], 13);
}

TEST_F(NexusTest, WhatWasWrittenIsThereWithoutTheEnd) {
  const auto writer = makeNexusWriter(path(), experiment, options);
  write(*writer, 1, frame(7));
  // As after a crash: the file as it is now.
  std::filesystem::copy_file(path(), directory.path("b.nxs"));
  EXPECT_EQ(readNexusImage(directory.path("b.nxs"), 1).pixels[0], 7);
}

TEST_F(NexusTest, GoesOnWhereItStopped) {
  {
    const auto writer = makeNexusWriter(path(), experiment, options);
    write(*writer, 0, frame(1));
    writer->finish();
  }
  options.resume = true;
  const auto writer = makeNexusWriter(path(), experiment, options);
  EXPECT_TRUE(writer->isDone(0));
  EXPECT_FALSE(writer->isDone(1));
  write(*writer, 1, frame(2));
  writer->finish();
  EXPECT_EQ(readNexusImage(path(), 0).pixels[0], 1);
  EXPECT_EQ(readNexusImage(path(), 1).pixels[0], 2);
  options.frames = 4;
  expectFileError([&] { makeNexusWriter(path(), experiment, options); }, "of another series");
}

TEST_F(NexusTest, GoesOnThroughNoLink) {
  const std::string other = directory.path("other.nxs");
  for (const std::string &name : {path(), other}) {
    const auto writer = makeNexusWriter(name, experiment, options);
    write(*writer, 0, frame(1));
    writer->finish();
  }
  options.resume = true;
  for (const char *at : {"/entry/data/data", "/entry/data", "/entry"}) {
    {
      const Handle file(H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
      ASSERT_GE(H5Ldelete(file, at, H5P_DEFAULT), 0);
      ASSERT_GE(H5Lcreate_external(other.c_str(), at, file, at, H5P_DEFAULT, H5P_DEFAULT), 0);
    }
    expectFileError([&] { makeNexusWriter(path(), experiment, options); },
                    std::string("has a link at ") + at);
  }
}

TEST_F(NexusTest, GoesOnWithItsOwnFiltersAlone) {
  makeNexusWriter(path(), experiment, options)->finish();
  {
    const Handle file(H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    ASSERT_GE(H5Ldelete(file, "/entry/data/data", H5P_DEFAULT), 0);
    const hsize_t size[3] = {3, 6, 4}, chunk[3] = {1, 6, 4};
    const Handle space(H5Screate_simple(3, size, nullptr)), creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation, 3, chunk);
    const Handle data(H5Dcreate2(file, "/entry/data/data", H5T_NATIVE_INT32, space, H5P_DEFAULT,
                                 creation, H5P_DEFAULT));
    ASSERT_TRUE(data.valid());
  }
  options.resume = true;
  expectFileError([&] { makeNexusWriter(path(), experiment, options); }, "of another series");
}

TEST_F(NexusTest, HasTheSpectrum) {
  experiment.beam.spectrum = {{0.99, 1}, {1.0, 2}, {1.01, 1}};
  makeNexusWriter(path(), experiment, options)->finish();
  EXPECT_EQ(readSpectrum(path()), experiment.beam.spectrum);
}

TEST_F(NexusTest, SaysWhatReadersOfNXmxLookFor) {
  experiment.beam.flux = 1e12;
  experiment.panels[1].origin = {-0.15, 0.12, -100}; // in which the beam is
  experiment.panels[1].pixels = {4, 2};
  options.mask.assign(24, 1);
  options.mask[2] = 0;
  makeNexusWriter(path(), experiment, options)->finish();
  const Handle file(H5Fopen(path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const auto number = [&](const std::string &name) {
    const Handle data(H5Dopen2(file, ("/entry/instrument/" + name).c_str(), H5P_DEFAULT));
    double value = 0;
    EXPECT_GE(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), 0);
    return value;
  };
  EXPECT_EQ(number("detector/x_pixel_size"), 0.1);
  EXPECT_EQ(number("detector/y_pixel_size"), 0.1);
  EXPECT_NEAR(number("detector/beam_center_x"), 1.5, 1e-9);
  EXPECT_NEAR(number("detector/beam_center_y"), 3 + 1.2, 1e-9) << "rows of the first panel";
  EXPECT_EQ(number("beam/total_flux"), 1e12);
  const Handle data(H5Dopen2(file, "/entry/instrument/detector/pixel_mask", H5P_DEFAULT));
  std::vector<std::int32_t> mask(24);
  ASSERT_GE(H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, mask.data()), 0);
  std::vector<std::int32_t> expected(24, 0);
  expected[2] = 1;
  std::fill(expected.begin() + 20, expected.end(), 1); // below the second panel
  EXPECT_EQ(mask, expected);
}

TEST_F(NexusTest, WavelengthsHaveUnits) {
  experiment.beam.spectrum = {{0.99, 1}, {1.01, 2}};
  makeNexusWriter(path(), experiment, options)->finish();
  const auto in = [&](const char *unit) {
    const Handle file(H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const char *name = "/entry/instrument/beam/incident_wavelength_1Dspectrum";
    const Handle data(H5Dopen2(file, name, H5P_DEFAULT)), space(H5Screate(H5S_SCALAR));
    Handle text(H5Tcopy(H5T_C_S1));
    H5Tset_size(text, std::strlen(unit) + 1);
    H5Adelete(data, "units");
    const Handle units(H5Acreate2(data, "units", text, space, H5P_DEFAULT, H5P_DEFAULT));
    ASSERT_GE(H5Awrite(units, text, unit), 0);
  };
  in("nm");
  EXPECT_NEAR(readSpectrum(path()).at(0)[0], 9.9, 1e-9);
  in("eV");
  expectFileError([&] { readSpectrum(path()); }, "has wavelengths in 'eV'; write angstrom");
}

TEST_F(NexusTest, MastersHaveTheirFramesInParts) {
  const auto images = [&](const std::string &name, const char *place, std::uint16_t first) {
    const Handle file(
        H5Fcreate(directory.path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const Handle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links, 1);
    const hsize_t size[3] = {2, 2, 2};
    const Handle space(H5Screate_simple(3, size, nullptr));
    const Handle data(
        H5Dcreate2(file, place, H5T_NATIVE_UINT16, space, links, H5P_DEFAULT, H5P_DEFAULT));
    std::vector<std::uint16_t> pixels(8, first);
    std::fill(pixels.begin() + 4, pixels.end(), first + 1);
    H5Dwrite(data, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels.data());
  };
  images("a_data_000001.h5", "/entry/data/data", 10);
  images("a_data_000002.h5", "/entry/data/data", 20);
  {
    const Handle file(H5Fcreate(path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const Handle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links, 1);
    for (const std::string number : {"000001", "000002"})
      H5Lcreate_external(("a_data_" + number + ".h5").c_str(), "/entry/data/data", file,
                         ("/entry/data/data_" + number).c_str(), links, H5P_DEFAULT);
  }
  for (const auto &[frame, pixel] : {std::pair(0u, 10), {1u, 11}, {2u, 20}, {3u, 21}}) {
    const NexusImage image = readNexusImage(path(), frame);
    EXPECT_EQ(image.pixels, std::vector<double>(4, pixel));
    EXPECT_EQ(image.undefined, 65535);
  }
  expectFileError([&] { readNexusImage(path(), 4); }, "has 4 frames");
}

TEST_F(NexusTest, RefusesOtherFiles) {
  expectFileError([&] { readNexusImage(directory.add("c.nxs", "no HDF5"), 0); }, "c.nxs");
  makeNexusWriter(path(), experiment, options)->finish();
  expectFileError([&] { readNexusImage(path(), 3); }, "has 3 frames");
}

} // namespace
} // namespace nanobragg::io
