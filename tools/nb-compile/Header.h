// The C header of an ahead-of-time object.
#ifndef NANOBRAGG_NBCOMPILE_HEADER_H
#define NANOBRAGG_NBCOMPILE_HEADER_H

#include <string>
#include <string_view>

namespace nanobragg {

/// Declares the function that the object of a variant defines, and lists its parameters.
std::string headerText(std::string_view variant, const std::string &symbol);

} // namespace nanobragg
#endif
