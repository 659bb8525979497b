#include "tools/nb-run/Results.h"

#include "dialect/NB.h"
#include "lib/Images/NpyFile.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace io = nanobragg::io;

namespace mlir::nb {

/// Type of an entry of a table or tensor; other types themselves.
static Type entryType(Type type) {
  if (auto table = dyn_cast<TableType>(type))
    return table.getElementType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType();
  return type;
}

static void writeResult(const InterpreterResult &result, const std::string &file) {
  std::vector<std::size_t> shape(result.shape.begin(), result.shape.end());
  Type entry = entryType(result.type);
  if (isa<Vec3Type>(entry))
    shape.push_back(3);
  if (isa<Mat3Type>(entry))
    shape.insert(shape.end(), {3, 3});
  io::OutputFile out(file);
  if (entry.isF32()) {
    std::vector<float> values(result.values.begin(), result.values.end());
    io::writeNpy(out, shape, std::span<const float>(values));
  } else {
    io::writeNpy(out, shape, std::span<const double>(result.values));
  }
  out.commit();
}

void writeResults(const std::vector<InterpreterResult> &results,
                  const std::vector<std::string> &files) {
  if (results.size() != files.size())
    throw std::runtime_error("the function has " + std::to_string(results.size()) +
                             " result(s); give --out once for each");
  for (auto [result, file] : llvm::zip(results, files))
    writeResult(result, file);
}

/// The shortest text that reads back as the same number.
static std::string numberText(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string describeResults(const std::vector<InterpreterResult> &results) {
  std::string text;
  for (auto [i, result] : llvm::enumerate(results)) {
    text += llvm::formatv("result {0}: ", i);
    if (result.shape.empty()) {
      for (double value : result.values)
        text += numberText(value) + " ";
      text.back() = '\n';
      continue;
    }
    double sum = 0;
    for (double value : result.values)
      sum += value;
    for (int64_t extent : result.shape)
      text += llvm::formatv("{0} x ", extent);
    text.resize(text.size() - 3);
    if (!result.values.empty()) {
      auto [low, high] = std::minmax_element(result.values.begin(), result.values.end());
      text += llvm::formatv(", sum {0}, from {1} to {2}", numberText(sum), numberText(*low),
                            numberText(*high));
    }
    text += "\n";
  }
  return text;
}

} // namespace mlir::nb
