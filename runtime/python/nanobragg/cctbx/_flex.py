"""Arrays of cctbx at the boundary."""

import numpy
from cctbx import uctbx
from cctbx.array_family import flex
from dxtbx import flumpy


def _columns(kind):
    return lambda array: kind(*(flex.double(numpy.ascontiguousarray(column)) for column in numpy.asarray(array, dtype=float).T))


def _mat3(array):
    return flex.mat3_double([tuple(float(x) for x in block) for block in numpy.asarray(array, dtype=float).reshape(-1, 9)])


class Arrays:
    """The results of nanoBragg: flex arrays, unit cells and matrices of cctbx."""
    double = staticmethod(lambda array: flex.double(numpy.ascontiguousarray(array, dtype=float)))
    image = double
    vec2, vec3, mat3 = staticmethod(_columns(flex.vec2_double)), staticmethod(_columns(flex.vec3_double)), staticmethod(_mat3)
    indices = staticmethod(lambda array: flex.miller_index([tuple(int(i) for i in row) for row in array]))
    cell = staticmethod(uctbx.unit_cell)
    view = staticmethod(flumpy.to_numpy)
    matrix = staticmethod(lambda value: tuple(float(x) for x in numpy.asarray(value).reshape(-1)))

    @staticmethod
    def beams(state):
        from dxtbx.model import Beam
        from dxtbx_model_ext import flex_Beam
        beams = flex_Beam(len(state.sources[0]))
        for i, (xyz, weight, wavelength) in enumerate(zip(*state.sources)):
            beam = Beam()
            beam.set_direction(tuple(float(x) for x in xyz))
            beam.set_wavelength(wavelength * 1e10)
            beam.set_flux(weight)
            beam.set_polarization_fraction(state.polarization)
            beam.set_polarization_normal(tuple(float(x) for x in numpy.cross(state.beam, state.polar)))
            beams[i] = beam
        return beams


class PixelNumbers:
    """Numbers of all pixels as a flex array, of which the first ones are renewed when it is read.
    """

    def __init__(self, size, array=None):
        self.size, self.array, self.first, self.stale = size, array, numpy.zeros(0), False

    def put(self, first):
        self.first, self.stale = first, True

    def whole(self):
        if self.array is None:
            self.array = flex.double(self.size)
        if self.stale:
            flumpy.to_numpy(self.array).reshape(-1)[:len(self.first)] = self.first
            self.stale = False
        return self.array
