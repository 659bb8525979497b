"""Spots of a still: pixels that can be used, and where the light is."""

import dataclasses
import itertools

import numpy
from scipy import ndimage

from .. import _core


TAIL = 5  # pixels to which spots have light beyond their strong pixels
_SINGLE = 4  # pixels that may be at their limit without those at their side
_BRIGHT = 0.3  # part of the cutoff: pixels of more light are of a very bright spot
_STEEP, _RISE = 6.0, 0.01  # how much brighter one neighbour of a pixel that began again from zero is; the opposite one, by a part of the cutoff
_RIM, _DARKER = 0.1, 1.25  # part of the cutoff of pixels about one that is lost, and times as bright
_FULL = 0.95  # part of the cutoff from which on light is lost where some pixels began again from zero: images are corrected for distortion


@dataclasses.dataclass
class Spots:
    """Connected pixels that are brighter than what is around them. Pixels are (fast, slow), whole
    numbers are edges."""

    at: numpy.ndarray  # (n, 2), the centroid of the light above the background
    light: numpy.ndarray  # photons above the background
    pixels: numpy.ndarray
    boxes: numpy.ndarray  # (n, 4), fast from, to, slow from, to

    def __len__(self):
        return len(self.light)

    def chosen(self, which):
        return Spots(*(getattr(self, field.name)[which] for field in dataclasses.fields(self)))

    def joined(self, of):
        """Spots of which those with the same number in ``of`` are one."""
        _, first, of = numpy.unique(of, return_index=True, return_inverse=True)
        light, pixels = (numpy.bincount(of, weights=values) for values in (self.light, self.pixels))
        at = numpy.column_stack([numpy.bincount(of, weights=self.light * axis) for axis in self.at.T]) / light[:, None]
        boxes = self.boxes[first]
        for column, extreme in enumerate((numpy.minimum, numpy.maximum) * 2):
            extreme.at(boxes[:, column], of, self.boxes[:, column])
        return Spots(at, light, pixels.astype(int), boxes)


@dataclasses.dataclass
class Pixels:
    """Which pixels of an image can be used, and how many cannot, by the reason; which are much
    brighter than all around them."""

    usable: numpy.ndarray
    why: dict
    hot: numpy.ndarray

    def leave_out(self, hot, dead):
        """Leaves further pixels out."""
        self.usable &= ~(hot | dead)
        self.why["hot"] += int(hot.sum())
        self.why["dead"] += int(dead.sum())

    def take_back(self, hot):
        """Uses these hot pixels after all."""
        self.usable |= hot
        self.why["hot"] -= int(hot.sum())


def usable_pixels(photons, cutoff, lost=False):
    """Gaps are not finite, overloads at the cutoff and beyond, or ``lost``; hot pixels and shadows
    as the data say."""
    gaps = ~numpy.isfinite(photons)
    overloads = ~gaps & ((photons >= cutoff) | lost)
    usable = ~(gaps | overloads)
    # Bright light of a crystal reaches over a pixel's edge; what stands alone in the dark is a
    # pixel's own.
    counts = numpy.where(usable, photons, 0.0)
    bright = numpy.argwhere(counts > 1000)
    hot = numpy.zeros_like(usable)
    if len(bright):
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        padded, there = numpy.pad(counts, 1), numpy.pad(usable, 1)
        around = [(padded[tuple((bright + 1 + s).T)], there[tuple((bright + 1 + s).T)]) for s in shifts]
        most = numpy.max([numpy.where(ok, value, 0) for value, ok in around], axis=0)
        hot[tuple(bright[counts[tuple(bright.T)] > 400 * (most + 1)].T)] = True
    usable &= ~hot
    dead = _dead(counts, usable)
    usable &= ~dead
    return Pixels(usable, {"gaps": int(gaps.sum()), "overloads": int(overloads.sum()), "hot": int(hot.sum()),
                           "dead": int(dead.sum())}, hot)


