"""How many units of an image a photon is, where a detector does not count photons: from how the
noise grows with the light, and from how it is alike in neighbouring pixels."""

import dataclasses
import itertools

import numpy
from scipy import fft, ndimage, optimize, special

_TILE = 16  # pixels
_SMOOTH = 10.0  # pixels, sigma of the Gaussian that is taken for the light
_LEAST = 50  # tiles without spots, of which something can be said
_BINS = 30
_EVEN = 3.0  # sigmas of the variance of a tile that is noise alone
_LOW = 0.25  # quantile of the variances of tiles: structure of the light makes them larger
_REACH = 8  # pixels, to which noise is compared
_SEVERAL = 3  # pixels
_NEAR = 0.01  # part of the way from the least number to the median
_KNOWN = 1.2  # a factor within which counts of photons cannot be told from others
_COUNTED = 0.08  # part by which the noise of photons is off
_SURE, _LIT = 0.003, 0.03  # sigmas: differences over those that are far, and the part of the noise that is of photons
_ALONE = 0.05  # correlation of neighbours, from which on light has spread


@dataclasses.dataclass
class Noise:
    """The noise of single pixels: their variance is ``unit`` times what they are above ``zero``, so
    that read-out noise is a constant part of the background. sigma: of the unit, a part of it.
    spread: the part of a photon's noise that single pixels show, the sum of the squared point
    spread; noise of sums over many pixels is larger by 1 / spread. core: sigma of the point
    spread's middle, pixels."""

    unit: float = 1.0
    zero: float = 0.0
    sigma: float = 0.0
    spread: float = 1.0
    core: float = 0.0


def noise_of(numbers, usable, pedestal=None):
    """The Noise of an image (slow, fast). usable: pixels without spots. pedestal: the number
    without light, where the file says it. The noise is that of photons where numbers seem to be
    photons, or where too few pixels say it."""
    light = _smoothed(numpy.where(usable, numbers, 0.0), usable)
    rest = numpy.where(usable, numbers - light, 0.0)
    alike = 3.0  # the sum of squared correlations of neighbours
    for _ in range(2):
        level, variance = _levels(light, rest**2, usable, alike)
        if len(level) < 4 or _counts(numbers, usable, level, variance):
            return Noise()
        unit, zero, sigma = _line(level, variance, pedestal)
        if not unit > 0:  # read-out noise alone, which tells no unit
            return Noise(zero=float(numpy.median(level - variance)), sigma=1.0)
        expected = unit * (light - zero)
        alone = usable & (rest**2 < 16 * expected)
        differences = _differences(rest, alone & _even(rest**2 / numpy.maximum(expected, 1e-12), alone, alike), light)
        far = differences[_FAR].mean()
        alike = float(((1 - differences / far)**2).sum())
    dark = None if pedestal is None else unit * (pedestal - zero)
    spread, core = _spread(differences / far, dark if dark is None else 1 - min(dark / far, 0.95))
    # Smoothing takes some noise away, of neighbours that are alike more.
    unit /= 1 - 3 / (4 * numpy.pi * _SMOOTH**2 * spread)
    if not unit > 0 or not numpy.isfinite(unit):
        return Noise()
    alone = spread > 1 - _ALONE
    if alone and 1 / _KNOWN < numpy.median(variance / level) < _KNOWN and (abs(unit - 1) < 3 * sigma * unit or 1 / _KNOWN < unit < _KNOWN and abs(zero) < 1):
        return Noise()
    return Noise(unit, zero, sigma, spread, core)


