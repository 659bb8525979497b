#include "tools/nb-compile/Inspect.h"

#include "lib/Files/FileContents.h"
#include "lib/Program/ParameterShape.h"
#include "lib/Program/Parameters.h"
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/KernelText.h"

#include <stdexcept>

namespace nanobragg {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.append(text.size() < width ? width - text.size() : 1, ' ');
  return text;
}

KernelFileText read(const std::string &file) {
  const std::string bytes = io::readBytes(file);
  try {
    // A damaged file may say anything of itself. Objects carry no checksum.
    return readKernelText(isObjectFile(bytes) ? std::span<const char>(bytes)
                                              : decodeEntry(bytes).image);
  } catch (const std::runtime_error &error) {
    throw std::runtime_error("'" + file + "' is not a kernel file: " + error.what());
  }
}

} // namespace

std::string inspectKernel(const std::string &file) {
  const KernelFileText kernel = read(file);
  const KernelText &first = kernel.versions.front();
  std::string text = "kernel     " + first.name + "\n";
  text += std::string("file       ") +
          (kernel.object ? "object, to be linked" : "shared object, for nb-sim --kernel") + "\n";
  text += "build      " + first.build + "\n";
  text += "abi        " + first.abi + "\n";
  text += "precision  " + first.precision + "\n";
  text += "image      " + first.image + " " + imageShapeText() + "\n";
  for (const KernelText &version : kernel.versions)
    text += "target     " + version.target + "\n" + "needs      " +
            (version.features.empty() ? "nothing more" : version.features) + "\n";
  for (const KernelTextCode &code : first.codes)
    text += "code       " + code.chip + " " + code.kind + ", " +
            (code.kind == "cubin"   ? "made by CUDA "
             : code.kind == "hsaco" ? "made by LLVM "
                                    : "version ") +
            code.version + ", " + code.bytes + " bytes\n";
  text += "variant    " + (first.variant.empty() ? "of its own" : first.variant) + "\n\n";
  text += "parameter            kind        shape                 unit\n";
  for (const KernelTextParameter &p : first.parameters)
    text += padded(p.name, 21) + padded(p.kind, 12) + padded(shapeText(p.name, p.kind), 22) +
            p.unit + "\n";
  text += "\noutput               kind        shape                 unit\n";
  for (const KernelTextParameter &o : first.outputs)
    text += padded(o.name, 21) + padded(o.kind, 12) + padded(shapeText(o.name, o.kind), 22) +
            o.unit + "\n";
  return text;
}

namespace {

std::string lineOf(const std::string &name, const std::string &kind, const std::string &unit) {
  return " *   " + name + ": " + kind + shapeText(name, kind) + " [" + unit + "]";
}

/// `about`: lines of a comment.
std::string header(const std::string &about, const std::string &symbol) {
  const std::string function = symbol.empty() ? "nb_kernel_get_descriptor" : symbol;
  return "/* A kernel of nanobragg-mlir" + about +
         " */\n#pragma once\n#include <nanobragg/KernelABI.h>\n\n"
         "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
         "const nb_kernel_descriptor *" +
         function + "(void);\n";
}

} // namespace

std::string headerText(const KernelSpecification &kernel, const std::string &symbol) {
  std::string about = "; variant: " + kernel.toString() +
                      "\n *\n * Parameters, for nb_set_f64() and its like of nanobragg.h:\n";
  for (const Parameter *p : parametersOf(*kernel.variant))
    about += lineOf(p->name, kindText(p->kind()), p->unit) + ", " + p->meaning + "\n";
  return header(about, symbol);
}

std::string headerText(const KernelText &kernel, const std::string &symbol) {
  std::string about =
      " of the function " + kernel.name + "\n *\n * Parameters, in the order of its arguments:\n";
  for (const KernelTextParameter &p : kernel.parameters)
    about += lineOf(p.name, p.kind, p.unit) + "\n";
  about += " *\n * Outputs:\n";
  for (const KernelTextParameter &o : kernel.outputs)
    about += lineOf(o.name, o.kind, o.unit) + "\n";
  return header(about, symbol);
}

} // namespace nanobragg