def lost_light(numbers, cutoff):
    """Pixels of a detector that does not count photons, in the middle of spots that are brighter
    than its numbers can be: those at the cutoff, those beyond it that began again from zero, which
    are dark between bright ones or beside them, and their neighbours, over which charge flows."""
    known = numpy.where(numpy.isfinite(numbers), numbers, 0.0)
    if not numpy.isfinite(cutoff) or known.max(initial=0.0) < _BRIGHT * cutoff:
        return numpy.zeros(numbers.shape, bool)
    filled = ndimage.grey_closing(known, (5, 5))
    wrapped = (filled > numpy.maximum(_BRIGHT * cutoff, 3 * known)) | _dips(known, cutoff)
    full = cutoff
    if wrapped.any():
        full, wrapped = _FULL * cutoff, wrapped | _cliffs(known, cutoff)
    labels, count = ndimage.label((known > _BRIGHT * cutoff) | wrapped, numpy.ones((3, 3)))
    every = numpy.arange(1, count + 1)
    over = ndimage.maximum(wrapped | (known >= full), labels, every).astype(bool) & (ndimage.maximum(known, labels, every) > 2 * _BRIGHT * cutoff)
    core = numpy.append(False, over)[labels] & (wrapped | (known > 2 * _BRIGHT * cutoff))
    wide = numpy.append(False, over & ((ndimage.sum_labels(core, labels, every) > _SINGLE) | ndimage.maximum(wrapped, labels, every).astype(bool)))[labels]
    holes = ndimage.binary_fill_holes(wide) if wide.any() else wide
    return core | ndimage.binary_dilation(holes | _hollow(known, cutoff) & numpy.isfinite(numbers), numpy.ones((3, 3)))


def _dips(known, cutoff):
    """Pixels that are dark on the slope of a spot: on a line, one neighbour is bright and the other
    one brighter, too."""
    found = numpy.zeros(known.shape, bool)
    for axis, side in itertools.product((0, 1), (1, -1)):
        bright = numpy.roll(known, side, axis) > numpy.maximum(_BRIGHT * cutoff, _STEEP * known)
        found |= bright & (numpy.roll(known, -side, axis) > known + _RISE * cutoff)
    return found


def _hollow(known, cutoff):
    """Pixels that are darker than bright ones on both sides along all lines through them."""
    rim = numpy.full(known.shape, numpy.inf)
    for line in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for sign in (1, -1):
            sides = (numpy.roll(known, (sign * step * line[0], sign * step * line[1]), (0, 1)) for step in (1, 2))
            rim = numpy.minimum(rim, numpy.maximum(*sides))
    return rim > numpy.maximum(_RIM * cutoff, _DARKER * known)


def _cliffs(known, cutoff):
    """Bright pixels that are dark on both sides along a line, steeper than light spreads: where
    their neighbours are mixed with pixels that began again from zero."""
    sides = (numpy.maximum(numpy.roll(known, 1, axis), numpy.roll(known, -1, axis)) for axis in (0, 1))
    return (known > _BRIGHT * cutoff) & (_STEEP * numpy.minimum(*sides) < known)


def odd_pixels(photons, usable, core):
    """Pixels that are brighter, and those that are darker, than light can make them that a point
    spread with a core of this sigma (pixels) has spread: both neighbours along a line have much
    less of what they have."""
    if not usable.any():
        return ~usable & False, ~usable & False
    known = photons[tuple(ndimage.distance_transform_edt(~usable, return_distances=False, return_indices=True))]
    rest = known - ndimage.median_filter(known.astype("f4"), 5)
    own = usable & (numpy.abs(rest) > 12 * numpy.sqrt(numpy.maximum(known - rest, 1)))
    part = 0.8 * numpy.exp(-1 / (2 * core**2 + 1 / 6)) * rest
    less = lambda sign, step, axis: numpy.roll(usable, step, axis) & (sign * numpy.roll(rest, step, axis) < sign * part)
    alone = lambda sign: own & (sign * rest > 0) & numpy.any([less(sign, 1, axis) & less(sign, -1, axis) for axis in (0, 1)], axis=0)
    return alone(1), alone(-1)


def _dead(counts, usable):
    """Pixels that count nothing where each of their neighbours counts 10 and more; those of the
    image's edge are not asked."""
    bright, dead = (counts >= 10) | ~usable, usable & (counts == 0)
    for i, j in itertools.product(range(3), repeat=2):
        if (i, j) != (1, 1):
            dead[1:-1, 1:-1] &= bright[i:len(bright) - 2 + i, j:bright.shape[1] - 2 + j]
    dead[[0, -1]] = dead[:, [0, -1]] = False
    return dead


