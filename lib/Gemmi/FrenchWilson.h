// Amplitudes from intensities that are weak, or below zero.
#ifndef NANOBRAGG_GEMMI_FRENCHWILSON_H
#define NANOBRAGG_GEMMI_FRENCHWILSON_H

#include "lib/Gemmi/Expansion.h"

#include <gemmi/unitcell.hpp>
#include <vector>

namespace nanobragg::io {

struct ExpectedAmplitude {
  double F, sigma;
};

/// The mean of F and its standard deviation, where an intensity was measured with a normal error
/// `sigma` and Wilson's distribution of mean `expected` is what is known before (S. French and
/// K. Wilson, Acta Cryst. A34 (1978) 517-525). sigma, expected > 0.
ExpectedAmplitude frenchWilson(double intensity, double sigma, double expected, bool centric);

/// Puts amplitudes in the place of intensities that are complete(). Intensities are expected to be
/// means of shells of resolution, times the multiplicity of symmetry; for absences of the group, 0.
void toAmplitudes(std::vector<UniqueReflection> &reflections, const gemmi::UnitCell &cell,
                  const gemmi::SpaceGroup &group);

} // namespace nanobragg::io
#endif
