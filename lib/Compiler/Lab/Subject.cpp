#include "lib/Compiler/Lab/Subject.h"

#include "lib/Compiler/CodeGen/DescribeFunction.h"
#include "lib/Compiler/CodeGen/Progress.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/Pipeline.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Compiler/Pipelines/ValueNames.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Program/Parameters.h"
#include "lib/Transforms/Passes.h"

#include "lib/Transforms/OpenText.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

using namespace mlir;
using namespace mlir::nb;

Subject::Subject(const nanobragg::Experiment &experiment, const nanobragg::CompileOptions &options)
    : context(MLIRContext::Threading::DISABLED), experiment(experiment), values(experiment) {
  restrictToAll();
  centre = {(rendered.firstRow + rendered.lastRow + 1) / 2,
            (rendered.firstColumn + rendered.lastColumn + 1) / 2};
  loadForInterpreter(context);
  registerPassesOnce();
  DialectRegistry registry;
  if (auto error = loadPlugins(options.passes.plugins, registry))
    throw std::runtime_error(llvm::toString(std::move(error)));
  context.appendDialectRegistry(registry);
}

/// A kernel makes photons, which is what is measured and compared: point spread is not its work.
static void leavePointSpread(ModuleOp program) {
  FlaggedPassManager passes(program.getContext());
  passes.addPass(createSplitResponse());
  if (failed(passes.run(program)))
    throw std::runtime_error("nb-split-response failed on the program");
}

std::unique_ptr<Subject> Subject::ofExperiment(const nanobragg::Experiment &experiment,
                                               const nanobragg::CompileOptions &options) {
  std::unique_ptr<Subject> subject(new Subject(experiment, options));
  nanobragg::ProgramVariant variant = experiment.variant;
  variant.imageType = nanobragg::ImageType::F64; // f32 would hide differences
  subject->program = buildProgram(subject->context, variant, options.cull);
  leavePointSpread(*subject->program);
  subject->from = "the experiment";
  subject->own = true;
  return subject;
}

std::unique_ptr<Subject> Subject::ofFile(const std::string &file,
                                         const nanobragg::Experiment &experiment,
                                         const nanobragg::CompileOptions &options) {
  std::string why;
  auto buffer = openText(file, &why);
  if (!buffer)
    throw std::runtime_error(why);
  return ofProgram(std::move(buffer), experiment, options);
}

std::unique_ptr<Subject> Subject::ofProgram(std::unique_ptr<llvm::MemoryBuffer> text,
                                            const nanobragg::Experiment &experiment,
                                            const nanobragg::CompileOptions &options) {
  std::unique_ptr<Subject> subject(new Subject(experiment, options));
  const std::string file = text->getBufferIdentifier().str();
  std::string message;
  ScopedDiagnosticHandler handler(&subject->context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = sentenceOf(diagnostic);
  });
  auto parsed = parseNamed(std::move(text), subject->context);
  if (!parsed)
    throw std::runtime_error("'" + file + "' cannot be read: " + message);
  subject->from = file;
  auto progress = progressOf(*parsed);
  if (progress && *progress != Progress::Program && *progress != Progress::Lanes) {
    subject->meaning = buildProgram(subject->context, experiment.variant, options.cull);
    leavePointSpread(*subject->meaning);
    subject->program = std::move(parsed);
    return subject;
  }
  llvm::consumeError(progress.takeError());
  auto found = findImageFunction(*parsed);
  if (!found)
    throw std::runtime_error("'" + file + "': " + llvm::toString(found.takeError()));
  subject->program = isolate(*found);
  leavePointSpread(*subject->program);
  // The function that differentiation looks for.
  for (auto function : subject->program->getOps<func::FuncOp>())
    if (function.getName() == found->getName())
      function.setName("image");
  return subject;
}

func::FuncOp Subject::function(ModuleOp of) const {
  auto found = findImageFunction(of);
  if (found)
    return *found;
  llvm::consumeError(found.takeError());
  return {};
}

