// Structure factors of amorphous matter as text.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/TextFiles.h"

#include <cmath>
#include <vector>

using namespace nanobragg;

NB_FUZZ_TARGET(stol) {
  try {
    const std::vector<io::StolPoint> table = io::readStol(fuzz::fileWith(input)).points;
    fuzz::require(!table.empty(), "a table has points");
    for (std::size_t i = 0; i < table.size(); ++i) {
      fuzz::require(std::isfinite(table[i].f) && std::isfinite(table[i].stol),
                    "the numbers of a table are finite");
      fuzz::require(i == 0 || table[i].stol > table[i - 1].stol, "the first column ascends");
    }
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