def _counts(numbers, usable, level, variance):
    """Whether numbers are whole and none is below zero, and those of the least light vary as counts
    of photons do: where there is more, faint spots may vary, too. Where most pixels have no photon,
    most of the others have one, or there is no background."""
    some = numbers[usable]
    if (some == 0).mean() > 0.5:
        alone = variance.min() == 0  # spots with no background between them
        return bool(some.min() == 0 and (some == numpy.rint(some)).all() and (alone or (some == 1).sum() > (some > 1).sum()))
    dark = (variance / level)[:max(len(level) // 8, 1)]
    return bool(some.min() >= 0 and (some == numpy.rint(some)).all() and abs(numpy.median(dark) - 1) < _COUNTED)


def _smoothed(numbers, usable):
    blurred = [ndimage.gaussian_filter(image.astype("f4"), _SMOOTH, truncate=3.0) for image in (numbers, usable)]
    return blurred[0] / numpy.maximum(blurred[1], 1e-3)


_DISTANCE = numpy.hypot(*numpy.mgrid[-_REACH:_REACH + 1, -_REACH:_REACH + 1])
_FAR = (_DISTANCE > _REACH - 2) & (_DISTANCE <= _REACH)


def _differences(rest, quiet, light):
    """Half the mean squared difference of pixels that are -_REACH to _REACH apart (slow, fast),
    where there is no more light than usual."""
    quiet = quiet & (light < 2 * numpy.median(light[quiet])) if quiet.any() else quiet
    shape = [fft.next_fast_len(n + _REACH, True) for n in rest.shape]
    mask, once, twice = (fft.rfft2(numpy.where(quiet, image, 0).astype("f4"), shape) for image in (1, rest, rest**2))
    pairs, products, squares = (fft.fftshift(fft.irfft2(product, shape)) for product in
                                (abs(mask)**2, abs(once)**2, (mask.conj() * twice).real))
    near = tuple(slice(n // 2 - _REACH, n // 2 + _REACH + 1) for n in shape)
    return (squares[near] - products[near]) / numpy.maximum(pairs[near], 1)


def _levels(light, squares, usable, alike):
    """Levels of light, and the noise that most tiles of each have at least. alike: the sum of
    squared correlations."""
    slow, fast = (n // _TILE * _TILE for n in light.shape)
    tiled = lambda image: image[:slow, :fast].reshape(slow // _TILE, _TILE, -1, _TILE).sum(axis=(1, 3))
    count = tiled(usable.astype(float))
    full = count > 0.75 * _TILE**2
    if full.sum() < _LEAST:
        return numpy.zeros(0), numpy.zeros(0)
    mean, noise = (tiled(numpy.where(usable, image, 0.0))[full] / count[full] for image in (light, squares))
    free = _TILE**2 / max(alike, 1.0)
    low = 2 * special.gammaincinv(free / 2, _LOW) / free  # a quantile of chi-square
    parts = numpy.array_split(numpy.argsort(mean), min(_BINS, full.sum() // 10))
    return numpy.array([(mean[part].mean(), numpy.quantile(noise[part], _LOW) / low) for part in parts]).T


def _even(parts, usable, alike):
    """Pixels of tiles that vary as noise does: others have structure, which neighbours share.
    parts: squares over the variance. alike: of _levels()."""
    slow, fast = (n // _TILE * _TILE for n in parts.shape)
    tiled = lambda image: image[:slow, :fast].reshape(slow // _TILE, _TILE, -1, _TILE).sum(axis=(1, 3))
    even = tiled(numpy.where(usable, parts, 0.0)) < (1 + _EVEN * numpy.sqrt(2 * max(alike, 1.0)) / _TILE) * numpy.maximum(tiled(usable.astype(float)), 1)
    whole = numpy.zeros(parts.shape, bool)
    whole[:slow, :fast] = numpy.kron(even, numpy.ones((_TILE, _TILE), bool))
    return whole


def _line(level, variance, pedestal):
    """Slope, level without noise, and the slope's sigma, a part of it: of levels from the lowest
    on, as long as they are on one line. With a pedestal the noise there is none at least."""
    use = numpy.arange(len(level)) < max(len(level) // 2, 4)
    for _ in range(len(level)):
        weight = numpy.where(use, 1 / variance, 0)
        start = level if pedestal is None else level - pedestal
        columns = numpy.column_stack([start, numpy.ones(len(level))]) * weight[:, None]
        if pedestal is None:
            slope, constant = numpy.linalg.lstsq(columns, variance * weight, rcond=None)[0]
        else:
            slope, constant = optimize.nnls(columns, variance * weight)[0]
        off = variance / numpy.maximum(slope * start + constant, 1e-12) - 1
        scatter = max(1.4826 * numpy.median(numpy.abs(off[use])), 0.02)
        now = numpy.abs(off) < 3 * scatter
        if now.sum() < 4 or (now == use).all():
            break
        use = now
    if not slope > 0:
        return 0.0, 0.0, 0.0
    covariance = numpy.linalg.pinv(columns.T @ columns) * scatter**2
    return float(slope), float((pedestal or 0.0) - constant / slope), float(numpy.sqrt(covariance[0, 0]) / slope)


def _spread(differences, lit):
    """The sum of the squared point spread, and the sigma of its core (pixels), by a core and a tail
    that explain the differences of neighbours. lit: the part of the noise that is of photons; None
    where that is not known. Noise of the read-out is in no two pixels alike."""
    if differences[_REACH, _REACH + 1] + differences[_REACH + 1, _REACH] > 2 * (1 - _ALONE):
        return 1.0, 0.0
    seen = _DISTANCE > 0
    gauss = lambda sigma: numpy.exp(-_DISTANCE**2 / (2 * sigma**2)) / (2 * numpy.pi * sigma**2)
    taken = 2 * gauss(_SMOOTH) - gauss(2**0.5 * _SMOOTH)  # by smoothing, of all noise

    def expected(x):
        own, part = _own_product(*x[:3]), x[3]
        noise = part * own / own[_REACH, _REACH] + (1 - part) * (_DISTANCE == 0) - (part / own[_REACH, _REACH] + 1 - part) * taken
        half = noise[_REACH, _REACH] - noise + x[4] * (_DISTANCE / _REACH)**2  # slopes of the light
        return half / half[_FAR].mean()

    def left(x):
        known = [] if lit is None else [(x[3] - lit) / _LIT]
        return numpy.concatenate([(expected(x) - differences)[seen] / _SURE, known])

    starts = [[0.6, 0.05, 2.0, lit or 0.9, 0.01], [1.0, 0.2, 3.0, lit or 0.7, 0.01]]
    best = min((optimize.least_squares(left, start, bounds=([0.2, 0.0, 0.5, 0.04, 0.0], [4.0, 1.0, 5.0, 1.0, 0.5])) for start in starts),
               key=lambda one: one.cost)
    return float(numpy.clip(_own_product(*best.x[:3])[_REACH, _REACH], 1e-3, 1.0)), float(best.x[0])


def _own_product(core, tail, width):
    """A point spread's correlation with itself: a Gaussian of sigma ``core``, and a part ``tail``
    that falls as fibres' does, with ``width``, pixels."""
    wide, product = 64, 0.0
    for shifts in itertools.product((-1, 0, 1), repeat=2):  # it is sampled at whole pixels
        slow, fast = numpy.meshgrid(*(numpy.fft.fftfreq(wide) + shift for shift in shifts), indexing="ij")
        radius = numpy.hypot(slow, fast)
        shape = (1 - tail) * numpy.exp(-2 * (numpy.pi * core * radius)**2) + tail * numpy.exp(-2 * numpy.pi * width * radius)
        product = product + (shape * numpy.sinc(slow) * numpy.sinc(fast))**2
    middle = wide // 2
    return numpy.fft.fftshift(numpy.fft.ifft2(product).real)[middle - _REACH:middle + _REACH + 1, middle - _REACH:middle + _REACH + 1]


def no_numbers(numbers):
    """Pixels without a measurement: those of the least number, where several have it and few have
    one just above. A detector writes it at its rim. Where most pixels have it there is little
    light."""
    known = numbers[numpy.isfinite(numbers)]
    least, middle = (known.min(), numpy.median(known)) if known.size else (0.0, 0.0)
    if middle == least:
        return numpy.zeros(numbers.shape, bool)
    above = max(1.0, _NEAR * (middle - least))
    count, near = (known == least).sum(), ((known > least) & (known <= least + above)).sum()
    return (numbers == least) if count >= _SEVERAL and count > 10 * near else numpy.zeros(numbers.shape, bool)


def largest_number(numbers, cutoff):
    """From which on light is lost: the cutoff, or the largest number of the image, where several
    pixels have it."""
    top = numpy.nanmax(numbers, initial=-numpy.inf)
    return min(cutoff, float(top)) if (numbers == top).sum() >= _SEVERAL else cutoff
