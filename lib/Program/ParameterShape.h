// Kinds and shapes of parameters and outputs.
#ifndef NANOBRAGG_PROGRAM_PARAMETERSHAPE_H
#define NANOBRAGG_PROGRAM_PARAMETERSHAPE_H

#include "nanobragg/KernelABI.h"

#include <string>
#include <string_view>

namespace nanobragg {

/// "f64", "table_vec3", ...
const char *kindText(nb_parameter_kind kind);
const char *kindText(nb_output_kind kind);

/// The INDEX parameter that counts the entries of a table, also that of a tangent or
/// gradient of one; empty for parameters that are no tables.
std::string_view countOf(std::string_view table);

/// The bounds of a C array of an image, "[panel_count][slow_pixels][fast_pixels]".
std::string imageShapeText();
/// As the bounds of a C array, such as "[mosaic_domains][3]"; empty for one number.
std::string shapeText(std::string_view name, std::string_view kind);

} // namespace nanobragg
#endif
