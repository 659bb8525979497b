#include "tools/nb-run/Arguments.h"

#include "dialect/NB.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/HklFile.h"
#include "lib/Images/NpyFile.h"
#include "lib/Program/Parameters.h"

#include "mlir/Support/DebugStringHelper.h"

#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>

namespace io = nanobragg::io;

namespace mlir::nb {
namespace {

/// An array as given: by numbers it has one dimension.
struct Given {
  SmallVector<int64_t> shape;
  std::vector<double> numbers;
  bool isArray = false; ///< from a file, so that its shape says something
};

} // namespace

/// Brings one word into the form that an argument's type asks for.
class ArgumentParser {
public:
  ArgumentParser(std::string name, Type type, std::string text, Arguments::Memory &memory)
      : name(std::move(name)), type(type), text(std::move(text)), memory(memory) {}

  InterpreterArgument parse() {
    if (isa<HklGridType>(type))
      return {grid(), {}};
    if (auto table = dyn_cast<TableType>(type))
      return this->table(table);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return this->tensor(tensor);
    Given given = read(text);
    size_t count = isa<Vec3Type>(type) ? 3 : isa<Mat3Type>(type) ? 9 : 1;
    if (given.numbers.size() != count)
      refuse("takes " + std::to_string(count) + " number(s), not " +
             std::to_string(given.numbers.size()));
    return {isa<IndexType, IntegerType>(type) ? integers(given) : numbers(given), {}};
  }

private:
  [[noreturn]] void refuse(const std::string &why) const {
    throw std::runtime_error("--arg " + name + "=" + text + ": an argument of type " +
                             debugString(type) + " " + why);
  }

  Given read(const std::string &word) const {
    Given given;
    if (llvm::StringRef(word).ends_with(".npy")) {
      io::NpyArray array = io::readNpy(word);
      given.isArray = true;
      given.shape.assign(array.shape.begin(), array.shape.end());
      std::visit([&](const auto &v) { given.numbers.assign(v.begin(), v.end()); }, array.values);
      return given;
    }
    SmallVector<StringRef> parts;
    StringRef(word).split(parts, ',');
    for (StringRef part : parts) {
      double value = 0;
      part = part.trim();
      auto [end, error] = std::from_chars(part.begin(), part.end(), value);
      if (error != std::errc{} || end != part.end())
        refuse("cannot be '" + part.str() + "'; give numbers or a .npy file");
      given.numbers.push_back(value);
    }
    given.shape.push_back(int64_t(given.numbers.size()));
    return given;
  }

  const void *numbers(Given &given) {
    memory.numbers = std::move(given.numbers);
    return memory.numbers.data();
  }

  const void *integers(const Given &given) {
    for (double value : given.numbers) {
      memory.integers.push_back(whole(value));
    }
    return memory.integers.data();
  }

  /// Whole numbers up to 2^53 are exact as given.
  int64_t whole(double value) const {
    if (value != std::floor(value))
      refuse("takes whole numbers");
    if (!(std::abs(value) <= double(int64_t(1) << 53)))
      refuse("takes numbers up to 9007199254740992");
    return int64_t(value);
  }

  InterpreterArgument table(TableType table) {
    Given given = read(text);
    Type element = table.getElementType();
    // The components of an entry may be dimensions of their own or not.
    SmallVector<SmallVector<int64_t>> entries{{}};
    if (isa<Vec3Type>(element))
      entries = {{3}};
    else if (isa<Mat3Type>(element))
      entries = {{9}, {3, 3}};
    for (ArrayRef<int64_t> entry : entries) {
      SmallVector<int64_t> shape = given.shape;
      if (!given.isArray && table.getRank() == 1 && !entry.empty()) {
        if (shape[0] % entry[0] != 0)
          continue;
        shape = {shape[0] / entry[0], entry[0]};
      }
      if (shape.size() != table.getRank() + entry.size() ||
          ArrayRef(shape).take_back(entry.size()) != entry)
        continue;
      shape.truncate(table.getRank());
      bool whole = element.isIndex() || element.isInteger();
      if (given.numbers.empty()) // one entry, which a kernel may read (KernelABI.h)
        given.numbers.resize(entry.empty() ? 1 : 9);
      return {whole ? integers(given) : numbers(given), shape};
    }
    refuse("does not fit " + std::to_string(given.numbers.size()) + " numbers in " +
           std::to_string(given.shape.size()) + " dimension(s)");
  }

