"""diffBragg's structure factors: complex ones, scales of the asymmetric unit by channel of
energies, gradients, restraints."""

import numpy

from ..compat.simtbx import _numbers
from ._asymmetric_unit import AsymmetricUnit
from ._moves import Numbers


def of_parity(shape, low, odd):
    """Which reflections of a box from the lowest indices on have h, k and l of this parity."""
    h, k, l = ((numpy.arange(n) + first) % 2 == rest for n, first, rest in zip(shape, low, odd))  # noqa: E741
    return h[:, None, None] & k[:, None] & l


class Factors:
    """Members of diffBragg."""

    def _init_factors(self):
        self.hall_symbol, self.refine_Icell, self.dspace_bins, self.track_Fhkl = " P 4nw 2abw", False, [], False
        self._scales = self._imaginary = self._unit = self._unit_of = self._mates = None
        self._atoms = self._anomalous = None
        self._channels, self._channel_count, self._gradient_indices, self._grids = [], 1, [], {}

    @property
    def Fhkl_tuple(self):
        """Miller indices, amplitudes and None; of complex structure factors their real and
        imaginary parts."""
        real = self._arrays.double(self._grid()[0].reshape(-1))
        return (self.indices, real) if self._imaginary is None else (self.indices, real, self._arrays.double(self._imaginary.reshape(-1)))

    @Fhkl_tuple.setter
    def Fhkl_tuple(self, value):
        self.indices, self.amplitudes = value[0], value[1]
        self._imaginary = None
        if len(value) > 2 and value[2] is not None:
            grid, low = self._grid()
            self._imaginary = numpy.zeros(grid.shape)
            self._imaginary[tuple((self._state.indices - low).T)] = _numbers(value[2])
            origin = tuple(-i for i in low)
            if all(0 <= i < n for i, n in zip(origin, grid.shape)):
                self._imaginary[origin] = 0

    @property
    def heavy_atom_data(self):
        """Five lists: fractional x, y and z, B factors (A^2) and occupancies of the atoms of
        fprime_fdblprime."""
        return tuple([] if self._atoms is None else part.tolist() for part in ([()] * 5 if self._atoms is None else self._atoms))

    @heavy_atom_data.setter
    def heavy_atom_data(self, value):
        parts = [numpy.array(list(part), dtype=float) for part in value]
        if len(parts) != 5 or len({len(part) for part in parts}) != 1:
            raise ValueError("heavy_atom_data is five lists of one length: x, y, z, B and occupancy of each atom")
        self._atoms = numpy.array(parts)

    @property
    def fprime_fdblprime(self):
        """Lists of f' and f'' (electrons), a number for each source."""
        return ([], []) if self._anomalous is None else tuple(self._anomalous.T.tolist())

    @fprime_fdblprime.setter
    def fprime_fdblprime(self, value):
        parts = [numpy.array(list(part), dtype=float) for part in value]
        if len(parts) != 2 or any(len(part) != len(self._state.sources[0]) for part in parts):
            raise ValueError(f"fprime_fdblprime is two lists, of f' and f'', with a number for each of the {len(self._state.sources[0])} sources")
        self._anomalous = numpy.array(parts).T

    def _refuse_derivatives(self, *_):
        raise NotImplementedError("derivatives with respect to f' and f'' are not computed here; the parameters f_prime and f_double_prime of nanobragg have them "
                                  "(docs/structure-factors.md)")

    fprime_fdblprime_derivs = property(_refuse_derivatives, _refuse_derivatives)
    get_fp_fdp_derivative_pixels = _refuse_derivatives

    def _of_atoms(self, shape, low):
        """The atoms' share of structure factors per electron of f' + i f''."""
        hkl = numpy.indices(shape) + numpy.reshape(low, (3, 1, 1, 1))
        s_squared = (numpy.tensordot(numpy.linalg.inv(self._basis()).T, hkl, 1)**2).sum(axis=0)
        return sum(occupancy * numpy.exp(2j * numpy.pi * (x * hkl[0] + y * hkl[1] + z * hkl[2]) - b / 4 * s_squared) for x, y, z, b, occupancy in self._atoms.T)

    def quick_Fhkl_update(self, value):
        """Other amplitudes of some Miller indices that were given before."""
        grid, low = self._grid()
        grid = grid.copy()
        grid[tuple((numpy.array(list(value[0]), dtype=int) - low).T)] = _numbers(value[1])
        self._kept = grid, low

    def free_Fhkl2(self):
        """Nothing to do: memory is Python's."""

    def _asu(self):
        """The asymmetric unit of the box of structure factors, with the change of basis and the
        space group that were set before."""
        grid, low = self._grid()
        if self._unit_of is not self._state.indices:
            cell = self._get_cell()
            self._unit = AsymmetricUnit(grid, low, self.hall_symbol, self._change_of_basis, cell)
            self._unit_of = self._state.indices
        return self._unit

    Num_ASU = property(lambda self: self._asu().size)
    Fhkl_have_scale_factors = property(lambda self: self._scales is not None)
    Fhkl_gradient_indices = property(lambda self: list(self._gradient_indices))

    def _update_channels(self, channels):
        if len(channels) != len(self._state.sources[0]):
            raise ValueError(f"there are {len(self._state.sources[0])} sources and {len(channels)} channels; give one for each source")
        self._channels = [int(c) for c in channels]

    def _update_scales(self, scales, channels):
        scales = numpy.array(scales, dtype=float)
        if scales.shape != (self.Num_ASU * channels,):
            raise ValueError(f"there are {self.Num_ASU} reflections in {channels} channels and {len(scales)} scales")
        self._scales, self._channel_count = scales.reshape(channels, -1), channels

    def _channel_sources(self):
        """Channels, f' and f'', and the sources that have these."""
        count = len(self._state.sources[0])
        of = numpy.zeros((count, 3))
        of[:, 0] = self._channels or 0
        if self._anomalous is not None and self._atoms is not None and self._atoms.size:
            if len(self._anomalous) != count or self._imaginary is None:
                raise ValueError("f' and f'' are added to complex structure factors, Fhkl_tuple = (indices, real, imaginary), and fprime_fdblprime has "
                                 f"a number for each of the {count} sources")
            of[:, 1:] = self._anomalous
        kinds, which = numpy.unique(of, axis=0, return_inverse=True)
        return [(int(kind[0]), tuple(kind[1:]), numpy.flatnonzero(which.reshape(-1) == i)) for i, kind in enumerate(kinds)]

    def _factors_of(self, channel, anomalous):
        """(sign, (array, lowest indices)): amplitudes whose intensities add up to those of the
        channel."""
        grid, low = self._grid()
        key = id(grid), id(self._imaginary), id(self._scales), id(self._atoms), channel, self.refine_Icell, anomalous, self._basis().tobytes() if any(anomalous) else b""
        if key not in self._grids:
            intensity = grid if self.refine_Icell else grid**2 if self._imaginary is None else grid**2 + self._imaginary**2
            if any(anomalous):
                intensity = numpy.abs(grid + 1j * self._imaginary + complex(*anomalous) * self._of_atoms(grid.shape, low))**2
            if self._scales is not None:
                intensity = intensity * self._scales[channel][self._asu().of]
            parts = [(sign, (numpy.sqrt(numpy.maximum(sign * intensity, 0)), low)) for sign in (1, -1)]
            kept = [part for part in parts if part[0] > 0 or part[1][0].any()]
            # The sources of the key stay alive with it, so that it stays theirs.
            self._grids = {k: v for k, v in self._grids.items() if k[:4] == key[:4]} | {key: (kept, grid, self._imaginary, self._scales, self._atoms)}
        return self._grids[key][0]

    def _add_gradients(self, pfs, residual, variance, trusted, frequency, channels, scale, track=False, errors=False):
        """The gradient of hopper's likelihood with respect to the scales of the asymmetric unit,
        channel after channel; errors: the diagonal of its second derivatives, in which a pixel's
        light is its reflections'."""
        if self.spot_scale != 1:
            raise ValueError("spot_scale is 1 where gradients with respect to structure factors are computed: give the scale of the shot to add_Fhkl_gradients")
        rows, unit = self._rows(pfs), self._asu()
        term, per = 1 - 2 * residual - residual**2 / variance, 1 / variance
        first = numpy.where(trusted, 0.5 * term * per / frequency, 0.0)
        second = numpy.where(trusted, -0.5 * per * (per * term - 2 - 2 * residual * per - residual**2 * per**2) / frequency, 0.0)
        pixels, numbers = self._pixel_factors(rows), self._numbers_now()
        result, indices = numpy.zeros((channels, unit.size)), set()
        for setup, channel in self._setups(rows, diffuse=False, channels=True):
            kernel, factor = self._model.kernel(setup, numbers), scale * setup.sign * pixels.factor(numbers, setup)
            grid, scales = setup.grid[0], 1.0 if self._scales is None else self._scales[channel][unit.of]
            if errors:
                for asu, light in self._light_of_reflections(kernel, setup, numbers, rows, unit):
                    numpy.add.at(result[channel], asu, second * (factor * light)**2 / (1 if self._scales is None else self._scales[channel][asu])**2)
                    indices.update((channel * unit.size + asu[trusted & (light != 0)]).tolist())
                continue
            function, theta = kernel.function(["F"], kernel.values(numbers, setup), setup)
            by = function.vjp(theta, first * factor)[:grid.size].reshape(grid.shape)
            result[channel] += numpy.bincount(unit.of.reshape(-1), (by * grid / (2 * scales)).reshape(-1), minlength=unit.size)
            if track:
                indices.update((channel * unit.size + numpy.unique(unit.of[by != 0])).tolist())
        if track:
            self._gradient_indices = sorted(indices)
        return result.reshape(-1)

    def _light_of_reflections(self, kernel, setup, numbers, rows, unit):
        """(reflections of the asymmetric unit, light) of each pixel, in eight parts: those of even
        and odd h, k and l, of which the nearest one to a pixel has the light."""
        h, low, shape = self._nearest(numbers, rows), numpy.array(setup.grid[1]), setup.grid[0].shape
        for odd in numpy.ndindex(2, 2, 2):
            part = of_parity(shape, low, odd)
            light = kernel.derivatives(numbers, [Numbers(F=setup.grid[0] * part / 2)], setup)[1][0]
            at = numpy.rint((h - odd) / 2).astype(int) * 2 + odd - low
            inside = ((at >= 0) & (at < shape)).all(axis=1)
            yield unit.of[tuple(numpy.clip(at, 0, numpy.array(shape) - 1).T)], numpy.where(inside, light, 0.0)

    # Restraints.

    def _set_mates(self, plus, minus):
        if len(plus) != len(minus):
            raise ValueError(f"there are {len(plus)} reflections and {len(minus)} mates")
        self._mates = numpy.array(plus, dtype=int), numpy.array(minus, dtype=int)

    def _means(self, use_scales, channel, geometric):
        scales = self._scales[channel] if use_scales else numpy.ones(self.Num_ASU)
        return tuple(values[1:].tolist() for values in self._asu().means(self.dspace_bins, scales, geometric))

    def _restraint(self, channel, beta, geometric, kind):
        scales, unit = self._scales[channel], self._asu()
        if kind == 1 and self._mates is None:
            raise ValueError("there are no Friedel mates; call prep_Friedel_restraints")
        value, gradient = (unit.restrain_means(self.dspace_bins, scales, beta, geometric) if kind == 0
                           else unit.restrain_friedel(*self._mates, scales, beta) if kind == 1
                           else unit.restrain_start(self.dspace_bins, scales, beta))
        return numpy.append(gradient, value)


# Names with which simtbx's Python hides them from users.
setattr(Factors, "__update_Fhkl_channels", Factors._update_channels)
setattr(Factors, "__update_Fhkl_scale_factors", Factors._update_scales)
setattr(Factors, "__add_Fhkl_gradients", Factors._add_gradients)
Factors._ave_I_cell, Factors._Fhkl_restraint_data, Factors._set_Friedel_mate_inds = Factors._means, Factors._restraint, Factors._set_mates
