#include "tools/nb-compile/Header.h"

#include "lib/Experiment/ParameterShape.h"
#include "lib/Experiment/Parameters.h"

namespace nanobragg {

std::string headerText(std::string_view variant, const std::string &symbol) {
  const std::string function = symbol.empty() ? "nb_kernel_get_descriptor" : symbol;
  std::string text = "/* A kernel of nanobragg-mlir; variant: " + std::string(variant) +
                     "\n *\n * Parameters, for nb_set_f64() and its like of nanobragg.h:\n";
  for (const Parameter *p : parametersOf(ProgramVariant::fromString(variant))) {
    const std::string kind = kindText(p->kind());
    text += " *   " + std::string(p->name) + ": " + kind + shapeText(p->name, kind) + " [" +
            p->unit + "], " + p->meaning + "\n";
  }
  text += " */\n#pragma once\n#include <nanobragg/KernelABI.h>\n\n"
          "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
          "const nb_kernel_descriptor *" +
          function + "(void);\n";
  return text;
}

} // namespace nanobragg
