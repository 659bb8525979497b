"""Where a flat detector stands for a white-beam still, which may be beside the beam or above the
sample."""

import dataclasses
import os
import re

import numpy

from .._errors import FileError
from ._panels import BEAM
from ._images import DiffractionImage, measured, read_image
from ._stated_geometry import Geometry
from ._still_search import detectors_of

_LAUETOOLS = numpy.array([[0.0, -1, 0], [0, 0, 1], [-1, 0, 0]])  # from its frame, x along the beam and z up
_NUMBERS = "distance (mm), xcen, ycen (pixels), xbet, xgam (degrees), pixel (mm)"


@dataclasses.dataclass
class Camera:
    """A flat detector of one panel. The beam is along BEAM.

    corner: the outer corner of the first pixel, mm; fast, slow: unit vectors; pixel: mm.
    """

    corner: numpy.ndarray
    fast: numpy.ndarray
    slow: numpy.ndarray
    pixel: float

    @property
    def normal(self):
        """Away from the sample."""
        normal = numpy.cross(self.fast, self.slow)
        return normal / numpy.linalg.norm(normal) * (1 if normal @ self.corner > 0 else -1)

    @property
    def distance(self):
        """From the sample to the plane, mm."""
        return float(self.normal @ self.corner)

    @property
    def foot(self):
        """The place of the plane that is nearest to the sample, pixels (fast, slow)."""
        return -self.corner @ numpy.column_stack([self.fast, self.slow]) / self.pixel

    def at_distance(self, factor):
        """The same at a multiple of the distance."""
        return dataclasses.replace(self, corner=self.corner + (factor - 1) * self.distance * self.normal)

    def directions(self, at):
        """Unit vectors along the scattering vectors of light at pixels (fast, slow), and the sines
        of the Bragg angles."""
        ray = self.corner + self.pixel * (at[:, :1] * self.fast + at[:, 1:] * self.slow)
        q = ray / numpy.linalg.norm(ray, axis=1)[:, None] - BEAM
        length = numpy.linalg.norm(q, axis=1)
        return q / numpy.maximum(length, 1e-12)[:, None], length / 2

    def image(self, path, image, counting):
        """The DiffractionImage of these numbers on this camera."""
        if image.ndim != 2:
            raise FileError(f"{path}: has {image.ndim} dimensions; white-beam stills need an image of one panel, slow and fast")
        return DiffractionImage(path, measured(image, -1.0 if counting else -numpy.inf), 1.0, self.distance, tuple(self.foot.tolist()), self.pixel,
                          counting=counting)

    @staticmethod
    def of_lauetools(distance, xcen, ycen, xbet, xgam, pixel):
        """A camera above the sample by the numbers of LaueTools, which counts pixels from 1, in
        their middles."""
        (sb, sg), (cb, cg) = numpy.sin(numpy.radians([xbet, xgam])), numpy.cos(numpy.radians([xbet, xgam]))
        fast, slow = numpy.array([-sg * cb, -cg, sg * sb]), numpy.array([cg * cb, -sg, -cg * sb])
        corner = distance * numpy.array([sb, 0, cb]) - pixel * ((xcen - 0.5) * fast + (ycen - 0.5) * slow)
        return Camera(*(_LAUETOOLS @ v for v in (corner, fast, slow)), pixel)


def read_camera(text):
    """The Camera of a file (.expt, or .det of LaueTools), or of six numbers of LaueTools in place
    of one."""
    if not os.path.exists(text):
        words = re.split(r"[\s,]+", text.strip())
        try:
            return Camera.of_lauetools(*_checked(text, [float(word) for word in words]))
        except ValueError:
            raise FileError(f"{text}: is neither a file nor six numbers of LaueTools: {_NUMBERS}") from None
    if not text.endswith(".det"):
        geometry = Geometry.read(text)
        if len(geometry.elements) > 1:
            raise FileError(f"{text}: its detector has {len(geometry.elements)} panels; white-beam stills need one flat panel")
        one, = geometry.elements
        return Camera(numpy.array(one.corner), numpy.array(one.fast), numpy.array(one.slow), geometry.pixel)
    with open(text, errors="replace") as file:
        content = file.read()
    if (side := re.search(r"kf_direction\s*:\s*(\S+)", content)) and side[1] != "Z>0":
        raise FileError(f"{text}: its camera stands at {side[1]}; only cameras above the sample (Z>0) are read from such files; give an .expt")
    numbers = re.findall(r"[-+0-9.eE]+", content.partition("\n")[0].partition("#")[0])
    try:
        return Camera.of_lauetools(*_checked(text, [float(word) for word in numbers[:6]]))
    except ValueError:
        raise FileError(f"{text}: its first line is not that of a camera of LaueTools: {_NUMBERS}") from None


def _checked(text, numbers):
    if len(numbers) != 6:
        raise ValueError
    distance, pixel = numbers[0], numbers[5]
    if not (0 < distance < numpy.inf and 0 < pixel < numpy.inf and numpy.isfinite(numbers).all()):
        raise FileError(f"{text}: has a distance of {distance:g} mm and pixels of {pixel:g} mm; both have to be greater than 0")
    return numbers


def read_still(path, camera):
    """The DiffractionImage in a file and its Camera. camera: the one that is given; None: the header's.
    """
    image = read_image(path, camera)
    if camera is not None:
        return image, camera
    detector = next(detectors_of(image))
    if len(detector.panels) > 1:
        raise FileError(f"{path}: has {len(detector.panels)} panels; white-beam stills need one flat panel")
    fast, slow, _ = detector.axes()
    return image, Camera(detector.corner(), fast, slow, image.pixel)
