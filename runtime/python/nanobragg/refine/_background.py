"""The background of a still: a radial profile times a field that varies slowly on the detector, and
the same product for sharp rings."""

import numpy
from scipy import ndimage

from .. import _core
from ._spots import TAIL, about_spots

_RING = 0.5  # pixels, width of the profile's steps
_WIDE, _FINE, _SHARP = 6.0, 1.0, 8.0  # steps over which the profile is averaged, likewise where a ring is sharper; sigmas that tell it
_TILE = 8  # pixels, edge of the field's
_REACHES = (8.0, 4.0, 2.0, 1.0)  # tiles, sigmas over which the field may be averaged
_BETTER = 0.998  # part of what the field leaves of tiles that were left out, below which a shorter reach explains more
_RINGS, _ABOUT, _HALO = 0.05, 151, 16  # part by which profiles of rings stand out, of steps about them; pixels about spots
_BRIGHT = 3.0  # sigmas of a pixel that is brighter
_LEAST = 20  # pixels of which a step of the profile is the mean
_AROUND, _LEAST_AROUND = 0.3, 100  # part of the pixels at one radius, and pixels, that are strong where there is a ring
_DIM, _SURE = 0.8, 5.0  # the same of a pixel beside a shadow, and sigmas
_SHADOW = 0.6  # share of the profile: what holds less is in a shadow


class Background:
    """Photons of every pixel that are of no spot.

    counts: the image. outside: pixels that can be used and have no light of a spot. radii: of the
    pixels, alike at one scattering angle. panels: slices of parts of the image that do not adjoin,
    which begin at multiples of eight pixels.

    model: photons, in the image's shape. shadows: pixels that hold much less than the others of
    their angle.
    """

    def __init__(self, counts, outside, radii, panels=None):
        counts, radii = counts.astype("f4", copy=False), radii.astype("f4", copy=False)
        ring = (radii / numpy.float32(_RING)).astype("i4")
        self.shadows = numpy.zeros_like(outside)
        for _ in range(2):  # without the shadows that the first profile shows
            smooth, sharp = self._profile(*_core.ring_sums(counts, outside, radii, _RING))
            at_radii = lambda profile: _core.at_radii(profile, radii, _RING)
            level, rings = at_radii(smooth), at_radii(sharp) if sharp.any() else numpy.float32(0)
            data, expected = (_core.tile_sums(image, outside, _TILE) for image in (counts, level + rings))
            # Tiles of fewer than some 50 photons say little of a shadow.
            dark = (expected > 50) & (data < _SHADOW * expected)
            if not dark.any():
                break
            new = outside & numpy.kron(dark, numpy.ones((_TILE, _TILE), bool))[:counts.shape[0], :counts.shape[1]]
            self.shadows |= new
            outside = outside & ~new
        on_rings = outside & (rings > 0)
        self.model, parts = level, panels or [tuple(slice(0, n) for n in counts.shape)]
        _level(self.model, counts, outside & ~on_rings, None, parts)
        if on_rings.any():
            _level(rings, counts - self.model, on_rings, _REACHES[1], parts)
            self.model += rings
        # Beside gaps and shadows there are pixels that get a part of the light.
        dim = outside & (counts < _DIM * self.model) & ((self.model - counts)**2 > _SURE**2 * numpy.maximum(self.model, 1))
        if dim.any():
            dim &= _core.dilated(~outside, _TILE)
            dim = _core.dilated(dim, 1) & outside
            self.shadows |= dim
            outside = outside & ~dim
            _level(self.model, counts, outside & ~on_rings, None, parts)
        self.outside = outside
        profile = smooth + sharp
        self._rings = (numpy.abs(profile / ndimage.median_filter(profile, _ABOUT, mode="nearest") - 1) > _RINGS)[ring]

    @staticmethod
    def _profile(number, total, squares):
        """Photons of each step of the radius: without sharp rings, and theirs. number, total,
        squares: of the pixels of each step, of their photons, and of the squares of these."""
        if not number.any():
            return numpy.full(len(number), 1e-3), numpy.zeros(len(number))
        places = numpy.arange(len(number))

        def averaged(sums, width):
            smooth = lambda values: ndimage.gaussian_filter1d(values, width, mode="constant")
            pixels, known = smooth(number), smooth(number) * 2 * numpy.pi**0.5 * width > _LEAST
            known[numpy.argmax(pixels)] = True
            return numpy.interp(places, places[known], (smooth(sums) / numpy.maximum(pixels, 1e-12))[known])

        fine, wide = averaged(total, _FINE), averaged(total, _WIDE)
        # A spot that is not masked scatters more than a ring, which is bright all around.
        scatter = numpy.maximum(averaged(squares, _FINE) - fine**2, numpy.maximum(wide, 1e-3))
        sigma = numpy.sqrt(scatter / numpy.maximum(2 * numpy.pi**0.5 * _FINE * number, 1.0))
        sharp = ndimage.maximum_filter1d(numpy.abs(fine - wide) > _SHARP * sigma, 2 * int(_WIDE) + 1)
        if sharp.all():
            return numpy.maximum(fine, 1e-3), numpy.zeros(len(number))
        smooth = numpy.maximum(numpy.where(sharp, numpy.minimum(numpy.interp(places, places[~sharp], wide[~sharp]), fine), wide), 1e-3)
        return smooth, numpy.where(sharp, numpy.maximum(fine - smooth, 0), 0.0)

    def chi2(self, counts, calibration=0.0):
        """Per pixel outside of spots; calibration: of variance()."""
        model = self.model[self.outside]
        return float(numpy.mean((counts[self.outside] - model)**2 / variance(model, calibration))) if len(model) else numpy.nan

    def share_of(self, counts, strong):
        """Part of the pixels that are bright beside their neighbours and not brighter than this
        background."""
        model = self.model[strong]
        return float(numpy.mean(counts[strong] < model + _BRIGHT * numpy.sqrt(numpy.maximum(model, 0.3)))) if len(model) else 0.0

    def parts(self, counts, spots, calibration=0.0):
        """chi2() of the smooth background, of rings, and of haloes about spots. spots: pixels of
        their light."""
        halo = _core.dilated(spots, _HALO) & self.outside
        squares = (counts - self.model)**2 / variance(numpy.maximum(self.model, 1e-6), calibration)
        mean = lambda which: float(squares[which].mean()) if which.any() else numpy.nan
        rings = self._rings & self.outside & ~halo
        return {"smooth": mean(self.outside & ~halo & ~rings), "rings": mean(rings), "haloes": mean(halo)}

    def calibration(self, counts):
        """The error of a pixel in proportion to its light that explains how far pixels are from
        this background, beyond the noise of photons: the median over tiles."""
        number = _core.tile_sums(numpy.ones_like(self.model), self.outside, _TILE)
        whole = number == _TILE**2
        if not whole.any():
            return 0.0
        mean = lambda image: _core.tile_sums(image, self.outside, _TILE)[whole] / _TILE**2
        beyond = mean((counts - self.model)**2) - mean(self.model)
        return float(numpy.sqrt(max(numpy.median(beyond / numpy.maximum(mean(self.model), 1)**2), 0.0)))


