"""Limits of the explanation of a still: tables and pictures."""

import numpy

from . import _report
from ._explain import displacements, squares
from ._misfit import causes
from ._panels import BEAM

_DIRECTION, _ANGLE = numpy.radians(8.0), numpy.radians(0.04)  # neighbours, whose displacements are like a spot's
_CAUSES, _PARTIAL = 3, 0.2  # causes of the misfit, and partiality of reflections, that are shown
_FEWEST, _MOST = 50, 2000  # spots that are compared


def _by(values, label, chi2, profiles, data, model, bins=8):
    """Means over bins of values with as many spots each."""
    rows = [(f"{values[p].mean():.4g}", len(p), f"{chi2[p].mean():.3g}", f"{profiles[p].mean():.3g}",
             f"{data[p].sum():.4g}", f"{data[p].sum() / max(model[p].sum(), 1e-9):.3f}")
            for p in numpy.array_split(numpy.argsort(values), bins) if len(p)]
    return _report.table([label, "spots", "chi-square", "with intensities of their own", "photons", "data / model"], rows)


def foretold(off, direction, angle):
    """Which part of the variance of displacements those of a spot's neighbours foretell, its own
    left out: of neighbours in direction and angle off the sphere, in direction alone, in angle
    alone. off: (spots, 2). direction: unit vectors, (spots, 3). angle: rad."""
    turned = (numpy.arccos(numpy.clip(direction @ direction.T, -1, 1)) / _DIRECTION)**2
    apart = ((angle[:, None] - angle) / _ANGLE)**2

    def part(distance):
        weights = numpy.exp(-0.5 * distance)
        numpy.fill_diagonal(weights, 0)
        guess = weights @ off / (weights.sum(axis=1) + 0.5)[:, None]  # towards 0 where there are few
        return max(1 - ((off - guess)**2).sum() / ((off - off.mean(axis=0))**2).sum(), 0.0)

    return part(turned + apart), part(turned), part(apart)


def _places(boxes, result):
    """A paragraph on what displacements of bright spots follow."""
    bright, off = displacements(boxes, result.image)
    hkl, off = boxes.hkl[bright][:_MOST], off[:_MOST]
    if len(hkl) < _FEWEST:
        return []
    lattice = hkl[:, 3] if hkl.shape[1] > 3 else numpy.zeros(len(hkl), int)
    q = numpy.einsum("nij,nj->ni", numpy.array([one.matrix for one in result.lattices])[lattice], hkl[:, :3])
    length, wave = numpy.linalg.norm(q, axis=1), 1 / (1e10 * result.values["wavelength"])
    angle = (numpy.linalg.norm(wave * BEAM + q, axis=1) - wave) / length
    both, direction, alone = foretold(off, q / length[:, None], angle)
    return [f"<p>Places of {len(hkl)} bright spots: neighbours in direction (8 degrees) and angle off the sphere (0.04 degrees) "
            f"predict {both:.0%} of the variance of their displacements, neighbours in direction alone {direction:.0%}, in angle "
            f"alone {alone:.0%}. The part that only both together predict is detail of the crystal's orientations that its sets of "
            "mosaic blocks lack.</p>"]


def _detector(still):
    """The detector with spots and reflections."""
    result, at = still.explained.integrated, still.found.at
    return ["<h3>Spots and reflections</h3>", _report.places(still.shape, [
        (result.at[result.partiality > _PARTIAL], 3.5, "#ccc", f"reflections of a partiality above {_PARTIAL}"),
        (at[still.of >= 0], 1.5, "#1f5fa8", "indexed spots"), (at[still.of < 0], 2.5, "#c33", "spots that are not indexed")])]


def still_page(still, boxes, dark_pixels, pictures=6):
    """HTML of a still that was explained. dark_pixels: of a box about a reflection without a spot.
    """
    result = still.explained
    at, hkl = still.found.at[still.explained_spots], still.of_spots("hkl")[still.explained_spots]
    of = still.of[still.explained_spots]
    count = numpy.maximum(boxes.sums(numpy.ones(len(boxes.data))), 1)
    chi2 = boxes.sums(squares(boxes, result.image)) / count
    profiles = boxes.sums(squares(boxes, result.light)) / count
    data, model = boxes.sums(boxes.data - boxes.background), boxes.sums(result.image)
    matrices = numpy.array([lattice.matrix for lattice in result.lattices])[of]
    q2 = (numpy.einsum("nij,nj->ni", matrices, hkl)**2).sum(axis=1)
    away = still.fitted.detector.across(at)
    parts = [f"<p>Chi-square {result.chi2:.3g} per pixel of {len(hkl)} boxes; {result.chi2_profiles:.3g} with a free "
             f"intensity for each spot; background {still.chi2_background:.3f}.</p>"]
    if against := causes(still, boxes, dark_pixels)[:_CAUSES]:
        parts.append("<h3>Largest causes of the misfit</h3><ol>" + "".join(_report.element("li", f"{amount:.3g} per pixel: {why}")
                                                                           for amount, why in against) + "</ol>")
    parts += _detector(still)
    parts += _places(boxes, result)
    if result.degenerate:
        parts.append("<p>The pixels cannot separate these parameters; restrain one of each group (--restrain): "
                     + "; ".join(result.degenerate) + ".</p>")
    parts += [_by(numpy.sqrt(q2), "1/d (1/Å)", chi2, profiles, data, model),
              _by(data, "photons of the spot", chi2, profiles, data, model),
              _by(numpy.degrees(numpy.arctan2(away[:, 1], away[:, 0])), "direction on the detector (degrees)", chi2, profiles,
                  data, model),
              _report.numbers(result.numbers, result.misfit)]
    worst = numpy.argsort(-chi2)[:pictures]
    bright = [i for i in numpy.argsort(-data) if i not in worst][:pictures]
    name_of = lambda i: f" of lattice {of[i]}" if len(result.lattices) > 1 else ""
    for title, some in (("The worst spots", worst), ("Brightest of the others", bright)):
        parts.append(f"<h3>{title}</h3><p>Data, model, and residual from -5 sigmas (white) to 5 (black).</p><div>")
        for i in some:
            parts.append("<figure>" + _report.pictures_of(*_images(boxes, boxes.box == i, result.image)) + f"<figcaption>{hkl[i][0]} {hkl[i][1]} {hkl[i][2]}{name_of(i)}: chi-square "
                         f"{chi2[i]:.3g}, {profiles[i]:.3g}</figcaption></figure>")
        parts.append("</div>")
    return parts


def _images(boxes, pixels, model):
    rows = boxes.rows[pixels]
    low, high = rows.min(axis=0), rows.max(axis=0) + 1
    pair = numpy.full((2, *(high - low)), numpy.nan)
    where = tuple((rows - low).T)
    pair[0][where] = boxes.data[pixels]
    pair[1][where] = (boxes.background + model)[pixels]
    return pair
