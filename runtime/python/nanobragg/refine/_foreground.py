"""The pixels that DIALS sums for a reflection."""

import numpy

from ._positions import scattering_vectors


def foreground(profile, sim, at, panel, rows):
    """Which pixels of reflections' boxes lie within n_sigma times sigma_b of the ray that is
    predicted, on whichever frame. All, where the profile does not say these.

    profile: of an experiment list. sim: a simulator that knows where pixels are. For each pixel:
    at, where its reflection is predicted (fast, slow), panel, and rows (slow, fast).
    """
    reach = [profile.get(name) for name in ("n_sigma", "sigma_b")]
    if not all(isinstance(value, float) and value > 0 for value in reach):
        return numpy.ones(len(rows), bool)
    ray = lambda places: scattering_vectors(sim, panel, places - 0.5) * sim["wavelength"]
    middle = ray(at[:, ::-1])
    corners = [rows + numpy.array(corner) for corner in ((0, 0), (0, 1), (1, 0), (1, 1))]
    nearest = numpy.min([((ray(corner) - middle)**2).sum(axis=1) for corner in corners], axis=0)
    return nearest <= (reach[0] * numpy.radians(reach[1]))**2
