// Which samples a kernel leaves out.
#ifndef NANOBRAGG_EXPERIMENT_CULLING_H
#define NANOBRAGG_EXPERIMENT_CULLING_H

#include "lib/Experiment/Experiment.h"

#include <string>
#include <string_view>

namespace nanobragg {

/// What a program makes: of an image of f32 "exact" leaves out more, of derivatives less is dark.
enum class Makes { SingleImage, DoubleImage, Derivatives };

/// ProgramVariant::cull where `wanted` is asked for; empty: "exact". It is "off" where so many
/// samples have light that looking for them costs more than it saves: an estimate from the
/// crystal's size and the detector, see docs/culling.md.
std::string cullFor(std::string_view wanted, const Experiment &experiment, Makes makes);
/// Of the experiment's own image.
std::string cullFor(std::string_view wanted, const Experiment &experiment);

/// The text of a variant without its word on culling, by which kernel files are found.
std::string withoutCull(const std::string &variant);

/// Does a kernel that leaves out `has` keep the bound of one that leaves out `wanted`?
bool cullFits(std::string_view has, std::string_view wanted);

} // namespace nanobragg
#endif
