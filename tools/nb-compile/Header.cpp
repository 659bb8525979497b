#include "tools/nb-compile/Header.h"

#include "lib/Program/ParameterShape.h"
#include "lib/Program/Parameters.h"

namespace nanobragg {
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
