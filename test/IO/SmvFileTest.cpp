#include "lib/Images/SmvFile.h"

#include "test/IO/TemporaryDirectory.h"

#include <stdexcept>

namespace nanobragg::io {
namespace {

SmvHeader exampleHeader() {
  SmvHeader header;
  header.fastPixels = 3;
  header.slowPixels = 2;
  header.pixelSize = 0.4;
  header.distance = header.closeDistance = 80;
  header.wavelength = 0.979338;
  header.beamCenterX = header.beamCenterY = 19.4;
  header.adxvCenterX = 19.6;
  header.adxvCenterY = 18.8;
  header.mosflmCenterX = header.mosflmCenterY = 19.4;
  header.denzoBeamX = header.denzoBeamY = 19.6;
  header.dialsOrigin = {-19.6, 19.6, -80};
  header.xdsOrgX = header.xdsOrgY = 49.5;
  header.phi = 1.5;
  header.oscRange = 0.1;
  return header;
}

SmvHeader lengthyHeader() {
  SmvHeader header = exampleHeader();
  header.beamCenterX = header.beamCenterY = header.adxvCenterX = header.adxvCenterY = 123.456;
  header.mosflmCenterX = header.mosflmCenterY = -1.23457e-05;
  header.denzoBeamX = header.denzoBeamY = -1.23457e-05;
  header.dialsOrigin = {-1.23457e-05, -1.23457e-05, -1.23457e-05};
  return header;
}

struct SmvFileTest : testing::Test {
  TemporaryDirectory directory;
  SmvFile parse(const std::string &bytes) { return readSmv(directory.add("i.img", bytes)); }
  void expectError(const std::string &bytes, const std::string &part) {
    expectFileError([&] { parse(bytes); }, part);
  }
};

std::string image(const std::string &lines, const std::string &pixels, std::size_t header = 512) {
  std::string text = "{\nHEADER_BYTES=" + std::to_string(header) + ";\n" + lines + "}";
  text.resize(header, ' ');
  return text + pixels;
}

const std::string usual = "BYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=3;\nSIZE2=2;\n";
const std::string sixPixels("\1\0\2\0\3\0\4\0\5\0\xff\xff", 12);

TEST(SmvScale, StandsInTheHeaderWhereThereIsOne) {
  nanobragg::io::SmvHeader header;
  EXPECT_EQ(nanobragg::io::smvHeaderText(header).find("INTFILE_SCALE"), std::string::npos);
  header.intScale = 0.25;
  EXPECT_NE(nanobragg::io::smvHeaderText(header).find("INTFILE_SCALE=0.25;"), std::string::npos);
}

TEST_F(SmvFileTest, HeaderAsTheCProgramWritesIt) {
  SmvHeader header = exampleHeader();
  header.form = Rule::C;
  const std::string lines = "{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\n"
                            "TYPE=unsigned_short;\nSIZE1=3;\nSIZE2=2;\nPIXEL_SIZE=0.4;\n"
                            "DISTANCE=80;\nWAVELENGTH=0.979338;\nBEAM_CENTER_X=19.4;\n"
                            "BEAM_CENTER_Y=19.4;\nADXV_CENTER_X=19.6;\nADXV_CENTER_Y=18.8;\n"
                            "MOSFLM_CENTER_X=19.4;\nMOSFLM_CENTER_Y=19.4;\nDENZO_X_BEAM=19.6;\n"
                            "DENZO_Y_BEAM=19.6;\nDIALS_ORIGIN=-19.6,19.6,-80\nXDS_ORGX=49.5;\n"
                            "XDS_ORGY=49.5;\nCLOSE_DISTANCE=80;\nPHI=1.5;\nOSC_START=1.5;\n"
                            "OSC_RANGE=0.1;\nTWOTHETA=0;\nDETECTOR_SN=000;\nBEAMLINE=fake;\n}\f";
  EXPECT_EQ(smvHeaderText(header), lines + std::string(512 - lines.size(), ' '));
}

TEST_F(SmvFileTest, DefaultFormEndsEveryLineWithASemicolonAndStatesThePedestal) {
  SmvHeader header = exampleHeader();
  header.adcOffset = 40;
  const std::string text = smvHeaderText(header);
  EXPECT_EQ(text.size(), 512u);
  EXPECT_THAT(text, testing::HasSubstr("\nDIALS_ORIGIN=-19.6,19.6,-80;\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nADC_OFFSET=40;\n"));
}

TEST_F(SmvFileTest, LongHeadersGetTheRoomTheyNeed) {
  const std::string text = smvHeaderText(lengthyHeader());
  EXPECT_EQ(text.size(), 1024u);
  EXPECT_TRUE(text.starts_with("{\nHEADER_BYTES=1024;\n"));
  EXPECT_GT(text.find("}\f"), 500u);
}

TEST_F(SmvFileTest, DxtbxFindsTheBeam) {
  SmvHeader header = exampleHeader();
  header.slowPixels = 100;
  setDxtbxBeamCenter(header, 12.5, 15.25);
  // The beam centre that dxtbx computes from the keys of a simulated image.
  EXPECT_DOUBLE_EQ(header.beamCenterX + 0.4, 12.5);
  EXPECT_DOUBLE_EQ(40 - header.beamCenterY + 0.4, 15.25);
}

TEST_F(SmvFileTest, ReadsBackWhatItWrote) {
  for (const SmvHeader &header : {exampleHeader(), lengthyHeader()}) {
    const std::vector<std::uint16_t> pixels{0, 1, 255, 256, 55000, 65535};
    OutputFile out(directory.path("o.img"));
    writeSmv(out, header, pixels);
    out.commit();
    const SmvFile file = readSmv(directory.path("o.img"));
    EXPECT_EQ(file.pixels, pixels);
    EXPECT_EQ(file.fastPixels, 3);
    EXPECT_EQ(file.slowPixels, 2);
    EXPECT_EQ(file.number("WAVELENGTH"), 0.979338);
    EXPECT_EQ(file.text("DIALS_ORIGIN").value().front(), '-');
    EXPECT_EQ(file.text("BEAMLINE"), "fake");
    EXPECT_EQ(file.entries[1].first, "DIM");
    EXPECT_EQ(std::filesystem::file_size(directory.path("o.img")),
              smvHeaderText(header).size() + 12);
  }
}

TEST_F(SmvFileTest, WriterRefusesTheWrongNumberOfPixels) {
  OutputFile out(directory.path("o.img"));
  const std::vector<std::uint16_t> pixels(5);
  EXPECT_THROW(writeSmv(out, exampleHeader(), pixels), std::invalid_argument);
}

TEST_F(SmvFileTest, BothByteOrders) {
  EXPECT_EQ(parse(image(usual, sixPixels)).pixels,
            (std::vector<std::uint16_t>{1, 2, 3, 4, 5, 65535}));
  EXPECT_EQ(parse(image("BYTE_ORDER=big_endian;\nSIZE1=3;\nSIZE2=2;\n", sixPixels)).pixels,
            (std::vector<std::uint16_t>{256, 512, 768, 1024, 1280, 65535}));
}

TEST_F(SmvFileTest, LookupByExactKeyAndByLastOccurrence) {
  const SmvFile file = parse(image(usual + "DISTANCE=85;\nCLOSE_DISTANCE= 87 mm;\n"
                                           "ORGX=1;\nXDS_ORGX=2;\nBAD=x;\nPHI=3;\nDISTANCE=99;\n",
                                   sixPixels));
  EXPECT_EQ(file.number("DISTANCE"), 85);
  EXPECT_EQ(file.lastNumber("DISTANCE"), 99);
  EXPECT_EQ(file.lastNumber("CLOSE_DISTANCE"), 87);
  EXPECT_EQ(file.number("ORGX"), 1);
  EXPECT_EQ(file.lastNumber("ORGX"), 2);
  EXPECT_EQ(file.number("CLOSE"), std::nullopt);
  EXPECT_EQ(file.lastNumber("WAVELENGTH"), std::nullopt);
  expectFileError([&] { file.number("BAD"); }, "BAD='x', which is not a number");
  expectFileError([&] { file.lastNumber("BAD"); }, "BAD='x', which is not a number");
}

TEST_F(SmvFileTest, AcceptsPaddedNumbersLongHeadersAndSquareDimensions) {
  std::string text =
      image("BYTE_ORDER=little_endian;\nDETECTOR_DIMENSIONS=2;\n", sixPixels.substr(0, 8), 1024);
  const std::string padded = "HEADER_BYTES= 1024;";
  text.replace(2, padded.size(), padded);
  const SmvFile file = parse(text);
  EXPECT_EQ(file.fastPixels, 2);
  EXPECT_EQ(file.slowPixels, 2);
  EXPECT_EQ(file.headerText.size(), 1024u);
}

TEST_F(SmvFileTest, ReadsLinesThatEndInCarriageReturns) {
  const std::string lines = "BYTE_ORDER=little_endian;\r\nSIZE1=3;\r\nSIZE2=2;\r\nNAME=x;\r\n}";
  std::string text = "{\r\nHEADER_BYTES=512;\r\n" + lines;
  text.resize(512, ' ');
  const SmvFile file = parse(text + sixPixels);
  EXPECT_EQ(file.pixels[1], 2);
  EXPECT_EQ(file.text("NAME"), "x");
  expectError(text + sixPixels + '\r',
              "has 13 bytes of pixels, 3 x 2 need 12, and its lines end in CR LF");
}

TEST_F(SmvFileTest, RefusesMalformedFiles) {
  const auto replaced = [](const std::string &from, const std::string &to) {
    std::string lines = usual;
    lines.replace(lines.find(from), from.size(), to);
    return image(lines, sixPixels);
  };
  expectError("", "is not an SMV image");
  expectError("II*\0garbage", "is not an SMV image");
  expectError("{\nHEADER_BYTES=512;\n}", "inside the header");
  expectError(image(usual, sixPixels.substr(1)), "ends after 11 bytes of pixels, 3 x 2 need 12");
  expectError(image(usual, ""), "ends after 0 bytes of pixels");
  expectError(replaced("BYTE_ORDER=little_endian;\n", ""), "has no BYTE_ORDER");
  expectError(replaced("little_endian", "pdp_endian"), "must be little_endian or big_endian");
  expectError(replaced("unsigned_short", "float"), "only unsigned_short can be read");
  expectError(replaced("SIZE1=3", "SIZE1=x"), "SIZE1='x', which is not a number");
  expectError(replaced("SIZE1=3", "SIZE1=-3"), "no sensible size");
  expectError(replaced("SIZE1=3", "SIZE1=2.5"), "no sensible size");
  expectError(replaced("SIZE1=3", "SIZE1=99999999"), "no sensible size");
  expectError(replaced("SIZE1=3;\nSIZE2=2;", "DIM=2;"), "has no SIZE1 and SIZE2");
  expectError(replaced("SIZE2=2;", ""), "has no SIZE1 and SIZE2");
  expectFileError([&] { readSmv(directory.path("none.img")); }, "No such file");
}

TEST_F(SmvFileTest, RefusesHeaderSizesThatDoNotFit) {
  const auto withHeaderBytes = [](const std::string &value) {
    std::string text = "{\nHEADER_BYTES=" + value + ";\n" + usual + "}";
    text.resize(512, ' ');
    return text + sixPixels;
  };
  expectError(withHeaderBytes("100"), "must have 512 or more");
  expectError(withHeaderBytes("4096"), "fit into the file of 524 bytes");
  expectError(withHeaderBytes("-512"), "no sensible size");
  expectError(withHeaderBytes(""), "HEADER_BYTES='', which is not a number");
}

} // namespace
} // namespace nanobragg::io
