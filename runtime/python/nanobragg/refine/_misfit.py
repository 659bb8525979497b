"""Causes of the misfit of a still."""

import numpy

from ._background import variance
from ._explain import displacements, squares

_LIT = 0.5  # light of a pixel that is a spot's, in standard deviations of the background's photons
_AGAINST = 0.01  # chi-square per pixel that is worth a line


def causes(still, boxes, pixels_of_dark):
    """Shares of chi-square per pixel of the boxes, beyond that of noise, by cause, largest first:
    (amount, sentence).

    still: explained, with its pixels. pixels_of_dark: of a box about a reflection without a spot.
    """
    result, count = still.explained, len(boxes.data)
    whole, own = squares(boxes, result.image), squares(boxes, result.light)
    lit = result.light > _LIT * numpy.sqrt(numpy.maximum(boxes.background, 1))
    shaped = float((own[lit] - 1).sum()) / count
    moved = min(_moved(still.shape, boxes, result) / count, max(shaped, 0.0))
    unseen = result.unseen * pixels_of_dark * (result.chi2_unseen - 1) / count if result.unseen else 0.0
    q = still.fitted.detector.scattering_vectors(still.found.at)
    shortest = numpy.linalg.norm(result.lattices[0].matrix, axis=0).min()
    others = (still.of < 0) & (numpy.linalg.norm(q, axis=1) > shortest / 2)  # the direct beam is no reflection
    foreign = still.boxes.chosen(others)
    strange = float(((foreign.data - foreign.background)**2 / numpy.maximum(foreign.data, 1) - 1).sum()) / count
    found = [
        (float((whole - own).sum()) / count, "intensities differ from the model's: structure factors, or the parts of reflections on the Ewald sphere "
         "(--shared=structure_factors refines the former)"),
        (moved, f"bright spots are away from their reflections, {result.rms_px:.2f} pixels (rms): modules, distortion, or details of the crystal's "
         "orientations (three and more images of a detector tell the former)"),
        (shaped - moved, "spots differ from their profiles: further sets of mosaic blocks (--sets), or the detector's point spread (--psf)"),
        (float((own[~lit] - 1).sum()) / count, "the background of spots is not the smooth one of the image"),
        (unseen, f"{result.unseen} reflections without a spot should be bright: a mosaicity that is too large, or other axes"),
        (strange, f"{others.sum()} of {still.spots} spots are not indexed: further crystals (--lattices), or another crystal form")]
    return sorted(((amount, why) for amount, why in found if amount > _AGAINST), reverse=True)


def _moved(shape, boxes, result):
    """Chi-square of the displacements of bright spots."""
    bright, off = displacements(boxes, result.image)
    light = numpy.zeros(shape)
    light[tuple(boxes.rows.T)] = result.light
    by_slow, by_fast = (slope[tuple(boxes.rows.T)] for slope in numpy.gradient(light))
    every = numpy.zeros((len(bright), 2))
    every[bright] = off
    fast, slow = every[boxes.reflection].T
    noise = variance(numpy.maximum(boxes.background + result.light, 1), boxes.calibration)
    return float(((fast * by_fast + slow * by_slow)**2 / noise).sum())
