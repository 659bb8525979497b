// A table of reflections in the place of an image of averages.
#ifndef NB_TRANSFORMS_TABULATEREFLECTIONS_H
#define NB_TRANSFORMS_TABULATEREFLECTIONS_H

#include "lib/Transforms/Averages/DrawnSum.h"

namespace mlir::nb {

/// The image of the sum has a reflection in the place of each pixel, and a result for each column
/// of the table (nanobragg/ReflectionColumns.h). The function's arguments `reflection_h`,
/// `reflection_k` and `reflection_l` say which one, `pixel_fast` and `pixel_slow` where on the
/// detector it is about; in a rotation, `reflection_turn` says at what angle, and
/// `reflection_begin` and `reflection_end` what part of the step it is. With a continuous spectrum,
/// `reflection_wavelength` says about which wavelength, and those two what part of the spectrum.
/// False where something else is in the way, saying at `drawn.where` why.
bool tabulateReflections(DrawnSum &drawn, SumOp sum, func::FuncOp func,
                         const Quadrature &quadrature);

} // namespace mlir::nb

#endif
