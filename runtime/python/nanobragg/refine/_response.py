"""The response of a detector to the light of pixels: a point spread, counts that are lost, a gain.
"""

import dataclasses
import re

import numpy
from scipy.special import lambertw

_REACH, _FARTHEST = 3.0, 7  # widths, and pixels, to which light is spread
_LEAST = 1e-3  # part of a reflection's intensity by the model


@dataclasses.dataclass(frozen=True)
class Response:
    """Where fits of it start. psf: the shape, gauss or fiber, and the full width at half maximum,
    um. dead_time: s."""

    psf: tuple = None
    dead_time: float = 0.0

    @staticmethod
    def psf_of(text):
        """The point spread that "gauss:80" names."""
        said = re.fullmatch(r"(gauss|fiber):(\d+\.?\d*)", text)
        if not said or not float(said[2]) > 0:
            raise ValueError(f"'{text}' is not a point spread; write gauss:80 or fiber:80, with the full width at half maximum in um")
        return said[1], float(said[2])

    def of_neighbours(self, core, pixel):
        """With the point spread that the noise of neighbours shows, where none is given. core: its
        sigma, pixels; 0: none. pixel: mm."""
        if self.psf or not core:
            return self
        return dataclasses.replace(self, psf=("gauss", 1e3 * pixel * core * float(numpy.sqrt(8 * numpy.log(2)))))

    def check(self, seconds, free):
        """Refuses lost counts where no file says how long an exposure is. free: whether the dead
        time is."""
        if (self.dead_time or free) and not seconds > 0:
            raise ValueError("its files do not say how long an exposure is, and counts are lost by the photons per second; leave "
                             "--dead-time and --restrain dead_time out")

    def of_detector(self, pixel):
        """Fields of a Detector. pixel: mm."""
        if self.psf is None:
            return {}
        shape, width = self.psf
        radius = int(numpy.clip(numpy.ceil(_REACH * 1e-3 * width / pixel), 2, _FARTHEST))
        return {"psf": shape, "psf_fwhm": width * 1e-6, "psf_radius": radius}


def counted(light, background, own, lost, gain):
    """The counts above the background, over ``own``, and their derivatives with respect to the
    light, to ``lost``, and to the logarithm of the gain.

    m photons in an exposure make gain * m * exp(-lost * m) counts, lost the dead time over the
    exposure. light: photons of the model's intensities, own: each one's intensity to the model's:
    its counts are not linear in it. background: counts.
    """
    own = numpy.maximum(own, _LEAST)
    empty = -numpy.real(lambertw(-lost * background / gain)) / lost if lost else background / gain
    photons = own * light + empty
    part = gain * numpy.exp(-lost * photons)
    by_photons = (1 - lost * photons) * part
    by_empty = empty / (1 - lost * empty)  # minus by log gain; times itself, by lost
    return ((photons * part - background) / own, by_photons,
            (by_photons * empty * by_empty - photons**2 * part) / own,
            (photons * part - by_photons * by_empty) / own)
