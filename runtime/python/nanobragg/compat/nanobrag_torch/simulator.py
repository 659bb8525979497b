"""Configurations to images."""

import collections
import functools
import math
import warnings

import numpy
import torch

import nanobragg
from nanobragg.torch import image, image_of_numbers

from .config import BeamConfig, CrystalConfig, CrystalShape, DetectorPivot
from .models.crystal import as_tensor, number
from .models.detector import Detector, axes_of, beam_of

_A, _mm, _um, _deg = 1e-10, 1e-3, 1e-6, math.pi / 180
_CELL = 100 * _A, 100 * _A, 100 * _A, 90 * _deg, 90 * _deg, 90 * _deg
_shapes = {CrystalShape.SQUARE: "square", CrystalShape.ROUND: "round", CrystalShape.GAUSS: "gauss", CrystalShape.TOPHAT: "tophat"}
# Simulators by what cannot change: with all numbers new in every iteration nothing is compiled, nor
# made, again.
_made = collections.OrderedDict()
_most = 16


def _zero(value):
    return not isinstance(value, torch.Tensor) and value == 0


def mosaic_rotations(config, like):
    """Axes (domains, 3) and angles (domains,) in rad of the mosaic domains' rotations, as
    Simulator.run has them."""
    n = config.mosaic_domains
    if n == 1 or _zero(config.mosaic_spread_deg):
        return torch.eye(3, dtype=like.dtype, device=like.device)[:1].expand(n, 3), torch.zeros(n, dtype=like.dtype, device=like.device)
    seed = None if config.mosaic_seed is None else abs(config.mosaic_seed)
    sim = nanobragg.Simulator(nanobragg.Crystal(cell=_CELL, default_F=1, mosaic_spread=_deg, mosaic_domains=n, mosaic_seed=seed,
                                                average="sampled"), nanobragg.Detector(shape=(1, 1)))
    return (as_tensor(sim["mosaic_axis"], like),
            as_tensor(sim["mosaic_unit_angle"], like) * as_tensor(config.mosaic_spread_deg, like) * _deg)


@functools.lru_cache(maxsize=64)
def _units(units):
    return torch.tensor(units, dtype=torch.float64)


