// Which flag a parameter comes from.
#ifndef NANOBRAGG_PROGRAM_FLAGOF_H
#define NANOBRAGG_PROGRAM_FLAGOF_H

#include <string_view>

namespace nanobragg {

/// The flag of nb-sim that gives a parameter its value, the first where several do: "-cell" of
/// "cell_b". Empty where no flag does so by itself.
std::string_view flagOf(std::string_view parameter);

} // namespace nanobragg
#endif
