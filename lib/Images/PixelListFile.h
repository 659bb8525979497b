// Pixels that are asked for.
#ifndef NANOBRAGG_IMAGES_PIXELLISTFILE_H
#define NANOBRAGG_IMAGES_PIXELLISTFILE_H

#include "lib/Images/ImageRegion.h"
#include "nanobragg/Run.h"

#include <string>
#include <vector>

namespace nanobragg::io {

/// Reads a table whose lines are pixels, `panel fast slow`, or boxes, `panel fast0 fast1 slow0
/// slow1`: those with fast0 <= fast < fast1 and slow0 <= slow < slow1, as bounding boxes of DIALS'
/// reflection tables. All count from 0; `#` begins a comment. In the order of the lines, boxes row
/// by row. Throws FileError, also for pixels that a detector of these panels, rows and columns does
/// not have.
std::vector<PixelIndex> readPixelList(const std::string &path, const ImageRegion &detector);

} // namespace nanobragg::io
#endif
