"""Spots of a photograph: pixels that can be used, and where the light is."""

import dataclasses

import numpy
from scipy import ndimage


@dataclasses.dataclass
class Spots:
    """Connected pixels that are brighter than what is around them. Pixels are (fast, slow), whole numbers are edges."""

    at: numpy.ndarray  # (n, 2), the centroid of the light above the background
    light: numpy.ndarray  # photons above the background
    pixels: numpy.ndarray
    boxes: numpy.ndarray  # (n, 4), fast from, to, slow from, to

    def __len__(self):
        return len(self.light)

    def chosen(self, which):
        return Spots(*(getattr(self, field.name)[which] for field in dataclasses.fields(self)))


@dataclasses.dataclass
class Pixels:
    """Which pixels of an image can be used, and how many cannot, by the reason."""

    usable: numpy.ndarray
    why: dict


def usable_pixels(photons, cutoff):
    """Gaps are not finite, overloads at the cutoff and beyond; hot pixels and shadows as the data say."""
    gaps = ~numpy.isfinite(photons)
    overloads = ~gaps & (photons >= cutoff)
    usable = ~(gaps | overloads)
    # Bright light of a crystal reaches over a pixel's edge; what stands alone in the dark is a pixel's own.
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
                           "dead": int(dead.sum())})


def _sums(image, half):
    """Sums over the square about each pixel."""
    width = 2 * half + 1
    return ndimage.uniform_filter(image, width, output="f4", mode="constant") * width**2


def _dead(counts, usable):
    """Pixels that count nothing where each of their neighbours counts 10 and more."""
    around = ndimage.minimum_filter(numpy.where(usable, counts, 1e9).astype("f4"), footprint=[[1, 1, 1], [1, 0, 1], [1, 1, 1]],
                                    mode="nearest")
    return usable & (counts == 0) & (around >= 10)


def local_background(photons, usable, half=7, even=True):
    """Mean and variance of the pixels around each without spots, and how many they are. even: the noise is that of photons alone,
    so that the variance is the mean; else it is as large at least."""
    counts = numpy.where(usable, photons, 0).astype("f4")
    kept, mean = usable, 0.0
    for last in (False, False, False, True):
        number = _sums(kept.astype("f4"), half)
        mean = _sums(numpy.where(kept, counts, 0), half) / numpy.maximum(number, 1)
        noise = numpy.maximum(mean, 0.3)
        if not even:
            squares = _sums(numpy.where(kept, counts * counts, 0), half) / numpy.maximum(number, 1)
            noise = numpy.maximum(noise, squares - mean**2)
        if not last:
            kept = usable & (counts <= mean + 3.5 * numpy.sqrt(noise) + 1)
    return mean, noise, number


def find_spots(photons, usable, least=2, even=True):
    """Spots, and the pixels that they have: where a pixel is 4 sigmas above the mean of its 15 x 15 neighbours without
    spots, and it and its eight neighbours together are 6 sigmas above.

    least: pixels of a spot. even: of local_background.
    """
    counts = numpy.where(usable, photons, 0).astype("f4")
    mean, noise, number = local_background(photons, usable, even=even)
    near, light = _sums(usable.astype("f4"), 1), _sums(counts, 1)
    strong = (usable & (number > 30) & (counts - mean > 4 * numpy.sqrt(noise))
              & (light - near * mean > 6 * numpy.sqrt(numpy.maximum(near * (mean if even else noise), 1))))
    labels, count = ndimage.label(strong, numpy.ones((3, 3)))
    every = numpy.arange(1, count + 1)
    above = numpy.where(strong, counts - mean, 0)
    slices = ndimage.find_objects(labels)
    spots = Spots(numpy.array(ndimage.center_of_mass(above, labels, every)).reshape(-1, 2)[:, ::-1] + 0.5,
                  ndimage.sum_labels(above, labels, every), ndimage.sum_labels(strong, labels, every).astype(int),
                  numpy.array([(f.start, f.stop, s.start, s.stop) for s, f in slices]).reshape(-1, 4))
    return spots.chosen(spots.pixels >= least), strong
