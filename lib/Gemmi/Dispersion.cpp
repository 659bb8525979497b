#include "lib/Gemmi/Dispersion.h"

#include <gemmi/elem.hpp>
#include <gemmi/fprime.hpp>

namespace nanobragg::io {

Dispersion cromerLiberman(const std::string &name, const std::vector<double> &energies) {
  Dispersion result;
  const gemmi::Element element(name);
  // gemmi looks at the first two letters and takes SE1 for selenium.
  const bool whole = name.size() <= 2 && std::string(element.uname()).size() == name.size();
  if (!whole || element == gemmi::El::X)
    return result;
  result.atomicNumber = element.atomic_number();
  result.weight = element.weight();
  result.fPrime.assign(energies.size(), 0);
  result.fDoublePrime.assign(energies.size(), 0);
  if (result.atomicNumber < 3 || result.atomicNumber > 92)
    return result;
  for (std::size_t i = 0; i < energies.size(); ++i)
    result.fPrime[i] =
        gemmi::cromer_liberman(result.atomicNumber, energies[i], &result.fDoublePrime[i]);
  return result;
}

} // namespace nanobragg::io
