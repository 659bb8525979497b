#include "lib/Transforms/Reach/ReachWriter.h"

#include "lib/Transforms/Averages/CurvedPixel.h"
#include "lib/Transforms/Invariants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nb;

bool ReachWriter::findLoops(Operation *op, const char *what, SmallVectorImpl<ImageLoop> &loops) {
  for (; op != image; op = op->getParentOp()) {
    auto sum = dyn_cast<SumOp>(op);
    if (!sum)
      return refuse(op, Twine("only sums may stand between the image and ") + what);
    for (unsigned i = sum.getCounts().size(); i-- > 0;) {
      if (isDefinedIn(sum.getCounts()[i], image))
        return refuse(sum, "how often it runs depends on the pixel");
      loops.insert(loops.begin(), ImageLoop{sum, i});
    }
  }
  return true;
}

bool ReachWriter::dependsOnPixel(Value value, ValueRange allowed) {
  return dependsOnMore(value, image, allowed);
}

Value ReachWriter::constant(double value) {
  return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
}

Value ReachWriter::number(Value index) {
  Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  return arith::SIToFPOp::create(b, loc, b.getF64Type(), integer);
}

Value ReachWriter::countOf(ArrayRef<ImageLoop> over) {
  Value count = constant(1);
  for (const ImageLoop &loop : over)
    count = arith::MulFOp::create(b, loc, count, number(loop.count()));
  return count;
}

ReachWriter::Counts ReachWriter::countsOf(ArrayRef<ImageLoop> over) {
  return llvm::map_to_vector(
      over, [](const ImageLoop &loop) { return std::pair(loop.count(), loop.dimension()); });
}

Value ReachWriter::tabulate(Location at, Type type, Counts counts,
                            function_ref<Value(ValueRange)> body) {
  if (counts.empty())
    counts.push_back({arith::ConstantIndexOp::create(b, loc, 1), Dimension::panel});
  const auto names = llvm::map_to_vector(counts, [&](auto count) -> Attribute {
    return DimensionAttr::get(b.getContext(), count.second);
  });
  auto table = TabulateOp::create(
      b, at, TableType::get(unsigned(counts.size()), type),
      llvm::map_to_vector(counts, [](auto count) { return count.first; }), b.getArrayAttr(names));
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&table.getBody());
  for (size_t i = 0; i != counts.size(); ++i)
    block->addArgument(b.getIndexType(), loc);
  YieldOp::create(b, loc, body(block->getArguments()));
  return table.getResult(0);
}

ReachNumbers ReachWriter::numbersOfImage() {
  using N = nb_reach_numbers;
  ReachNumbers numbers(constant(0));
  numbers[&N::panels] = number(image.getCounts()[0]);
  numbers[&N::slow_pixels] = number(image.getCounts()[1]);
  numbers[&N::fast_pixels] = number(image.getCounts()[2]);
  numbers[&N::fast_max] = numbers[&N::fast_pixels];
  numbers[&N::slow_max] = numbers[&N::slow_pixels];
  constexpr double N::*roi[] = {&N::fast_min, &N::fast_max, &N::slow_min, &N::slow_max};
  for (auto [i, bound] : llvm::enumerate(image.getRoi()))
    numbers[roi[i]] = number(bound);
  numbers[&N::block_fast] = numbers[&N::block_slow] = constant(1);
  return numbers;
}

void ReachWriter::addPlace(PixelPositionOp position, ReachTables &tables,
                           function_ref<Value(Value)> tabulateOfPanels) {
  using T = nb_reach_tables;
  tables[&T::origin] = tabulateOfPanels(position.getOrigin());
  tables[&T::fast_axis] = tabulateOfPanels(position.getFastAxis());
  tables[&T::slow_axis] = tabulateOfPanels(position.getSlowAxis());
  tables[&T::normal] = tabulateOfPanels(position.getNormal());
}
