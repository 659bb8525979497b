// Tables of amorphous scattering that need no file.
#ifndef NANOBRAGG_CHOOSE_STOCKMATERIALS_H
#define NANOBRAGG_CHOOSE_STOCKMATERIALS_H

#include "lib/Experiment/Options.h"

#include <optional>
#include <string_view>

namespace nanobragg {

/// "water" or "air", with density and molar mass; none for another name.
std::optional<BackgroundTable> stockMaterial(std::string_view name);

} // namespace nanobragg
#endif
