// A function's arguments from words.
#ifndef NB_RUN_ARGUMENTS_H
#define NB_RUN_ARGUMENTS_H

#include "lib/Compiler/Run/ExperimentValues.h"
#include "lib/Compiler/Run/RunProgram.h"

#include <deque>
#include <optional>
#include <string>

namespace mlir::nb {

/// The values of a function's arguments and the memory that they are in.
class Arguments {
public:
  /// From words NAME=VALUE in any order; an argument without one has the value of `experiment`,
  /// which may be null. VALUE is
  ///   numbers with commas between      for scalars, vectors, matrices and tables of rank 1
  ///   FILE.npy                         for these and for tables and tensors of any rank
  ///   FILE.hkl                         for a grid of structure factors
  ///   FILE.npy@H,K,L                   the same, as an array whose first node is that index
  /// Throws std::runtime_error, and io::FileError for what is wrong with a file.
  Arguments(func::FuncOp function, const std::vector<std::string> &words,
            const nanobragg::Experiment *experiment = nullptr);

  const RunArguments &get() const { return arguments; }

private:
  struct Memory {
    std::vector<double> numbers;
    std::vector<int64_t> integers;
    std::vector<float> floats;
    std::vector<uint8_t> bytes;
    nb_hkl_grid grid{};
  };
  friend class ArgumentParser;

  std::optional<ExperimentValues> values;
  std::deque<Memory> memory; ///< a deque: its elements stay where they are
  RunArguments arguments;
};

} // namespace mlir::nb

#endif