class Simulator:
    """The image of a crystal on a detector in a beam.

    ``run()`` returns a tensor (slow, fast), differentiable twice by every tensor in the
    configurations, on the device and in the dtype of this simulator; it is computed in float64 on
    the processor.
    """

    def __init__(self, crystal, detector, crystal_config=None, beam_config=None, device=None, dtype=torch.float32, debug_config=None):
        self.crystal, self.detector = crystal, detector
        if crystal_config is not None and not isinstance(crystal_config, CrystalConfig):
            raise TypeError(f"crystal_config is a {type(crystal_config).__name__}; the beam is beam_config=")
        if crystal_config is not None:
            for name in ("phi_start_deg", "osc_range_deg", "phi_steps", "mosaic_spread_deg", "mosaic_domains", "mosaic_seed",
                         "spindle_axis"):
                setattr(crystal.config, name, getattr(crystal_config, name))
        self.beam_config = beam_config if beam_config is not None else getattr(crystal, "beam_config", None) or BeamConfig()
        self.device = torch.zeros((), device=device).device
        self.dtype = dtype
        self.detector = detector.to(device=self.device, dtype=dtype)
        self.debug_config = debug_config or {}

    # Images do not need them.
    def _tensor(self, value):
        return as_tensor(value, torch.zeros((), device=self.device, dtype=self.dtype))

    incident_beam_direction = property(lambda self: self._tensor(beam_of(self.detector.config)))
    wavelength = property(lambda self: self._tensor(self.beam_config.wavelength_A))
    fluence = property(lambda self: self._tensor(self.beam_config.fluence))
    kahn_factor = property(lambda self: self._tensor(0.0 if self.beam_config.nopolar else self.beam_config.polarization_factor))

    def _oversample(self, given):
        n = self.detector.config.oversample if given is None else given
        if n != -1:
            return int(n)
        c, d = self.crystal.config, self.detector.config
        size = max(abs(number(edge) * _A * number(n)) for edge, n in zip((c.cell_a, c.cell_b, c.cell_c), c.N_cells))
        pixel = number(self.beam_config.wavelength_A) * _A * number(d.distance_mm) / number(d.pixel_size_mm)
        n = max(1, math.ceil(3.0 * size / pixel))
        print(f"auto-selected {n}-fold oversampling")
        return n

    def _parts(self, oversample, omega, polar, thick):
        """Crystal, beam, detector and goniometer, by what decides the program and the sizes of
        tables; numbers come later."""
        c, d, b = self.crystal.config, self.detector.config, self.beam_config
        axis = (0., 0., 1.) if b.polarization_axis is None else tuple(float(x) for x in b.polarization_axis)
        direction = tuple(float(x) for x in beam_of(d))
        if sum(x * y for x, y in zip(axis, direction))**2 > 0.99 * sum(x * x for x in axis) * sum(x * x for x in direction):
            axis = (1., 0., 0.) if abs(direction[2]) > 0.5 else (0., 0., 1.)  # along the beam it says nothing
        crystal = nanobragg.Crystal(cell=_CELL, default_F=1, ncells=5, shape=_shapes[c.shape], average="sampled",
                                    interpolate=bool(self.crystal.interpolate and self.crystal.hkl_data is not None))
        if c.mosaic_domains > 1 or not _zero(c.mosaic_spread_deg):
            crystal.mosaic_spread, crystal.mosaic_domains, crystal.mosaic_in_lab = _deg, c.mosaic_domains, True
            crystal.mosaic_seed = None if c.mosaic_seed is None else abs(c.mosaic_seed)
        if c.misset_random:
            crystal.misset, crystal.misset_seed = "random", c.misset_seed
        if float(b.dmin or 0) > 0:
            crystal.dmin = float(b.dmin) * _A
        beam = nanobragg.Beam(wavelength=_A, unpolarized=bool(b.nopolar))
        if float(b.water_size_um) > 0:
            beam.water = float(b.water_size_um) * _um
        fast, slow, normal = ([float(x) for x in vector] for vector in axes_of(d))
        detector = nanobragg.Detector(
            shape=(d.spixels, d.fpixels), pixel_size=1e-4, fast_axis=fast, slow_axis=slow, normal=normal, beam_direction=direction,
            polarization_axis=axis, twotheta_axis=[float(x) for x in d.twotheta_axis], oversample=oversample,
            region=(d.roi_xmin, d.roi_xmax, d.roi_ymin, d.roi_ymax), curved=bool(d.curved_detector), point_pixel=bool(d.point_pixel),
            pivot="beam" if d.detector_pivot == DetectorPivot.BEAM else "sample", oversample_omega=bool(omega), oversample_polar=bool(polar),
            oversample_thick=bool(thick), **{"distance" if d.close_distance_mm is None else "close_distance": 0.1})
        if d.detector_abs_um is not None and not _zero(d.detector_thick_um):
            detector.thickness = detector.attenuation_depth = 1e-4
            detector.thickness_steps = d.detector_thicksteps
        goniometer = nanobragg.Goniometer(phi_steps=c.phi_steps, osc=_deg, axis=[float(x) for x in c.spindle_axis])
        return crystal, beam, detector, goniometer

    def _simulator(self, parts):
        c, d, b = self.crystal.config, self.detector.config, self.beam_config
        hkl = self.crystal.hkl_data
        stars = (c.mosflm_a_star, c.mosflm_b_star, c.mosflm_c_star)
        matrix = None if any(s is None for s in stars) else torch.stack([as_tensor(s, torch.zeros((), dtype=torch.float64))
                                                                         for s in stars], dim=1)
        mask = None if d.mask_array is None else numpy.asarray(torch.as_tensor(d.mask_array).cpu()) != 0
        sources = None if b.source_directions is None or len(b.source_directions) == 0 else [
            [float(x) for x in row] for row in b.source_directions]
        waves = None if sources is None else (
            [number(b.wavelength_A) * _A] * len(sources) if b.source_wavelengths is None else [float(x) for x in b.source_wavelengths])
        bounds = None
        if hkl is not None and self.crystal.hkl_metadata is not None:
            bounds = tuple(int(self.crystal.hkl_metadata[f"{axis}_min"]) for axis in "hkl")
        key = (repr(parts), None if mask is None else mask.tobytes(), repr(sources), repr(waves), matrix is None,
               None if bounds is None else (bounds, tuple(hkl.shape)))
        if key in _made:
            _made.move_to_end(key)
            sim, state = _made[key]
        else:
            crystal, beam, detector, _ = parts
            if sources is not None:
                beam.sources = [(*row, 1.0, wave) for row, wave in zip(sources, waves)]
            detector.mask = mask
            if matrix is not None:
                crystal.cell, crystal.matrix = None, matrix.detach().numpy() / _A
            if bounds is not None:
                crystal.structure_factors = hkl.detach().double().cpu().numpy(), bounds
            with warnings.catch_warnings():
                # Warnings of fields that have no effect yet: the numbers come later.
                warnings.simplefilter("ignore", nanobragg.Warning)
                sim = nanobragg.Simulator(*parts, engine="fused", compat="c")
            state = {"hkl": self._identity(hkl) if bounds is not None else None}
            _made[key] = sim, state
            while len(_made) > _most:
                _made.popitem(last=False)
        if bounds is not None and not hkl.requires_grad and state["hkl"] != self._identity(hkl):
            sim.structure_factors = hkl.detach().double().cpu().numpy(), bounds
            state["hkl"] = self._identity(hkl)
        return sim, matrix, bounds is not None

    @staticmethod
    def _identity(tensor):
        # Also the sum: memory that was given back may hold other structure factors.
        return None if tensor is None else (tensor.data_ptr(), tensor._version, tensor.dtype, float(tensor.detach().double().sum()))

    def _numbers(self, sim, matrix, grid):
        """All numbers, as name -> (float, tuple or tensor; its unit in SI units)."""
        c, d, b = self.crystal.config, self.detector.config, self.beam_config
        numbers = {"default_F": (float(c.default_F), 1.0), "mosaic_spread": (c.mosaic_spread_deg, _deg),
                   "phi0": (c.phi_start_deg, _deg), "osc": (c.osc_range_deg, _deg), "fluence": (b.fluence, 1.0),
                   "pixel_size": (d.pixel_size_mm, _mm), "fudge": (c.fudge, 1.0), "wavelength": (b.wavelength_A, _A),
                   "kahn_factor": (b.polarization_factor, 1.0), "detector_rotx": (d.detector_rotx_deg, _deg),
                   "detector_roty": (d.detector_roty_deg, _deg), "detector_rotz": (d.detector_rotz_deg, _deg),
                   "twotheta": (d.detector_twotheta_deg, _deg)}
        if matrix is None:
            numbers.update(cell_a=(c.cell_a, _A), cell_b=(c.cell_b, _A), cell_c=(c.cell_c, _A), cell_alpha=(c.cell_alpha, _deg),
                           cell_beta=(c.cell_beta, _deg), cell_gamma=(c.cell_gamma, _deg))
        else:
            numbers["reciprocal_matrix"] = matrix, 1 / _A
        for axis, n in zip("abc", c.N_cells):
            numbers[f"ncells_{axis}"] = n, 1.0
        if not c.misset_random:
            for axis, misset in zip("xyz", c.misset_deg):
                numbers[f"misset_{axis}"] = misset, _deg
        if d.close_distance_mm is not None:
            numbers["close_distance"] = d.close_distance_mm, _mm
        else:
            numbers["distance"] = d.distance_mm, _mm
        half = 0.5 if d.detector_convention.value == "mosflm" else 0.0
        if d.pix0_override_m is not None and d.detector_pivot == DetectorPivot.BEAM:
            moved = Detector(d, dtype=torch.float64)
            numbers["beam_center_fast"] = moved.beam_center_f * moved.pixel_size, 1.0
            numbers["beam_center_slow"] = moved.beam_center_s * moved.pixel_size, 1.0
        else:
            numbers["beam_center_fast"] = d.beam_center_f + half * d.pixel_size_mm, _mm
            numbers["beam_center_slow"] = d.beam_center_s + half * d.pixel_size_mm, _mm
        if d.detector_abs_um is not None and not _zero(d.detector_thick_um):
            numbers.update(attenuation_depth=(d.detector_abs_um, _um), sensor_thickness=(d.detector_thick_um, _um))
        if grid and self.crystal.hkl_data.requires_grad:
            numbers["F"] = self.crystal.hkl_data, 1.0
        return numbers

    @staticmethod
    def _image(sim, tensors):
        if any(value.dim() for value, _ in tensors.values()):
            return image(sim, **{name: value * unit for name, (value, unit) in tensors.items()})
        # In one product: torch takes as long for the derivative of one number as for that of a
        # vector.
        values, units = zip(*tensors.values())
        return image_of_numbers(sim, tuple(tensors), torch.stack(values) * _units(units))

    def run(self, pixel_batch_size=None, override_a_star=None, oversample=None, oversample_omega=None, oversample_polar=None,
            oversample_thick=None):
        """The image, photons per pixel. pixel_batch_size has no effect: memory does not grow with
        the image."""
        if override_a_star is not None:
            raise NotImplementedError("override_a_star: give mosflm_a_star, mosflm_b_star and mosflm_c_star in CrystalConfig instead")
        d = self.detector.config

        def chosen(given, name):
            return getattr(d, name) if given is None else given

        sim, matrix, grid = self._simulator(self._parts(
            self._oversample(oversample), chosen(oversample_omega, "oversample_omega"), chosen(oversample_polar, "oversample_polar"),
            chosen(oversample_thick, "oversample_thick")))
        if not hasattr(sim, "_port_names"):
            sim._port_names = set(sim.parameters)
        constants, tensors = {}, {}
        for name, (value, unit) in self._numbers(sim, matrix, grid).items():
            if name not in sim._port_names:
                continue
            if isinstance(value, torch.Tensor) and value.requires_grad and torch.is_grad_enabled():
                tensors[name] = value.to("cpu", torch.float64), unit
            else:
                constants[name] = unit * (value.detach().double().cpu().numpy() if isinstance(value, torch.Tensor) else float(value))
        now = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in constants.items()}
        if getattr(sim, "_port_constants", None) != now:
            sim.set(**constants)
            sim._port_constants = now
        result = self._image(sim, tensors) if tensors else torch.from_numpy(sim.image())
        return result.to(device=self.device, dtype=self.dtype)

    def compute_statistics(self, float_image):
        """For the pixels that are in the region and not masked: N; largest value and where it is
        last; mean; root mean square and deviation from the mean, both over N - 1 as the C program
        has them. All 0 where there is no pixel."""
        d = self.detector.config
        counts = torch.zeros(float_image.shape, dtype=torch.bool)
        counts[d.roi_ymin:d.roi_ymax + 1, d.roi_xmin:d.roi_xmax + 1] = True
        if d.mask_array is not None and tuple(d.mask_array.shape) == tuple(float_image.shape):
            counts &= torch.as_tensor(d.mask_array).cpu() > 0
        pixels = float_image.detach().cpu()[counts]
        names = ("max_I", "max_I_fast", "max_I_slow", "max_I_subpixel_fast", "max_I_subpixel_slow", "mean", "RMS", "RMSD", "N")
        if not len(pixels):
            return dict.fromkeys(names, 0)
        largest, mean, others = float(pixels.max()), pixels.mean(), max(len(pixels) - 1, 1)
        slow, fast = (int(i) for i in torch.nonzero((float_image.detach().cpu() == largest) & counts)[-1])
        return dict(zip(names, (largest, fast, slow, fast, slow, float(mean), float(torch.sqrt((pixels**2).sum() / others)),
                                float(torch.sqrt(((pixels - mean)**2).sum() / others)), len(pixels))))
