"""The pixels around spots, and the background under them."""

import numpy


def check_pixels(gain=1.0, offset=0.0, margin=0):
    """Refuses numbers by which no image can be read as photons in boxes. ValueError."""
    if not 0 < gain < numpy.inf:
        raise ValueError(f"gain is {gain}; it has to be greater than 0, and finite")
    if not numpy.isfinite(offset):
        raise ValueError(f"offset is {offset}; it has to be finite")
    if margin < 0:
        raise ValueError(f"margin is {margin}; boxes are enlarged by 0 pixels or more")


class Shoeboxes:
    """Pixels of boxes on an image, each in one box only.

    boxes: (n, 4) fast from, to, slow from, to; the ends are not part of a box. panel: (n,). image:
    (slow, fast) or (panel, slow, fast) photons. trusted: photons from, to; others, and those that
    are not finite, are left out.

    The pixels that remain have: rows (pixels, 3) of panel, slow, fast; data; box, the index of each
    one's; spans, where the pixels of a box are; kept, which boxes have pixels.
    """

    def __init__(self, image, boxes, panel, trusted=(-numpy.inf, numpy.inf), margin=0):
        image = image.reshape((-1, *image.shape[-2:]))
        rows, index = [], []
        for i, (f0, f1, s0, s1) in enumerate(numpy.asarray(boxes)):
            f0, s0 = max(int(f0) - margin, 0), max(int(s0) - margin, 0)
            f1, s1 = min(int(f1) + margin, image.shape[2]), min(int(s1) + margin, image.shape[1])
            if f1 <= f0 or s1 <= s0:
                continue
            slow, fast = numpy.mgrid[s0:s1, f0:f1]
            rows.append(numpy.column_stack([numpy.full(slow.size, panel[i]), slow.ravel(), fast.ravel()]))
            index.append(numpy.full(slow.size, i))
        self.rows = numpy.concatenate(rows) if rows else numpy.empty((0, 3), int)
        self.box = numpy.concatenate(index) if rows else numpy.empty(0, int)
        # A pixel of two boxes belongs to the first.
        flat = numpy.ravel_multi_index(self.rows.T, image.shape) if rows else self.box
        first = numpy.sort(numpy.unique(flat, return_index=True)[1])
        data = image.reshape(-1)[flat[first]]
        with numpy.errstate(invalid="ignore"):
            good = numpy.isfinite(data) & (data >= trusted[0]) & (data <= trusted[1])
        keep = first[good]
        self.rows, self.box, self.data = self.rows[keep].astype("i4"), self.box[keep].astype("i4"), data[good]
        starts = numpy.flatnonzero(numpy.diff(self.box, prepend=-1))
        self.spans = [slice(a, b) for a, b in zip(starts, [*starts[1:], len(self.box)])]
        self.kept = self.box[starts]

    def centroids(self):
        """For each box of ``kept``: (fast, slow), photons above the median of the box, and their
        sigma."""
        places, sums, sigmas = [], [], []
        for span in self.spans:
            data = self.data[span]
            level = numpy.median(data)
            above = numpy.maximum(data - level - 2 * numpy.sqrt(max(level, 0.0)), 0)
            total = above.sum()
            at = self.rows[span][:, [2, 1]] + 0.5
            places.append(above @ at / total if total > 0 else at.mean(axis=0))
            sums.append((data - level).sum())
            sigmas.append(numpy.sqrt(max(data.sum(), 1.0)))
        return numpy.array(places), numpy.array(sums), numpy.array(sigmas)


class Planes:
    """A plane of background for each box, which fits what the model leaves best: it is projected
    out.

    For fixed weights the sum of squares, least with respect to the planes, is that of what is left
    at a right angle to them; planes are then no parameters of the fit (variable projection).
    """

    def __init__(self, boxes, weights):
        """weights: 1/sigma of each pixel."""
        self.boxes, self.weights = boxes, weights
        self._starts = numpy.array([span.start for span in boxes.spans], dtype=int)
        self._count = numpy.diff(numpy.append(self._starts, len(boxes.data)))
        slow, fast = boxes.rows[:, 1].astype(float), boxes.rows[:, 2].astype(float)
        fast, slow = (axis - self._spread(self._sums(axis) / self._count) for axis in (fast, slow))
        # Few pixels, or pixels in one line, carry no plane but a level.
        flat = numpy.minimum(self._sums(fast * fast), self._sums(slow * slow)) == 0
        inclined = self._spread(numpy.where(flat | (self._count <= 6), 0.0, 1.0))
        self._basis = []  # at a right angle to each other in each box, of length 1 (or 0)
        for column in (numpy.ones(len(fast)), fast * inclined, slow * inclined):
            q = column * weights
            before = self._sums(q * q)
            for other in self._basis:
                q = q - other * self._spread(self._sums(other * q))
            left = self._sums(q * q)
            some = left > 1e-12 * before
            self._basis.append(q * self._spread(numpy.where(some, 1 / numpy.sqrt(numpy.where(some, left, 1.0)), 0.0)))

    def _sums(self, values):
        return numpy.add.reduceat(values, self._starts)

    def _spread(self, sums):
        return numpy.repeat(sums, self._count)

    def without(self, values):
        """Weighted values (pixels,) or (n, pixels) with their planes taken out."""
        if values.ndim == 2:  # one after another they stay in the cache
            return numpy.array([self.without(row) for row in values])
        left = values
        for q in self._basis:
            left = left - q * self._spread(self._sums(q * values))
        return left

    def of(self, rest):
        """The planes that fit ``rest``, photons that the crystal's model leaves, in photons per
        pixel."""
        weighted = rest * self.weights
        return (weighted - self.without(weighted)) / self.weights