def _tiled(image, usable):
    """Medians of tiles of 8 x 8 usable pixels, and how far pixels are from them, robustly, at all
    pixels; spots of any brightness move them little."""
    slow, fast = (-n % 8 for n in image.shape)
    cut = numpy.pad(numpy.where(usable, image, numpy.nan), ((0, slow), (0, fast)), constant_values=numpy.nan)
    tiles = cut.reshape(cut.shape[0] // 8, 8, -1, 8).swapaxes(1, 2).reshape(cut.shape[0] // 8, -1, 64)
    level = _medians(tiles)
    width = 1.4826 * _medians(numpy.abs(tiles - level[..., None]))
    at_pixels = lambda values: numpy.kron(ndimage.median_filter(numpy.where(numpy.isnan(values), numpy.nanmedian(values), values), 3),
                                          numpy.ones((8, 8)))[:image.shape[0], :image.shape[1]]
    return at_pixels(level), at_pixels(width)


def _medians(tiles):
    """Over the last axis, of the numbers that are not nan; nan where there are none."""
    count, ordered = numpy.isfinite(tiles).sum(axis=-1, keepdims=True), numpy.sort(tiles, axis=-1)  # nan comes last
    middle = [numpy.take_along_axis(ordered, numpy.maximum(place, 0), -1)[..., 0] for place in ((count - 1) // 2, numpy.minimum(count // 2, count - 1))]
    return (middle[0] + middle[1]) / 2


def local_background(photons, usable, half=7, even=True):
    """Mean and variance of the pixels around each without spots, and how many they are. even: the
    noise is that of photons alone, so that the variance is the mean; else it is as large at least.
    """
    counts = numpy.where(usable, photons, 0).astype("f4")
    kept = usable
    if not even and usable.any():
        level, width = _tiled(counts, usable)
        kept = usable & (counts <= level + 6 * width + 1)
    return _core.local_background(counts, usable, kept, half, even)


def find_spots(photons, usable, least=2, even=True, lost=False, background=None):
    """Spots, and the pixels that they have: where a pixel is 4 sigmas above the mean of its 15 x 15
    neighbours without spots, and it and its eight neighbours together are 6 sigmas above.

    least: pixels of a spot. even: of local_background. lost: pixels without a measurement in the
    middle of spots. background: photons without spots, where they are known, in place of the mean
    of neighbours.
    """
    counts = numpy.where(usable, photons, 0).astype("f4")
    if background is None:
        mean, noise, number = local_background(photons, usable, even=even)
    else:
        mean, noise, number = background, numpy.maximum(background, 0.3), numpy.inf
    strong = usable & (number > 30) & (counts - mean > 4 * numpy.sqrt(noise))
    rows = numpy.argwhere(strong)
    near, light = (_around(image, rows) for image in (usable, counts))
    sure = light - near * mean[strong] > 6 * numpy.sqrt(numpy.maximum(near * (mean if even else noise)[strong], 1))
    strong[tuple(rows[~sure].T)] = False
    labels, count = ndimage.label(strong | lost, numpy.ones((3, 3)))
    rows = numpy.argwhere(labels)
    at, of = tuple(rows.T), labels[labels > 0] - 1
    above = numpy.where(strong[at], counts[at] - mean[at], 0).astype(float)
    if numpy.any(lost):  # at least as bright as the rim
        rim = ndimage.grey_closing(numpy.where(numpy.isfinite(photons), photons, 0).astype("f4"), (5, 5))
        above = numpy.where(lost[at], numpy.maximum(rim[at] - mean[at], 0), above)
    sums = lambda values: numpy.bincount(of, weights=values, minlength=count)
    whole, slices = sums(above), ndimage.find_objects(labels)
    middle = numpy.column_stack([sums(above * axis) for axis in rows[:, ::-1].T]) / numpy.where(whole > 0, whole, 1)[:, None] + 0.5
    spots = Spots(middle, whole, sums(strong[at]).astype(int),
                  numpy.array([(f.start, f.stop, s.start, s.stop) for s, f in slices]).reshape(-1, 4))
    return spots.chosen((spots.pixels >= least) & (spots.light > 0)), strong


def about_spots(strong):
    """Pixels that may have light of spots, which have tails. strong: those of find_spots()."""
    return _core.dilated(strong, TAIL)


def _around(image, rows):
    """Sums over the squares of 3 x 3 pixels about pixels."""
    padded = numpy.pad(image, 1)
    return sum(padded[tuple((rows + shift).T)] for shift in itertools.product(range(3), repeat=2)).astype("f4")
