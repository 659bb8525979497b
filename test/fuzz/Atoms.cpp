// Positions of anomalous scatterers as text.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/AnomalousFiles.h"

#include <cmath>

using namespace nanobragg;

NB_FUZZ_TARGET(atoms) {
  try {
    const io::AtomFile file = io::parseAtoms(fuzz::fileWith(input), {input.data(), input.size()});
    fuzz::require(!file.atoms.empty(), "a list of atoms has atoms");
    for (const io::LabelledAtom &atom : file.atoms) {
      fuzz::require(atom.occupancy > 0 && std::isfinite(atom.occupancy) && atom.b >= 0 &&
                        std::isfinite(atom.b),
                    "occupancies are positive, and widths not negative");
      for (double x : atom.position)
        fuzz::require(std::fabs(x) <= 100, "positions are fractions of the edges");
    }
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