RunArguments Subject::arguments(ArrayRef<std::string> names) {
  RunArguments arguments;
  for (const std::string &name : names) {
    const void *value = nullptr;
    StringRef about = name;
    const bool derivative = about.ends_with("_cotangent") || about.consume_front("tangent.");
    if (derivative) {
      auto [panels, slow, fast] = shape();
      ones.assign(std::max<size_t>(ones.size(), size_t(panels * slow * fast)), 1.0);
      value = ones.data();
    } else if (name == "roi_slow_min") {
      value = &rendered.firstRow;
    } else if (name == "roi_slow_max") {
      value = &rendered.lastRow;
    } else if (name == "roi_fast_min") {
      value = &rendered.firstColumn;
    } else if (name == "roi_fast_max") {
      value = &rendered.lastColumn;
    } else {
      value = values.find(name);
    }
    if (!value)
      throw std::runtime_error(
          from + " has an argument '" + name +
          "', for which the experiment has no value; call it by nb.name as a parameter that nb-sim "
          "--list-parameters prints, or give the flags of an experiment that has it");
    arguments.push_back({value, {}});
  }
  return arguments;
}

RunArguments Subject::arguments(func::FuncOp of) {
  SmallVector<std::string> names;
  for (unsigned i = 0; i != of.getNumArguments(); ++i)
    names.push_back(argumentName(of, i));
  RunArguments values = arguments(names);
  for (auto [value, type] : llvm::zip(values, of.getArgumentTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getRank() == 3) {
      auto size = shape();
      value.shape.assign(size.begin(), size.end());
    }
  return values;
}

RunArguments Subject::arguments(const nb_kernel_descriptor &kernel) {
  SmallVector<std::string> names;
  for (unsigned i = 0; i != kernel.num_parameters; ++i)
    names.push_back(kernel.parameters[i].name);
  return arguments(names);
}

std::array<int64_t, 3> Subject::shape() {
  // The names are those of the program as it was read, whose counts need no cotangent.
  SmallVector<std::string> names;
  func::FuncOp image = function();
  for (unsigned i = 0; i != image.getNumArguments(); ++i)
    names.push_back(argumentName(image, i));
  auto shape = imageShape(image, arguments(names));
  if (!shape)
    throw std::runtime_error(llvm::toString(shape.takeError()));
  return *shape;
}

Subject::Part Subject::whole() const {
  const nanobragg::Detector &d = experiment.detector;
  return {d.roiSlowMin, d.roiSlowMax, d.roiFastMin, d.roiFastMax};
}

static double pixelsOf(const Subject::Part &part) {
  return double(part.lastRow - part.firstRow + 1) * double(part.lastColumn - part.firstColumn + 1);
}

double Subject::samples() const {
  const auto *panels = nanobragg::findParameter("panel_count");
  return pixelsOf(whole()) * double(panels ? panels->place.index(experiment) : 1) *
         nanobragg::samplesPerPixel(experiment);
}

double Subject::share() const { return pixelsOf(rendered) / pixelsOf(whole()); }

/// As many of first to last, around the centre where that can be.
static std::pair<int64_t, int64_t> choose(int64_t count, int64_t centre, int64_t first,
                                          int64_t last) {
  const int64_t begin = std::clamp(centre - count / 2, first, std::max(first, last + 1 - count));
  return {begin, std::min(begin + count - 1, last)};
}

void Subject::restrictTo(double most) {
  restrictToAll();
  bool canBe = false;
  for (unsigned i = 0; i != function().getNumArguments(); ++i)
    canBe |= argumentName(function(), i) == "roi_slow_min";
  const Part all = rendered;
  const double wanted = most / samples() * pixelsOf(all); // pixels
  if (!canBe || !(wanted < pixelsOf(all)))
    return;
  constexpr int64_t fewestColumns = 16; // whole lanes
  const int64_t columns = all.lastColumn - all.firstColumn + 1;
  const auto rows = std::max<int64_t>(1, int64_t(wanted / double(columns)));
  std::tie(rendered.firstRow, rendered.lastRow) =
      choose(rows, centre.first, all.firstRow, all.lastRow);
  if (wanted < double(columns))
    std::tie(rendered.firstColumn, rendered.lastColumn) = choose(
        std::max(fewestColumns, int64_t(wanted)), centre.second, all.firstColumn, all.lastColumn);
}

std::vector<std::string> Subject::usualParameters(size_t most) {
  std::vector<std::string> names;
  func::FuncOp image = function();
  SmallVector<std::string> there;
  for (unsigned i = 0; i != image.getNumArguments(); ++i)
    there.push_back(argumentName(image, i));
  for (StringRef name :
       {"cell_a", "misset_x", "distance", "wavelength", "mosaic_spread", "default_F"})
    if (names.size() < most && llvm::is_contained(there, name))
      names.push_back(name.str());
  return names;
}
