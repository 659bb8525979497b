#include "tools/nb-compile/Inspect.h"

#include "lib/Files/FileContents.h"
#include "lib/Program/ParameterShape.h"
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

} // namespace nanobragg
