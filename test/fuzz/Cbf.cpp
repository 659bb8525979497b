// CBF images.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Images/CbfFile.h"

using namespace nanobragg;

NB_FUZZ_TARGET(cbf) {
  try {
    const io::CbfFile file = io::parseCbf("input", {input.data(), input.size()});
    fuzz::require(std::size_t(file.panels * file.fastPixels * file.slowPixels) ==
                      file.pixels.size(),
                  "the pixels fill the image");
    std::vector<std::uint8_t> bytes;
    io::compressByteOffset(file.pixels, bytes);
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    fuzz::require(io::decompressByteOffset("input", text, file.pixels.size()) == file.pixels,
                  "what is compressed comes back");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
