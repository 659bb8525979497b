// The pipelines: which stages a kernel goes through.
#ifndef NB_COMPILER_PIPELINES_H
#define NB_COMPILER_PIPELINES_H

#include "lib/Compiler/Pipelines/Stages.h"
#include "lib/Target/GpuVendor.h"
#include "lib/Transforms/PrecisionOption.h"

#include "mlir/Pass/PassOptions.h"

/// "vjp(cell_a,distance)" on the command line of nb-opt.
template <>
class llvm::cl::parser<nanobragg::Derivative>
    : public llvm::cl::basic_parser<nanobragg::Derivative> {
public:
  using llvm::cl::basic_parser<nanobragg::Derivative>::basic_parser;
  bool parse(Option &option, StringRef, StringRef text, nanobragg::Derivative &value);
  static void print(raw_ostream &out, const nanobragg::Derivative &value) {
    out << value.toString();
  }
  void printOptionDiff(const Option &option, const nanobragg::Derivative &,
                       const OptionValue<nanobragg::Derivative> &, size_t width) const {
    printOptionNoValue(option, width);
  }
};

namespace mlir::nb {

/// The options of all pipelines; the command line and the compiler library share the structures.
template <typename Options>
struct CommonOptions : PassPipelineOptions<Options> {
  template <typename T>
  using Option = typename PassPipelineOptions<Options>::template Option<T>;

  Option<nanobragg::Derivative> derivative{
      *this, "derivative",
      llvm::cl::desc("none, or the program of derivatives with respect to arguments: "
                     "jacobian, jvp, vjp or hvp, as vjp(cell_a,distance)"),
      llvm::cl::init(nanobragg::Derivative())};
  Option<std::string> untilBefore{*this, "until-before", llvm::cl::desc("stop ahead of this stage"),
                                  llvm::cl::init("")};
  Option<std::string> untilAfter{*this, "until-after", llvm::cl::desc("stop behind this stage"),
                                 llvm::cl::init("")};
};

template <typename Options>
struct KernelOptions : CommonOptions<Options> {
  typename CommonOptions<Options>::template Option<nanobragg::Precision> precision{
      *this, "precision", llvm::cl::desc("f64, mixed or f32"),
      llvm::cl::init(nanobragg::Precision::F64), precisionValues()};
};

/// Options of --nb-interpreter-pipeline.
struct InterpreterPipelineOptions : CommonOptions<InterpreterPipelineOptions> {};

/// Options of --nb-cpu-pipeline.
struct CpuPipelineOptions : KernelOptions<CpuPipelineOptions> {
  Option<int64_t> width{*this, "width", llvm::cl::desc("lanes: pixels computed at once"),
                        llvm::cl::init(8)};
  Option<bool> estimates{*this, "estimates",
                         llvm::cl::desc("the target has AVX-512's estimates of reciprocals"),
                         llvm::cl::init(false)};
};

/// Options of --nb-gpu-pipeline.
struct GpuPipelineOptions : KernelOptions<GpuPipelineOptions> {
  /// The form of the launch that renders a tile.
  enum class Part { Device, Loops, Host };
  Option<Part> part{
      *this, "part", llvm::cl::desc("which part of a GPU's kernel"), llvm::cl::init(Part::Device),
      llvm::cl::values(
          clEnumValN(Part::Device, "device", "the chip's, in the NVVM, ROCDL or LLVM dialect"),
          clEnumValN(Part::Loops, "loops", "all, the launch as loops of the processor"),
          clEnumValN(Part::Host, "host", "what runs on the host, without the launch"))};
  Option<std::string> chip{
      *this, "chip", llvm::cl::desc("chip of NVIDIA's or AMD's, or spirv64 for all of OpenCL"),
      llvm::cl::init("sm_90")};
  Option<std::string> features{*this, "features", llvm::cl::desc("version of PTX"),
                               llvm::cl::init("+ptx78")};
  Option<int64_t> threads{*this, "threads", llvm::cl::desc("threads of a block, whole warps"),
                          llvm::cl::init(128)};
  Option<int64_t> warp{*this, "warp",
                       llvm::cl::desc("threads that run in step; 0: as many as of the chip"),
                       llvm::cl::init(0)};
  Option<int64_t> blocks{
      *this, "blocks",
      llvm::cl::desc("blocks that a multiprocessor should hold; 0: by the size of the loops"),
      llvm::cl::init(0)};
};

/// All stages, whatever `until...` say.
Pipeline interpreterPipeline(const InterpreterPipelineOptions &options);
Pipeline cpuPipeline(const CpuPipelineOptions &options);
Pipeline gpuPipeline(const GpuPipelineOptions &options);

/// Makes the pipelines known to nb-opt under their names.
void registerPipelines();

} // namespace mlir::nb

#endif
