"""Flat panels of a detector: where each lies in the image, and where it stands."""

import dataclasses

import numpy

from .._errors import FileError

BEAM = numpy.array([0.0, 0.0, -1.0])  # in the laboratory of DIALS' images without a goniometer
ACROSS = numpy.diag([1.0, -1.0, -1.0])  # fast to the right, slow down, normal along the beam
_APART = 8  # pixels between panels in the image: no box reaches from one into another


@dataclasses.dataclass
class Panels:
    """Lengths in mm, in the frame of the detector (along its fast, slow, normal)."""

    begin: numpy.ndarray  # (n, 2) where each begins in the image, slow and fast
    size: numpy.ndarray  # (n, 2) slow and fast; None of one that is the whole image
    corner: numpy.ndarray  # (n, 3)
    fast: numpy.ndarray  # (n, 3)
    slow: numpy.ndarray
    raw: numpy.ndarray = None  # (n, 2) where each begins in the file's image, slow and fast

    def __len__(self):
        return len(self.begin)

    def number(self, at):
        """The number of the panel at pixels (fast, slow) of the image."""
        return numpy.clip(numpy.searchsorted(self.begin[:, 0], at[:, 1], "right") - 1, 0, len(self) - 1)

    def parts(self, shape):
        """The parts of an image of this shape, as slices."""
        if self.size is None:
            return [(slice(0, shape[0]), slice(0, shape[1]))]
        return [(slice(s, s + n), slice(f, f + m)) for (s, f), (n, m) in zip(self.begin, self.size)]

    def together(self, image):
        """One below another, with nan between them, from the file's image."""
        whole = numpy.full((self.begin[-1, 0] + self.size[-1, 0], self.size[:, 1].max()), numpy.nan)
        for (slow, fast), (from_slow, from_fast), (n, m) in zip(self.begin, self.raw, self.size):
            whole[slow:slow + n, fast:fast + m] = image[from_slow:from_slow + n, from_fast:from_fast + m]
        return whole


ONE = Panels(numpy.zeros((1, 2), int), None, numpy.zeros((1, 3)), numpy.array([[1.0, 0, 0]]), numpy.array([[0, 1.0, 0]]))


def placed(path, corner, fast, slow, size, raw, pixel):
    """Panels of a detector across the beam, its distance (mm), and its pixel (fast, slow) that the
    beam meets. corner (mm), fast, slow: (n, 3), in the laboratory. size, raw: (n, 2), slow and
    fast. path: the file's, for what is wrong with it."""
    size = numpy.array(size)
    across = [corner + pixel * (a * size[:, 1:] * fast + b * size[:, :1] * slow) for a in (0, 1) for b in (0, 1)]
    middle = sum(across) / 4
    distance = float((middle @ BEAM)[numpy.argmax(middle @ BEAM / numpy.linalg.norm(middle, axis=1))])
    if not distance > 0:
        raise FileError(f"{path}: its detector is behind the source: the panel next to the beam is {distance:.4g} mm after the sample")
    places = (numpy.concatenate(across) - distance * BEAM) @ ACROSS
    low = numpy.array([*places[:, :2].min(axis=0), 0.0])
    pitch = 8 * ((size[:, 0].max() + 7) // 8) + _APART
    begin = numpy.column_stack([pitch * numpy.arange(len(size)), numpy.zeros(len(size), int)])
    panels = Panels(begin, size, (corner - distance * BEAM) @ ACROSS - low, fast @ ACROSS, slow @ ACROSS, numpy.array(raw))
    return panels, distance, tuple((-low[:2] / pixel).tolist())