def background_of(photons, usable, strong, detector):
    """The Background of an image without pixels near strong ones, but with rings that are strong
    all around."""
    radii = detector.radii(photons.shape)
    ring, photons = radii.astype("i4"), photons.astype("f4")
    every, bright = (_core.ring_sums(photons, which, radii, 1)[0] for which in (usable, usable & strong))
    around = ndimage.maximum_filter1d(bright > numpy.maximum(_AROUND * every, _LEAST_AROUND), 2 * TAIL + 3)
    return Background(photons, usable & (around[ring] | ~about_spots(strong)), radii, detector.panels.parts(photons.shape))


def _level(model, counts, outside, reach, parts):
    """Multiplies the model by a field that varies slowly over each part of the image, so that it is
    like the counts. reach: tiles; None: as counts tell."""
    data, expected = (_core.tile_sums(image, outside, _TILE) for image in (counts, model))
    prior = 1e-3 * max(float(expected.mean()), 1e-6)  # where there are no pixels the profile is right
    if reach is None:
        reach = _reach(data, expected, prior)
    for part in parts:
        on = tuple(slice(p.start // _TILE, -(-p.stop // _TILE)) for p in part)
        smooth = lambda tiles: ndimage.gaussian_filter(tiles[on], reach, mode="constant")
        field = (smooth(data) + prior) / (smooth(expected) + prior)
        model[part] *= _at_pixels(numpy.maximum(field, 0), model[part].shape)


def _reach(data, expected, prior):
    """The reach (tiles) over which a field of half the tiles foretells the others best."""
    slow, fast = numpy.indices(data.shape)
    kept, best = (slow + fast) % 2 == 0, (numpy.inf, _REACHES[0])
    tested = ~kept & (expected > 0)
    if not tested.any():
        return best[1]
    for reach in _REACHES:
        some = [ndimage.gaussian_filter(numpy.where(kept, tiles, 0), reach, mode="constant") for tiles in (data, expected)]
        foretold = (expected * (some[0] + prior) / (some[1] + prior))[tested]
        left = numpy.mean(numpy.minimum((data[tested] - foretold)**2 / numpy.maximum(foretold, 1), 100))
        if left < _BETTER * best[0]:
            best = left, reach
    return best[1]


def variance(photons, calibration):
    """The variance of a pixel whose light is known to a fraction of it, beside the noise of
    photons."""
    return photons + (calibration * photons)**2


def _at_pixels(field, shape):
    """The field of tiles, interpolated."""
    at = [(numpy.arange(n) + 0.5) / _TILE - 0.5 for n in shape]
    rows = ndimage.map_coordinates(field, numpy.meshgrid(at[0], numpy.arange(field.shape[1]), indexing="ij"),
                                   order=1, mode="nearest", output="f4")
    whole = numpy.clip(at[1], 0, field.shape[1] - 1)
    first = numpy.minimum(whole.astype(int), max(field.shape[1] - 2, 0))
    second = numpy.minimum(first + 1, field.shape[1] - 1)
    part = (whole - first).astype("f4")
    return rows[:, first] * (1 - part) + rows[:, second] * part
