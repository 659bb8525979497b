#include "lib/Frontend/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::StructureFactors;

bool Emitter::factorsByEnergy() const {
  return variant.structureFactors == StructureFactors::Channels ||
         variant.structureFactors == StructureFactors::BetweenChannels ||
         variant.structureFactors == StructureFactors::Anomalous;
}

/// The value of this number's box at a reflection that the first box has, too.
Value Emitter::factorOfBox(StringRef name, Value nearest, Value box) {
  Value shift = mul("box_shift", box, param("F_by_energy_step"));
  Value h = add("h", op<ComponentOp>("h", nearest, 0), shift);
  Value there =
      op<VecOp>("hkl_box", h, op<ComponentOp>("k", nearest, 1), op<ComponentOp>("l", nearest, 2));
  return op<StructureFactorOp>(name, b.getF64Type(), Interpolation::nearest, param("F_by_energy"),
                               there, number(0), /*integral=*/true);
}

/// The wavelength that decides the energy of factors: of a continuous spectrum the sample's own,
/// else the middle of the source's.
Value Emitter::wavelengthOfFactors(Value source, const Ray &incident) {
  if (variant.bandwidth == nanobragg::Bandwidth::Spectrum)
    return incident.wavelength;
  SampleIndices middle;
  middle.source = source;
  return incidentRay(middle).wavelength;
}

/// Where between the energies of a table a wavelength is: 0 at the first one. Energies are
/// reciprocal wavelengths.
Value Emitter::energyPosition(Value wavelength, StringRef node, Value nodes) {
  Value wavenumber = div("wavenumber", number(1), wavelength);
  Value last = sub("last_node", nodes, number(1));
  return op<TablePositionOp>("energy_position", param(node), number(0), last, wavenumber);
}

/// The entries on either side of a position, and how far it is from the first to the second one.
Emitter::Between Emitter::entriesAround(Value position, Value nodes) {
  Value beforeLast = sub("before_last", nodes, number(2));
  Value inside = op<arith::MinimumFOp>("entry", position, beforeLast);
  Value first = op<math::FloorOp>("entry", op<arith::MaximumFOp>("entry", number(0), inside));
  return {first, add("next_entry", first, number(1)), sub("fraction", position, first)};
}

Value Emitter::between(StringRef name, const Between &entries,
                       llvm::function_ref<Value(Value)> at) {
  Value below = mul(name, sub("rest", number(1), entries.fraction), at(entries.first));
  return add(name, below, mul(name, entries.fraction, at(entries.second)));
}

/// An entry of a list of numbers, which may be another one for each pixel.
Value Emitter::entryOf(StringRef name, StringRef list, Value entry) {
  Value at = op<VecOp>("entry", number(0), number(0), entry);
  return op<StructureFactorOp>(name, b.getF64Type(), Interpolation::nearest, param(list), at,
                               number(0), /*integral=*/true);
}

/// f' or f'' of a kind at the energy of the light, on the line between two entries of the table.
Value Emitter::dispersionOf(StringRef name, StringRef table, int64_t kind, Value wavelength) {
  Value nodes = toFloat("energy_nodes", param("energy_nodes"));
  Value kindEntry = mul("kind_entry", number(double(kind)), nodes);
  Value position = energyPosition(wavelength, "energy_node", nodes);
  // In a table with one energy, what is taken for the second is another's and counts for nothing.
  return between(name, entriesAround(position, nodes),
                 [&](Value entry) { return entryOf(name, table, add("entry", kindEntry, entry)); });
}

/// The factor at the nearest energy, or at both around the source in proportion.
Value Emitter::channelFactor(Value nearest, Value wavelength) {
  Value nodes = toFloat("energy_nodes", param("energy_nodes"));
  Value position = energyPosition(wavelength, "energy_node", nodes);
  const auto ofChannel = [&](Value channel) { return factorOfBox("F_channel", nearest, channel); };
  if (variant.structureFactors == StructureFactors::BetweenChannels)
    return between("F_channel", entriesAround(position, nodes), ofChannel);
  return ofChannel(op<math::FloorOp>("channel", add("channel", position, number(0.5))));
}

/// |F + sum over kinds (f' + i f'') A|^2 with the sums A over the atoms of a kind.
Value Emitter::anomalousFactorSquared(Value nearest, Value inside, Value wavelength) {
  Value real = factorOfBox("F_real", nearest, number(0));
  Value imaginary = factorOfBox("F_imaginary", nearest, number(1));
  for (int kind = 0; kind != variant.anomalousKinds; ++kind) {
    Value a = factorOfBox("A_real", nearest, number(2 + 2 * kind));
    Value c = factorOfBox("A_imaginary", nearest, number(3 + 2 * kind));
    Value f1 = dispersionOf("f_prime", "f_prime", kind, wavelength);
    Value f2 = dispersionOf("f_double_prime", "f_double_prime", kind, wavelength);
    real = add("F_real", real, sub("F_real", mul("F_real", f1, a), mul("F_real", f2, c)));
    imaginary = add("F_imaginary", imaginary,
                    add("F_imaginary", mul("F_imaginary", f1, c), mul("F_imaginary", f2, a)));
  }
  Value square =
      add("F_squared", mul("F_squared", real, real), mul("F_squared", imaginary, imaginary));
  Value outside = param("default_F");
  return op<arith::SelectOp>("F_squared", inside, square, mul("F_squared", outside, outside));
}

/// With factorsByEnergy().
Value Emitter::squaredStructureFactor(Value hkl, Value wavelength) {
  Value nearest = op<NearestMillerIndexOp>("hkl0", hkl);
  Value inside = op<InGridOp>("in_grid", b.getI1Type(), Interpolation::nearest, param("F"), nearest,
                              /*integral=*/true);
  if (variant.structureFactors == StructureFactors::Anomalous)
    return anomalousFactorSquared(nearest, inside, wavelength);
  Value factor =
      op<arith::SelectOp>("F_cell", inside, channelFactor(nearest, wavelength), param("default_F"));
  return mul("F_squared", factor, factor);
}
