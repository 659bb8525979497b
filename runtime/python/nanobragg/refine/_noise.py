"""How many units of an image a photon is, where a detector does not count photons: from how the noise grows with the light."""

import numpy

_TILE = 8  # pixels
_LEAST = 200  # tiles without spots, of which something can be said
_SEVERAL = 3  # pixels
_NEAR = 0.01  # part of the way from the least number to the median
_KNOWN = 1.2  # a factor within which counts of photons cannot be told from others


def gain_and_zero(numbers, usable):
    """The unit per photon, the number at which there would be no noise, and the sigma of the unit, a part of it. Photons are
    counted from that number: numbers then vary as much as they are, and read-out noise is a constant part of the background.

    numbers: the image; usable: pixels without spots. (1, 0, 0) where they seem to be photons, or where too few pixels say it.
    """
    slow, fast = (n // _TILE * _TILE for n in numbers.shape)
    tiled = lambda image: image[:slow, :fast].reshape(slow // _TILE, _TILE, -1, _TILE).swapaxes(1, 2).reshape(-1, _TILE, _TILE)
    tiles = tiled(numbers)[tiled(usable).all(axis=(1, 2))]
    if len(tiles) < _LEAST:
        return 1.0, 0.0, 0.0
    mean = tiles.mean(axis=(1, 2))
    # Without slopes, which are no noise.
    rest = tiles - tiles.mean(axis=1, keepdims=True) - tiles.mean(axis=2, keepdims=True) + mean[:, None, None]
    variance = (rest**2).sum(axis=(1, 2)) / (_TILE - 1)**2
    # Tiles of the same light, without those that spots reach, have one point.
    points = []
    for part in numpy.array_split(numpy.argsort(mean), 40):
        kept = part[variance[part] <= 3 * numpy.median(variance[part])]
        points.append((mean[kept].mean(), variance[kept].mean()))
    level, noise = numpy.array(points).T
    weight = 1 / numpy.maximum(noise, 1e-6 * noise.max() + 1e-12)
    for _ in range(10):
        middle, height = numpy.average(level, weights=weight**2), numpy.average(noise, weights=weight**2)
        slope = (weight**2 * (level - middle)) @ (noise - height) / max(weight**2 @ (level - middle)**2, 1e-12)
        left = numpy.abs(noise - height - slope * (level - middle)) * weight
        weight = 1 / numpy.maximum(noise, 1e-12) / numpy.sqrt(1 + (left / max(2 * numpy.median(left), 1e-6))**2)
    if not slope > 0 or not numpy.isfinite(slope):
        return 1.0, 0.0, 0.0
    zero = middle - height / slope
    if 1 / _KNOWN < slope < _KNOWN and abs(zero) < 1:
        return 1.0, 0.0, 0.0
    away = weight**2 * (level - middle)
    sigma = numpy.sqrt(numpy.sum((away * (noise - height - slope * (level - middle)))**2)) / (away @ (level - middle))
    return float(slope), float(zero), float(sigma / slope)


def no_numbers(numbers):
    """Pixels without a measurement: those of the least number, where several have it and few have one just above. A detector
    writes it at its rim."""
    known = numbers[numpy.isfinite(numbers)]
    if not known.size:
        return numpy.zeros(numbers.shape, bool)
    least = known.min()
    above = max(1.0, _NEAR * (numpy.median(known) - least))
    count, near = (known == least).sum(), ((known > least) & (known <= least + above)).sum()
    return (numbers == least) if count >= _SEVERAL and count > 10 * near else numpy.zeros(numbers.shape, bool)


def largest_number(numbers, cutoff):
    """From which on light is lost: the cutoff, or the largest number of the image, where several pixels have it."""
    top = numpy.nanmax(numbers, initial=-numpy.inf)
    return min(cutoff, float(top)) if (numbers == top).sum() >= _SEVERAL else cutoff