  InterpreterArgument tensor(RankedTensorType tensor) {
    Given given = read(text);
    if (int64_t(given.shape.size()) != tensor.getRank())
      refuse("takes a .npy file with " + std::to_string(tensor.getRank()) + " dimensions, not " +
             std::to_string(given.shape.size()));
    SmallVector<int64_t> shape = given.shape;
    Type element = tensor.getElementType();
    if (element.isF64())
      return {numbers(given), shape};
    if (element.isF32()) {
      memory.floats.assign(given.numbers.begin(), given.numbers.end());
      return {memory.floats.data(), shape};
    }
    if (!element.isInteger(8))
      refuse("cannot be given");
    for (double value : given.numbers)
      memory.bytes.push_back(value != 0);
    return {memory.bytes.data(), shape};
  }

  const void *grid() {
    nb_hkl_grid &grid = memory.grid;
    auto [file, origin] = StringRef(text).split('@');
    if (!file.ends_with(".npy")) {
      io::HklFile read = io::readHkl(text, 0);
      const nanobragg::HklGrid &g = read.grid;
      memory.numbers = g.values;
      grid = {g.hMin, g.hMax, g.kMin, g.kMax, g.lMin, g.lMax, memory.numbers.data()};
      return &grid;
    }
    if (origin.empty())
      refuse("needs the index of the array's first node: FILE.npy@H,K,L");
    Given array = read(file.str()), first = read(origin.str());
    if (array.shape.size() != 3 || first.numbers.size() != 3)
      refuse("takes an array of three dimensions and three indices");
    int64_t low[3], high[3];
    for (unsigned i = 0; i < 3; ++i) {
      low[i] = whole(first.numbers[i]);
      high[i] = low[i] + array.shape[i] - 1;
    }
    numbers(array);
    grid = {low[0], high[0], low[1], high[1], low[2], high[2], memory.numbers.data()};
    return &grid;
  }

  std::string name;
  Type type;
  std::string text;
  Arguments::Memory &memory;
};

/// The dimensions of an experiment's image and of its tables.
static SmallVector<int64_t> shapeOf(Type type, const std::string &name,
                                    const nanobragg::Experiment &experiment) {
  if (isa<RankedTensorType>(type))
    return {experiment.imagePanels(), experiment.detector.slowPixels,
            experiment.detector.fastPixels};
  if (isa<TableType>(type))
    return {int64_t(nanobragg::findParameter(name)->place.numbers(experiment).entries)};
  return {};
}

Arguments::Arguments(func::FuncOp function, const std::vector<std::string> &words,
                     const nanobragg::Experiment *experiment) {
  if (experiment)
    values.emplace(*experiment);
  std::map<std::string, std::string> given;
  for (const std::string &word : words) {
    size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw std::runtime_error("--arg " + word + ": expected NAME=VALUE");
    if (!given.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      throw std::runtime_error("--arg " + word.substr(0, equals) + " is given twice");
  }
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    std::string name = argumentName(function, i);
    auto value = given.find(name);
    if (value == given.end())
      value = given.find("arg" + std::to_string(i));
    if (const void *known = value == given.end() && values ? values->find(name) : nullptr) {
      arguments.push_back({known, shapeOf(type, name, *experiment)});
      continue;
    }
    if (value == given.end())
      throw std::runtime_error("'" + function.getName().str() + "' has an argument '" + name +
                               "' of type " + debugString(type) + "; give it with --arg " + name +
                               "=VALUE" +
                               (experiment ? ", which the experiment lacks"
                                           : ", or the flags of an experiment after --"));
    memory.emplace_back();
    arguments.push_back(ArgumentParser(name, type, value->second, memory.back()).parse());
    given.erase(value);
  }
  if (!given.empty())
    throw std::runtime_error("'" + function.getName().str() + "' has no argument '" +
                             given.begin()->first + "'; leave it out");
}

} // namespace mlir::nb
