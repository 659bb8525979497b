"""The module simtbx_diffBragg_ext: the class diffBragg, on kernels of listed pixels and their
compiled derivatives."""

import warnings

import numpy
from cctbx.array_family import flex
from dxtbx import flumpy

import nanobragg

from ..compat._simtbx_state import _plain, shapetype, unit
from ._factors import Factors, of_parity
from ._flex import PixelNumbers
from ._geometry import Geometry
from ._kernels import Setup
from ._model import Model, Pixels
from ._moves import Numbers, rotation
from ._panels import Panels, polarization_form
from ._refined import FCELL, NCELLS, PANEL_ROT, Refined
from .nanobragg_ext import nanoBragg


def _matrix(name):
    return property(lambda self: tuple(getattr(self, name).reshape(-1).tolist()),
                    lambda self, value: setattr(self, name, numpy.array([float(x) for x in value]).reshape(3, 3)))


def _indices(hkl):
    """(pixels, 3) of flex.miller_index or a list."""
    if hasattr(hkl, "as_vec3_double"):
        return hkl.as_vec3_double().as_double().as_numpy_array().reshape(-1, 3).astype(int)
    return numpy.array([tuple(h) for h in hkl], dtype=int)


class diffBragg(Factors, Geometry, Refined, nanoBragg):
    """``diffBragg(detector, beam, verbose=0)`` with objects of dxtbx. Names mean what they mean in
    simtbx; docs/cctbx.md says what is different."""

    def __init__(self, detector, beam, verbose=0):
        super().__init__(detector, beam, verbose, 0)
        self._init_factors()
        self._model = Model(self._how)
        self._change_of_basis = self._u = numpy.eye(3)
        self._b, self._has_shape = None, False
        self._angles, self._missets = numpy.zeros(3), None
        self._cell_slopes, self._cell_curves = numpy.zeros((2, 6, 3, 3))
        self._width, self._isotropic = numpy.eye(3), False
        self._wave, self._use_wave = numpy.array([0.0, 1.0]), False
        self._blocks = self._blocks_prime = self._blocks_second = None
        self._given_prime = self._given_second = None
        self._refined, self._first, self._second, self._images = set(), {}, {}, {}
        self._reference, self._modelled, self._shift_z = numpy.zeros(3), 0, 0.0
        self._gamma, self._sigma, self._principal = numpy.full(3, 50.0), numpy.full(3, 0.4), numpy.eye(3)
        self._panels = Panels.of_detector(detector, self._state.righthanded)
        self._turns = [Panels.nothing(len(detector)) for _ in PANEL_ROT]
        self._npix = len(detector) * self._state.fpixels * self._state.spixels
        self._panel_id = 0
        for panel in range(len(detector)):
            self.update_dxtbx_geoms(detector, beam, panel)
        self._roi, self._lists = PixelNumbers(self._npix), []

    # Attributes that nothing follows from.

    compute_curvatures, oversample_omega, no_Nabc_scale = _plain("compute_curvatures", False, bool), _plain("oversample_omega", True, bool), _plain("no_Nabc_scale", False, bool)
    only_save_omega_kahn, update_oversample_during_refinement = _plain("only_save_omega_kahn", False, bool), _plain("update_oversample", True, bool)
    has_anisotropic_mosaic_spread, fudge = _plain("anisotropic_mosaic_spread", False, bool), _plain("fudge", 1.0, float)
    force_cpu, force_gpu, use_gpu, record_timings = (_plain(name, False, bool) for name in ("force_cpu", "force_gpu", "use_gpu", "record_timings"))
    record_time, Npix_to_allocate = _plain("record_time", True, bool), _plain("Npix_to_allocate", -1, int)
    store_ave_wavelength_image = _plain("store_ave_wavelength_image", False, bool)
    use_diffuse, only_diffuse = _plain("use_diffuse", False, bool), _plain("only_diffuse", False, bool)
    laue_group_num, stencil_size, gamma_miller_units = _plain("laue_group", 1, int), _plain("stencil_size", 0, int), _plain("gamma_miller_units", False, bool)
    hall_symbol, refine_Icell, track_Fhkl = _plain("hall_symbol", None, str), _plain("refine_Icell", False, bool), _plain("track_Fhkl", False, bool)
    dspace_bins = property(lambda self: list(self._bins), lambda self, value: setattr(self, "_bins", [float(x) for x in value]))
    most_recent_kernel_used_GPU = property(lambda self: False)
    reference_origin = property(lambda self: tuple(self._reference * 1000),
                                lambda self, value: setattr(self, "_reference", numpy.array([float(x) for x in value]) / 1000))
    diffuse_gamma = property(lambda self: tuple(self._gamma), lambda self, value: setattr(self, "_gamma", numpy.array([float(x) for x in value])))
    diffuse_sigma = property(lambda self: tuple(self._sigma), lambda self, value: setattr(self, "_sigma", numpy.array([float(x) for x in value])))
    Umatrix, Omatrix, _ext_rotate_principal_axes = _matrix("_u"), _matrix("_change_of_basis"), _matrix("_principal")

    def gpu_free(self):
        """Nothing to do: memory is Python's."""

    kokkos_free = gpu_free

    def show_timings(self, MPI_RANK=0):
        timing = nanobragg.counters()
        print(f"RANK{MPI_RANK} TIMINGS: kernels {timing}")

    # The crystal.

    @property
    def xtal_shape(self):
        return nanoBragg.xtal_shape.fget(self)

    @xtal_shape.setter
    def xtal_shape(self, value):
        nanoBragg.xtal_shape.fset(self, value)
        self._has_shape = True

    @property
    def Bmatrix(self):
        return tuple((numpy.zeros((3, 3)) if self._b is None else self._b).reshape(-1).tolist())

    @Bmatrix.setter
    def Bmatrix(self, value):
        state = self._state
        self._b = numpy.array([float(x) for x in value]).reshape(3, 3)
        state.reciprocal, state.user_cell, state.user_matrix = self._b.T.copy(), False, True
        state.init_cell()
        self._direct = state.direct.T.copy()

    @property
    def Ncells_abc(self):
        return float(self._width[0, 0])

    @Ncells_abc.setter
    def Ncells_abc(self, value):
        self._isotropic = True
        self.set_value(NCELLS, float(value[0]) if hasattr(value, "__len__") else float(value))

    isotropic_ncells = property(lambda self: self._isotropic, lambda self, value: setattr(self, "_isotropic", bool(value)))

    @property
    def Ncells_abc_aniso(self):
        return tuple(numpy.diag(self._width).tolist())

    @Ncells_abc_aniso.setter
    def Ncells_abc_aniso(self, value):
        self._isotropic = False
        self.set_ncells_values(value)

    def set_ncells_values(self, value):
        self._width = self._width.copy()
        numpy.fill_diagonal(self._width, [float(n) for n in value])
        self._state.N, self._state.size = [float(n) for n in value], [-1.0] * 3
        if self.update_oversample_during_refinement:
            self._state.update_oversample()

    @property
    def Ncells_def(self):
        return tuple(float(self._width[at]) for at in ((0, 1), (1, 2), (0, 2)))

    @Ncells_def.setter
    def Ncells_def(self, value):
        self._width = self._width.copy()
        for (i, j), n in zip(((0, 1), (1, 2), (0, 2)), value):
            self._width[i, j] = self._width[j, i] = float(n)

    def set_ucell_derivative_matrix(self, refine_id, value):
        self._cell_slopes[self._cell_parameter(refine_id)] = numpy.array([float(x) for x in value]).reshape(3, 3) * 1e-10

    def set_ucell_second_derivative_matrix(self, refine_id, value):
        self._cell_curves[self._cell_parameter(refine_id)] = numpy.array([float(x) for x in value]).reshape(3, 3) * 1e-10

    @staticmethod
    def _cell_parameter(refine_id):
        if not 3 <= refine_id < 9:
            raise ValueError(f"{refine_id} is none of the cell's numbers, which are 3 to 8")
        return refine_id - 3

    # Mosaic domains.

    def set_mosaic_blocks_prime(self, matrices):
        """Derivatives of the domains' rotations with respect to the spread, or to each of three:
        those for the first, then for the second and third."""
        self._given_prime = numpy.array([numpy.array(m, dtype=float).reshape(3, 3) for m in matrices])

    def set_mosaic_blocks_dbl_prime(self, matrices):
        self._given_second = numpy.array([numpy.array(m, dtype=float).reshape(3, 3) for m in matrices])

    def vectorize_umats(self):
        """The rotations of the domains, and their derivatives, become those of the model."""
        self._blocks = self._state.mosaic_blocks().copy()
        self._blocks_prime, self._blocks_second = self._given_prime, self._given_second

    # The beam.

    @property
    def lambda_coefficients(self):
        return float(self._wave[0]), float(self._wave[1])

    @lambda_coefficients.setter
    def lambda_coefficients(self, value):
        self._wave, self._use_wave = numpy.array([float(x) for x in value]), True

    use_lambda_coefficients = property(lambda self: self._use_wave, lambda self, value: setattr(self, "_use_wave", bool(value)))

    def update_xray_beams(self, beams):
        """Fluxes and wavelengths (m) of the sources; the weights then have the sum 1, so that
        images are fainter by the number of sources than after xray_beams, as in simtbx."""
        state = self._state
        flux = numpy.array([beam.get_flux() for beam in beams])
        if flux.sum() > 0:
            state.flux = flux.sum()
            state.init_beam()
        state.sources = state.sources[0], flux / (flux.sum() or 1.0), numpy.array([beam.get_wavelength() for beam in beams])

    def _basis(self):
        """Columns a, b and c (A) of the indices' setting, before rotations."""
        return (self._direct if self._b is not None else self._state.direct.T) @ self._change_of_basis.T

    def _numbers_now(self):
        if self._b is None and not self._state.direct.any():
            raise ValueError("diffBragg has no crystal; set Bmatrix and Umatrix")
        self._before = numpy.linalg.multi_dot([rotation(i, angle)[0] for i, angle in enumerate(self._angles)]) @ self._u
        blocks = self._state.mosaic_blocks() if self._blocks is None else self._blocks
        return Numbers(direct=self._before @ self._basis() * 1e-10, blocks=blocks, spread=1.0, spindle=self._before @ unit(self._state.spindle),
                       width=self._width, wave=(self._wave * [1e-10, 1] if self._use_wave else numpy.array([0.0, 1.0])), panels=self._panels, F=0.0,
                       gamma=self._gamma * 1e-10, sigma=self._sigma * 1e-10)

    # Images.

    def _rows(self, pfs):
        """(pixels, 3): panel, slow, fast. One array for each list of pixels, so that what is kept
        for it is found again."""
        array = (flumpy.to_numpy(pfs) if hasattr(pfs, "as_numpy_array") else numpy.asarray(pfs)).reshape(-1)
        for kept in self._lists:
            if kept[0].size == array.size and (kept[0][:60] == array[:60]).all() and (kept[0] == array).all():
                return kept[1]
        rows = array.reshape(-1, 3)[:, [0, 2, 1]].astype(int)
        self._lists = [(array.copy(), rows, {}), *self._lists[:Model.KEPT - 1]]
        return rows

    def _pixel_factors(self, rows):
        state = self._state
        incident, kahn = unit(-state.sources[0][0]), None if state.nopolar else state.polarization
        form = polarization_form(incident, unit(state.polar), kahn)
        key = state.pixel_size, not self.oversample_omega, max(1, state.oversample), self.no_Nabc_scale, form.tobytes()
        kept, = (of for _, known, of in self._lists if known is rows)
        if key not in kept:
            kept.clear()
            kept[key] = Pixels(rows, state.pixel_size, form, *key[1:4])
        return kept[key]

    def _setups(self, rows, diffuse, channels=False, apart=False):
        """Setups of the kernels whose images add up to that of the rows, with their channels where
        asked. apart: mosaic domains one by one."""
        state = self._state
        xyz, weight, wavelength = state.sources
        xyz = xyz / numpy.linalg.norm(xyz, axis=1)[:, None]
        detector = {"oversample": max(1, state.oversample), "oversample_omega": bool(self.oversample_omega),
                    "point_pixel": bool(self.point_pixel or not self.oversample_omega)}
        goniometer = {"phi": state.phi} if state.phi or state.phisteps > 1 else {}
        if state.phisteps > 1:
            goniometer |= {"osc": state.phistep * state.phisteps, "phi_steps": state.phisteps}
        layers = 1
        if state.thick > 0 and state.attenuation > 0:
            layers = state.thicksteps
            detector |= {"thickness": state.thickstep * layers, "attenuation_depth": state.attenuation, "thickness_steps": layers,
                         "oversample_thick": True}
        fields = {"Detector": detector, "Goniometer": goniometer}
        kinds = [] if diffuse and self.only_diffuse else [(fields | {"Crystal": {"fudge": self.fudge, "average": "sampled"}}, False)]
        if diffuse:  # without reflections
            kinds.append((fields | {"Crystal": {"fudge": 1e30, "diffuse_gamma": (1e-10 * numpy.array(self._gamma)).tolist(), "average": "sampled",
                                                "diffuse_sigma": (1e-10 * numpy.array(self._sigma)).tolist(), "laue_group": self.laue_group_num}}, True))
        setups = []
        for channel, anomalous, at in self._channel_sources():
            part = float(weight[at].sum())
            for sign, grid in self._factors_of(channel, anomalous) if part > 0 else ():
                default_F = abs(state.default_F)**0.5 if self.refine_Icell else state.default_F
                setups += [(Setup(rows, (state.spixels, state.fpixels), state.pixel_size, (xyz[at], weight[at], wavelength[at]),
                                  0 if apart else len(self._state.mosaic_blocks() if self._blocks is None else self._blocks),
                                  state.fluence * part / len(weight) / layers, default_F if sign > 0 else 0.0, grid, *kind, sign, self._state.shape == shapetype.Gauss_star), channel)
                           for kind in kinds]
        return setups if channels else [setup for setup, _ in setups]

    def add_diffBragg_spots(self, pfs=None, nominal_hkl=None):
        """The photons of pixels (panel, fast, slow, panel, ...) become the first numbers of
        raw_pixels_roi, and the derivatives with respect to what is refined those of their images;
        without arguments the pixels of region_of_interest, whose photons begin raw_pixels.
        nominal_hkl: of each pixel, the reflection that derivatives with respect to structure
        factors are of."""
        if pfs is None:
            rows = self._region()
            self._spots(rows, None)
            self._raw().reshape(-1)[:len(rows)] = self._images["image"]
        else:
            self._spots(self._rows(pfs), nominal_hkl)

    def _region(self):
        fast0, fast1, slow0, slow1 = self._state.roi
        slow, fast = numpy.mgrid[slow0:min(slow1, self._state.spixels), fast0:min(fast1, self._state.fpixels)].reshape(2, -1)
        return self._rows(numpy.stack([numpy.full(slow.shape, self._panel_id), fast, slow], axis=1))

    def add_diffBragg_spots_full(self):
        """Adds the spots of all pixels of all panels."""
        count, (slow, fast) = len(self._panels.origin), self._shape()
        panel, slow, fast = numpy.indices((count, slow, fast)).reshape(3, -1)
        self._spots(self._rows(numpy.stack([panel, fast, slow], axis=1)), None)
        return self.raw_pixels_roi

    def _spots(self, rows, nominal_hkl):
        if self._state.shape not in (shapetype.Gauss, shapetype.Gauss_argchk, shapetype.Gauss_star) and self._has_shape:
            raise NotImplementedError(f"diffBragg's spots are Gaussian here, and xtal_shape is {self._state.shape.name}; set shapetype.Gauss or Gauss_star, "
                                      "or take add_nanoBragg_spots")
        if len(rows) > self._npix:
            raise ValueError(f"{len(rows)} pixels are more than the detector has, {self._npix}")
        self._warn_of_diffuse()
        if self._b is None and not self._state.direct.any():
            warnings.warn("diffBragg has no crystal, and its image is empty; set Bmatrix and Umatrix", nanobragg.Warning, stacklevel=4)
            self._modelled, self._images = len(rows), {"image": numpy.zeros(len(rows))}
            self._roi.put(self._images["image"])
            return
        numbers, pixels = self._numbers_now(), self._pixel_factors(rows)
        moves = self._moves(numbers)
        apart = any(move.slope(0.0).blocks is not None for move in moves.values())
        setups = self._setups(rows, self.use_diffuse, apart=apart)
        image, slopes = self._model.evaluate(setups, pixels, numbers, [move.slope(0.0) for move in moves.values()], self.spot_scale)
        self._images = {"image": image, "rows": rows, "numbers": numbers}
        self._modelled = len(rows)
        self._roi.put(self._images["image"])
        for key, slope in zip(moves, slopes):
            self._put(self._first, key, slope)
        if self.compute_curvatures:
            curves = self._model.second_derivatives(setups, pixels, numbers, list(moves.values()), image, slopes)
            for key, curve in zip(moves, curves):
                self._put(self._second, key, self.spot_scale * curve)
        if FCELL in self._refined:
            self._factor_derivatives(setups, pixels, numbers, rows, nominal_hkl)
        if self.store_ave_wavelength_image:
            self._store_wavelengths(setups, pixels, numbers)

    def _factor_derivatives(self, setups, pixels, numbers, rows, nominal_hkl):
        """By the amplitude (or intensity, refine_Icell) of all reflections, or of each pixel's own.
        """
        first, second = numpy.zeros((2, len(rows)))
        groups = [(None, slice(None))]  # or the pixels whose reflections have even and odd h, k and l
        if nominal_hkl is not None:
            odd = (_indices(nominal_hkl) % 2) @ (4, 2, 1)
            groups = [(parity, numpy.flatnonzero(odd == i)) for i, parity in enumerate(numpy.ndindex(2, 2, 2)) if (odd == i).any()]
        for setup in setups:
            kernel, factor = self._model.kernel(setup, numbers), setup.sign * pixels.factor(numbers, setup)
            grid, low = setup.grid
            by = numpy.divide(0.5 * setup.sign, grid, out=numpy.zeros(grid.shape), where=grid > 0) if self.refine_Icell else numpy.ones(grid.shape)
            parts = [by if parity is None else by * of_parity(grid.shape, low, parity) for parity, _ in groups]
            whole = nominal_hkl is None and not self.refine_Icell  # default_F moves, too
            lights = kernel.derivatives(numbers, [Numbers(F=1.0 if whole else part) for part in parts], setup)[1]
            for (_, use), part, light in zip(groups, parts, lights):
                first[use] += (factor * light)[use]
                if self.compute_curvatures and not self.refine_Icell:
                    # The image is quadratic in F: its change by the same change is half its second
                    # derivative.
                    ones = setup.__class__(setup.rows, setup.shape, setup.pixel_size, setup.sources, setup.blocks, setup.fluence,
                                           1.0 if whole and setup.default_F > 0 else 0.0, (part * (grid > 0), low), setup.fields, setup.diffuse, star=setup.star)
                    second[use] += (2 * factor * self._model.kernel(ones, numbers).image(numbers, ones))[use]
        self._put(self._first, (FCELL, 0), self.spot_scale * first)
        self._put(self._second, (FCELL, 0), self.spot_scale * second)

    def _warn_of_diffuse(self):
        if self.use_diffuse and (self.stencil_size or self.gamma_miller_units):
            warnings.warn("diffuse scattering is that of the nearest reflection, and its gammas are in Angstrom: stencil_size and "
                          "gamma_miller_units have no effect", nanobragg.Warning, stacklevel=4)

    # Averages of pixels.

    def _nearest(self, numbers, rows, wavelength=None):
        """Fractional Miller indices at the pixels' centres, of the mean orientation and wavelength.
        """
        xyz, weight, waves = self._state.sources
        if wavelength is None:
            wavelength = numbers.wave[0] + numbers.wave[1] * (weight @ waves / weight.sum())
        diffracted = numbers.panels.at(rows, self._state.pixel_size)
        diffracted /= numpy.linalg.norm(diffracted, axis=1)[:, None]
        q = (diffracted - unit(-(weight @ xyz))) / numpy.reshape(wavelength, (-1, 1))
        return q @ numbers.direct

    def _store_wavelengths(self, setups, pixels, numbers):
        total, mean = self._model.by_wavelength(setups, pixels, numbers)
        with numpy.errstate(invalid="ignore", divide="ignore"):
            self._images["wavelength"] = mean / total

    def ave_wavelength_image(self):
        """Angstrom, the mean of each pixel's photons; store_ave_wavelength_image has to be set."""
        return flex.double(self._stored_wavelengths())

    def _stored_wavelengths(self):
        if "wavelength" not in self._images:
            raise ValueError("no wavelengths were stored; set store_ave_wavelength_image and call add_diffBragg_spots")
        return self._images["wavelength"]

    def ave_hkl_image(self):
        """h, k and l at the centres of the pixels for the mean wavelength of their photons and the
        mean orientation."""
        wavelength = self._stored_wavelengths() * 1e-10
        return tuple(flex.double(numpy.ascontiguousarray(x)) for x in self._nearest(self._images["numbers"], self._images["rows"], wavelength).T)


setattr(diffBragg, "__number_of_pixels_modeled_using_diffBragg", property(lambda self: self._modelled, lambda self, value: setattr(self, "_modelled", value)))
__all__ = ["diffBragg"]
