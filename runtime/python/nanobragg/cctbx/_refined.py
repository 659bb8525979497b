"""The numbers that diffBragg refines, the curves along them, and the images of their derivatives.
"""

import numpy
from cctbx.array_family import flex

from ..compat._simtbx_state import unit
from ._flex import PixelNumbers
from ._moves import cell, line, misset, mosaic, one_spread

NCELLS, PANEL_Z, FCELL, LAMBDA, PANEL_ROT, PANEL_X, PANEL_Y, ETA, NCELLS_DEF, FP_FDP, DIFFUSE = 9, 10, 11, (12, 13), (14, 17, 18), 15, 16, 19, 21, 22, 23

REFINED = set(range(24)) - {20}


def _three(images, refine_id, first=0):
    return lambda self: tuple(self._derivative(getattr(self, images), refine_id, part) for part in range(first, first + 3))


class Refined:
    """Members of diffBragg."""

    def set_value(self, refine_id, value):
        if refine_id < 3:
            self._angles = self._angles.copy()
            self._angles[refine_id] = value
        elif refine_id == NCELLS:
            self.set_ncells_values((value,) * 3)

    def get_value(self, refine_id):
        return float(self._angles[refine_id]) if refine_id < 3 else self.Ncells_abc if refine_id == NCELLS else 0.0

    def refine(self, refine_id):
        """From now on add_diffBragg_spots computes this derivative."""
        if refine_id not in REFINED:
            raise ValueError(f"{refine_id} is not a number of what diffBragg refines, which are 0 to {max(REFINED)} but for 20; nanobragg has derivatives with respect to "
                             "all its parameters, also fudge, phi, osc and source_weight (Simulator.function)")
        if refine_id in LAMBDA:
            self._use_wave = True
        if refine_id == ETA and self._given_prime is None:
            raise ValueError("the mosaic spread has no derivatives; call set_mosaic_blocks_prime")
        if refine_id == FP_FDP:
            self._refuse_derivatives()
        self._refined.add(refine_id)
        self._clear(refine_id)

    def let_loose(self, refine_id):
        self._refined.add(refine_id)

    def fix(self, refine_id):
        self._refined.discard(refine_id)

    def _keys(self, refine_id):
        """The keys of the derivative images."""
        count = {NCELLS: 3, NCELLS_DEF: 3, ETA: 3 if self.has_anisotropic_mosaic_spread else 1, DIFFUSE: 6}.get(refine_id, 1)
        return [(refine_id, i) for i in range(count)]

    def _clear(self, refine_id):
        for key in self._keys(refine_id):
            self._first[key], self._second[key] = PixelNumbers(self._npix), PixelNumbers(self._npix)

    def initialize_managers(self):
        for refine_id in self._refined:
            self._clear(refine_id)

    def print_if_refining(self):
        for refine_id in sorted(self._refined):
            print(f"Refining {refine_id}")

    def _moves(self, numbers):
        """Curves of what is refined, by the keys of their derivatives."""
        moves = {}
        for i in self._refined:
            if i < 3:
                frame = self._u @ (self._direct if self._b is not None else self._state.direct.T) @ self._change_of_basis.T * 1e-10
                moves[i, 0] = misset(numbers, i, self._angles, frame, self._u @ unit(self._state.spindle))
            elif i < 9:
                moves[i, 0] = cell(numbers, self._before, self._cell_slopes[i - 3], self._cell_curves[i - 3], self._change_of_basis.T)
            elif i == NCELLS and self._isotropic:
                moves[i, 0] = line(numbers, width=numpy.eye(3))
            elif i in (NCELLS, NCELLS_DEF):
                for n, (j, k) in enumerate(((0, 0), (1, 1), (2, 2)) if i == NCELLS else ((0, 1), (1, 2), (0, 2))):
                    by = numpy.zeros((3, 3))
                    by[j, k] = by[k, j] = 1
                    moves[i, n] = line(numbers, width=by)
            elif i in (PANEL_Z, PANEL_X, PANEL_Y):
                moves[i, 0] = line(numbers, panels=self._panels.shifted(numpy.eye(3)[{PANEL_Z: 2, PANEL_X: 0, PANEL_Y: 1}[i]]))
            elif i in PANEL_ROT:
                moves[i, 0] = line(numbers, panels=self._turns[PANEL_ROT.index(i)])
            elif i in LAMBDA:
                moves[i, 0] = line(numbers, wave=numpy.array([1e-10, 0.0] if i == LAMBDA[0] else [0.0, 1.0]))
            elif i == ETA and not self.has_anisotropic_mosaic_spread and (factor := one_spread(numbers.blocks, self._blocks_prime[:len(numbers.blocks)])):
                moves[i, 0] = line(numbers, spread=factor)
            elif i == ETA:
                n = len(numbers.blocks)
                for k in range(3 if self.has_anisotropic_mosaic_spread and len(self._blocks_prime) == 3 * n else 1):
                    second = self._blocks_second
                    moves[i, k] = mosaic(numbers, self._blocks_prime[k * n:(k + 1) * n],
                                         numpy.zeros((n, 3, 3)) if second is None else second[k * n:(k + 1) * n])
            elif i == DIFFUSE and self.use_diffuse:
                for k in range(6):
                    moves[i, k] = line(numbers, **{"gamma" if k < 3 else "sigma": numpy.eye(3)[k % 3] * 1e-10})
        return moves

    # Images of derivatives.

    raw_pixels_roi = property(lambda self: self._roi.whole(), lambda self, value: setattr(self, "_roi", PixelNumbers(self._npix, value)))

    def _put(self, images, key, values):
        if key not in images:
            images[key] = PixelNumbers(self._npix)
        images[key].put(values)

    def get_derivative_pixels(self, refine_id):
        self._derivative(self._first, refine_id)
        first = self._first[refine_id, 0].first
        return flex.double(numpy.ascontiguousarray(first)) if len(first) else flex.double(self._modelled)

    def _derivative(self, images, refine_id, part=0):
        if (refine_id, part) not in images:
            raise ValueError(f"there is no derivative with respect to {refine_id}; call refine({refine_id}) and add_diffBragg_spots")
        return images[refine_id, part].whole()

    def _hidden_derivative(self, refine_id):
        return self._derivative(self._first, refine_id)

    def get_second_derivative_pixels(self, refine_id):
        return self._derivative(self._second, refine_id)

    get_ncells_derivative_pixels, get_ncells_second_derivative_pixels = _three("_first", NCELLS), _three("_second", NCELLS)
    get_ncells_def_derivative_pixels, get_ncells_def_second_derivative_pixels = _three("_first", NCELLS_DEF), _three("_second", NCELLS_DEF)
    get_aniso_eta_deriv_pixels, get_aniso_eta_second_deriv_pixels = _three("_first", ETA), _three("_second", ETA)
    get_diffuse_gamma_derivative_pixels, get_diffuse_sigma_derivative_pixels = _three("_first", DIFFUSE), _three("_first", DIFFUSE, 3)

    def get_lambda_derivative_pixels(self):
        return tuple(self._derivative(self._first, i) for i in LAMBDA if i in self._refined)


setattr(Refined, "__get_derivative_pixels", Refined._hidden_derivative)
