#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::StructureFactors;

bool Emitter::factorsByEnergy() const {
  return variant.structureFactors == StructureFactors::Channels ||
         variant.structureFactors == StructureFactors::Anomalous;
}

/// A whole number as an index; the remainder says how large they are.
Value Emitter::tableIndex(StringRef name, Value number, Value size) {
  Value whole = op<arith::FPToSIOp>(name, b.getI64Type(), number);
  Value index = op<arith::IndexCastOp>(name, b.getIndexType(), whole);
  return op<arith::RemUIOp>(name, index, size);
}

/// What the box of this number has at a reflection that the first one has, too.
Value Emitter::factorOfBox(StringRef name, Value nearest, Value box) {
  Value shift = mul("box_shift", box, param("F_by_energy_step"));
  Value h = add("h", op<ComponentOp>("h", nearest, 0), shift);
  Value there =
      op<VecOp>("hkl_box", h, op<ComponentOp>("k", nearest, 1), op<ComponentOp>("l", nearest, 2));
  return op<StructureFactorOp>(name, b.getF64Type(), Interpolation::nearest, param("F_by_energy"),
                               there, number(0), /*integral=*/true);
}

/// f' or f'' of a kind at the energy of the source, on the line between two entries of the table.
Value Emitter::dispersionOf(StringRef name, StringRef table, int64_t kind, Value source) {
  Value energies = toFloat("f_prime_energies", param("f_prime_energies"));
  Value first = mul("kind_entry", number(double(kind)), energies);
  Value entry = add("entry", first, lookup("entry", "source_table_entry", source));
  const auto at = [&](Value number) {
    return lookup(name, table, tableIndex("entry", number, param("f_prime_count")));
  };
  Value fraction = lookup("fraction", "source_table_fraction", source);
  // Of a table with one energy, what is taken for the next is another's and counts for nothing.
  Value below = mul(name, op<arith::SubFOp>("rest", number(1), fraction), at(entry));
  return add(name, below, mul(name, fraction, at(add("next_entry", entry, number(1)))));
}

Value Emitter::channelFactor(Value nearest, Value source) {
  return factorOfBox("F_channel", nearest, lookup("channel", "source_channel", source));
}

/// |F + sum over kinds (f' + i f'') A|^2 with the sums A over the atoms of a kind.
Value Emitter::anomalousFactorSquared(Value nearest, Value inside, Value source) {
  Value real = factorOfBox("F_real", nearest, number(0));
  Value imaginary = factorOfBox("F_imaginary", nearest, number(1));
  for (int kind = 0; kind != variant.anomalousKinds; ++kind) {
    Value a = factorOfBox("A_real", nearest, number(2 + 2 * kind));
    Value c = factorOfBox("A_imaginary", nearest, number(3 + 2 * kind));
    Value f1 = dispersionOf("f_prime", "f_prime", kind, source);
    Value f2 = dispersionOf("f_double_prime", "f_double_prime", kind, source);
    real = add("F_real", real,
               op<arith::SubFOp>("F_real", mul("F_real", f1, a), mul("F_real", f2, c)));
    imaginary = add("F_imaginary", imaginary,
                    add("F_imaginary", mul("F_imaginary", f1, c), mul("F_imaginary", f2, a)));
  }
  Value square =
      add("F_squared", mul("F_squared", real, real), mul("F_squared", imaginary, imaginary));
  Value outside = param("default_F");
  return op<arith::SelectOp>("F_squared", inside, square, mul("F_squared", outside, outside));
}

/// With factorsByEnergy().
Value Emitter::squaredStructureFactor(Value hkl, Value source) {
  Value nearest = op<NearestMillerIndexOp>("hkl0", hkl);
  Value inside = op<InGridOp>("in_grid", b.getI1Type(), Interpolation::nearest, param("F"), nearest,
                              /*integral=*/true);
  if (variant.structureFactors == StructureFactors::Anomalous)
    return anomalousFactorSquared(nearest, inside, source);
  Value factor =
      op<arith::SelectOp>("F_cell", inside, channelFactor(nearest, source), param("default_F"));
  return mul("F_squared", factor, factor);
}
