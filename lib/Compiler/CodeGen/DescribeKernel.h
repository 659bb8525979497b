// A kernel's descriptor as data.
#ifndef NB_COMPILER_DESCRIBEKERNEL_H
#define NB_COMPILER_DESCRIBEKERNEL_H

#include "lib/Program/FixedCount.h"
#include "nanobragg/KernelABI.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace mlir::nb {

struct KernelParameter {
  std::string name;
  nb_parameter_kind kind;
  std::string unit;
};

struct KernelOutput {
  std::string name;
  nb_output_kind kind;
  std::string unit;
};

/// Code of a GPU's chip, as nb_device_code.
struct DeviceCode {
  std::string chip, kind, version;
  llvm::SmallVector<char, 0> bytes;
};

/// The description of one version of a kernel.
struct KernelDescription {
  std::string function = "image"; ///< whose entry points the module has
  std::string variant, target, features, precision;
  nb_image_type imageType = NB_IMAGE_F32;
  std::vector<KernelParameter> parameters;
  std::vector<KernelOutput> outputs;
  std::vector<nanobragg::FixedCount> fixed; ///< counts that are compiled in
  bool reaches = false;                     ///< the entry point `reach` is there
  // A kernel of a GPU alone has these.
  std::vector<DeviceCode> codes;
  unsigned threads = 0; ///< in a block
  unsigned warp = 0;    ///< how many of these run in step
  std::string reduce;   ///< the entry that adds up sums over pixels; empty: there are none
};

/// Adds to a module that has the entry points of description.function the constant
/// nb_kernel_descriptor of KernelABI.h under the name `symbol`. `alternative` names the descriptor
/// of the next version, which another module defines; empty: there is none.
void describeKernel(llvm::Module &module, const KernelDescription &description,
                    llvm::StringRef symbol, llvm::StringRef alternative);

/// Adds `const nb_kernel_descriptor *getter(void)`, which returns the descriptor called `symbol`.
void defineGetter(llvm::Module &module, llvm::StringRef getter, llvm::StringRef symbol);

} // namespace mlir::nb

#endif
