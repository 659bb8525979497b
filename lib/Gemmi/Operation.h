// Operations of a space group as text.
#ifndef NANOBRAGG_GEMMI_OPERATION_H
#define NANOBRAGG_GEMMI_OPERATION_H

#include <gemmi/symmetry.hpp>
#include <string>

namespace nanobragg::io {

/// "-X, 0.5+Y, 1/2-Z"; gemmi takes neither upper case nor decimal fractions. Throws
/// std::runtime_error.
gemmi::Op operationOf(const std::string &text);

} // namespace nanobragg::io
#endif
