// Tables of f' and f'' as text.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/AnomalousFiles.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace nanobragg;

NB_FUZZ_TARGET(dispersion) {
  try {
    const io::DispersionTable table = io::readDispersion(fuzz::fileWith(input));
    const std::size_t entries = table.labels.size() * table.energies.size();
    fuzz::require(entries > 0 && table.fPrime.size() == entries &&
                      table.fDoublePrime.size() == entries,
                  "each kind has f' and f'' at each energy");
    fuzz::require(table.energies.front() > 0 &&
                      std::ranges::is_sorted(table.energies, std::ranges::less_equal()),
                  "energies ascend from above 0");
    for (const std::vector<double> *column : {&table.energies, &table.fPrime, &table.fDoublePrime})
      fuzz::require(std::ranges::all_of(*column, [](double x) { return std::isfinite(x); }),
                    "the numbers of a table are finite");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
