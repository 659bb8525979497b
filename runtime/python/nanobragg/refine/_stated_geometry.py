"""Where a detector stands by an experiment list (.expt), in place of what its images say."""

import dataclasses
import os

import numpy

from .. import _core
from .._errors import DATA_ERRORS, FileError
from . import _files
from ._crystal import rotation
from ._imgcif import Element
from ._panels import BEAM
from ._images import standing


@dataclasses.dataclass
class Geometry:
    """The geometry of the first experiment of a list."""

    path: str
    wavelength: float
    pixel: float
    elements: list
    lowest: float  # and largest number of a pixel that is a measurement
    cutoff: float
    thickness: float
    material: str

    @staticmethod
    def read(path):
        listed = _files.read_experiments(path)
        try:
            experiment = listed["experiment"][0]
            panels = listed["detector"][experiment["detector"]]["panels"]
            sizes = numpy.array([panel["pixel_size"] for panel in panels])
            wavelength, beam, stands = _core.expt_detector(str(path))
            turn, unit = _onto(numpy.array(beam), BEAM), lambda axis: numpy.array(axis) / numpy.linalg.norm(axis)
            elements = [Element(turn @ unit(fast), turn @ unit(slow), turn @ numpy.array(corner), tuple(panel["image_size"][::-1]),
                                tuple(panel.get("raw_image_offset", (0, 0))[::-1]))
                        for panel, (corner, fast, slow) in zip(panels, stands)]
            one = panels[0]
            low, high = one.get("trusted_range") or (0, 0)
            geometry = Geometry(str(path), wavelength, float(sizes[0, 0]), elements, float(low),
                                float(high) or numpy.inf, float(one.get("thickness", 0)),
                                str(one.get("material", "")))
        except FileError:
            raise
        except DATA_ERRORS as error:
            raise FileError(f"{path}: does not say where a detector stands ({error}); its first experiment needs a beam and a detector") from None
        if abs(sizes / geometry.pixel - 1).max() > 1e-3:
            raise FileError(f"{path}: the pixels of its detector are not square or not alike; nb-refine needs square pixels of one size")
        return geometry

    def image(self, path, image, counting):
        """The DiffractionImage of these numbers, whose panels lie where the list says, or one below another.
        """
        elements = self.elements
        if len({e.raw for e in elements}) < len(elements):
            rows = numpy.cumsum([0, *(e.size[0] if image.ndim == 2 else image.shape[-2] for e in elements)])
            elements = [dataclasses.replace(e, raw=(int(row), 0)) for e, row in zip(elements, rows)]
        image = numpy.where(image < (max(self.lowest, 0) if counting else self.lowest), -numpy.inf, image)
        return standing(path, self.wavelength, self.pixel, image, elements, -numpy.inf, cutoff=self.cutoff, counting=counting,
                        thickness=self.thickness, material=self.material, reader=os.path.basename(self.path))


def _onto(one, other):
    """The shortest rotation of a direction onto another."""
    axis = numpy.cross(one, other)
    sine = numpy.linalg.norm(axis)
    if sine < 1e-12:
        return numpy.eye(3) if one @ other > 0 else numpy.diag([1.0, -1.0, -1.0])
    return rotation(axis / sine * numpy.arctan2(sine, one @ other))
