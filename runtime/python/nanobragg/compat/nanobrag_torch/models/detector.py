"""The detector: axes, origin and pixels as tensors. Lengths in m, beam centre in pixels."""

import torch

from ..config import DetectorConfig, DetectorConvention, DetectorPivot
from ..utils.geometry import angles_to_rotation_matrix, rotate_axis
from ..utils.units import degrees_to_radians
from .crystal import as_tensor

_C = DetectorConvention
_axes = {_C.MOSFLM: ((0., 0., 1.), (0., -1., 0.), (1., 0., 0.)), _C.DENZO: ((0., 0., 1.), (0., -1., 0.), (1., 0., 0.)),
         _C.XDS: ((1., 0., 0.), (0., 1., 0.), (0., 0., 1.)), _C.DIALS: ((1., 0., 0.), (0., 1., 0.), (0., 0., 1.)),
         _C.ADXV: ((1., 0., 0.), (0., -1., 0.), (0., 0., 1.)), _C.CUSTOM: ((0., 0., 1.), (0., -1., 0.), (1., 0., 0.))}


def axes_of(config):
    """Fast, slow and normal axes before rotations, as tuples."""
    given = (config.custom_fdet_vector, config.custom_sdet_vector, config.custom_odet_vector)
    usual = _axes[config.detector_convention]
    if config.detector_convention != _C.CUSTOM:
        return usual
    return tuple(tuple(map(float, g)) if g is not None else u for g, u in zip(given, usual))


def beam_of(config):
    """The beam's direction, as a tuple."""
    if config.detector_convention == _C.CUSTOM and config.custom_beam_vector is not None:
        return tuple(map(float, config.custom_beam_vector))
    return (1., 0., 0.) if config.detector_convention in (_C.MOSFLM,) else (0., 0., 1.)


_placed = ("beam_center_s", "beam_center_f", "fdet_vec", "sdet_vec", "odet_vec", "r_factor", "distance_corrected", "pix0_vector", "close_distance")


class Detector:
    """A detector in the lab, as its configuration describes it."""

    def __init__(self, config=None, device=None, dtype=torch.float32):
        self.device = torch.zeros((), device=device).device
        self.dtype = dtype
        self.config = config if config is not None else DetectorConfig()
        self.spixels, self.fpixels = self.config.spixels, self.config.fpixels
        self._like = torch.zeros((), device=self.device, dtype=dtype)

    def __getattr__(self, name):
        # Images do not need them: computed when somebody asks.
        if name not in _placed:
            raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")
        self._place()
        return self.__dict__[name]

    def to(self, device=None, dtype=None):
        if (device is None or torch.device(device) == self.device) and (dtype is None or dtype is self.dtype):
            return self
        return type(self)(self.config, device if device is not None else self.device, dtype if dtype is not None else self.dtype)

    @property
    def distance(self):
        return as_tensor(self.config.distance_mm / 1000.0, self._like)

    @property
    def pixel_size(self):
        return as_tensor(self.config.pixel_size_mm / 1000.0, self._like)

    @property
    def beam_vector(self):
        return as_tensor(beam_of(self.config), self._like)

    def invalidate_cache(self):
        """Repeats the constructor's computation of the geometry; nothing else is stored."""
        self._place()

    def _turned(self, v):
        c = self.config
        x, y, z, twotheta = (degrees_to_radians(as_tensor(a, self._like)) for a in (
            c.detector_rotx_deg, c.detector_roty_deg, c.detector_rotz_deg, c.detector_twotheta_deg))
        v = angles_to_rotation_matrix(x, y, z) @ v
        return rotate_axis(v, as_tensor(c.twotheta_axis, self._like), twotheta)

    def _calculate_basis_vectors(self):
        return tuple(self._turned(as_tensor(v, self._like)) for v in axes_of(self.config))

    def _place(self):
        c, beam = self.config, self.beam_vector
        half = 0.5 if c.detector_convention == _C.MOSFLM else 0.0
        for name, value in (("beam_center_s", c.beam_center_s), ("beam_center_f", c.beam_center_f)):
            if name not in self.__dict__:
                setattr(self, name, as_tensor(value / c.pixel_size_mm, self._like) + half)
        self.fdet_vec, self.sdet_vec, self.odet_vec = self._calculate_basis_vectors()
        ratio = torch.dot(beam, self.odet_vec)
        self.r_factor = torch.where(ratio == 0, torch.full_like(ratio, 1e-10), ratio)
        close = (as_tensor(c.close_distance_mm / 1000.0, self._like) if c.close_distance_mm is not None
                 else torch.abs(self.r_factor * self.distance))
        self.distance_corrected = close / self.r_factor
        fast, slow = self.beam_center_f * self.pixel_size, self.beam_center_s * self.pixel_size
        if c.detector_pivot == DetectorPivot.BEAM:
            if c.pix0_override_m is not None:
                there = as_tensor(c.pix0_override_m, self._like) - self.distance_corrected * beam
                fast, slow = -torch.dot(there, self.fdet_vec), -torch.dot(there, self.sdet_vec)
                self.beam_center_f, self.beam_center_s = fast / self.pixel_size, slow / self.pixel_size
            self.pix0_vector = self.distance_corrected * beam - fast * self.fdet_vec - slow * self.sdet_vec
        else:
            f, s, o = (as_tensor(v, self._like) for v in axes_of(c))
            self.pix0_vector = self._turned(close * o - fast * f - slow * s)
        self.close_distance = torch.dot(self.pix0_vector, self.odet_vec)
        self.distance_corrected = self.close_distance / self.r_factor

    _calculate_pix0_vector = _place

    def get_r_factor(self):
        return self.r_factor

    def get_corrected_distance(self):
        return self.distance_corrected

    def get_pixel_coords(self):
        """Centres of all pixels, (slow, fast, 3), m."""
        slow = (torch.arange(self.spixels, device=self.device, dtype=self.dtype) + 0.5)[:, None, None] * self.pixel_size
        fast = (torch.arange(self.fpixels, device=self.device, dtype=self.dtype) + 0.5)[None, :, None] * self.pixel_size
        flat = self.pix0_vector + slow * self.sdet_vec + fast * self.fdet_vec
        if not self.config.curved_detector:
            return flat
        # Each pixel of the flat one, bent onto the sphere about the sample: by its distance from
        # the beam, along fast and slow.
        beam = self.beam_vector
        away = flat - self.distance_corrected * beam
        f, s = (away * self.fdet_vec).sum(-1), (away * self.sdet_vec).sum(-1)
        start = (self.distance * beam).expand(flat.shape)
        bent = rotate_axis(start, self.sdet_vec.expand(flat.shape), f / self.distance)
        return rotate_axis(bent, -self.fdet_vec.expand(flat.shape), s / self.distance)

    def get_solid_angle(self, pixel_coords=None):
        """The solid angle of each pixel, (slow, fast); with point_pixel, 1/R^2."""
        position = self.get_pixel_coords() if pixel_coords is None else pixel_coords
        r = torch.linalg.norm(position, dim=-1)
        if self.config.point_pixel:
            return 1 / (r * r)
        return self.pixel_size**2 / (r * r) * self.close_distance / r

    def verify_beam_center_preservation(self, tolerance=1e-6):
        """(does the beam meet the detector where the configuration says, the numbers)."""
        r = self.distance_corrected * self.beam_vector - self.pix0_vector
        computed = torch.dot(r, self.fdet_vec), torch.dot(r, self.sdet_vec)
        original = self.beam_center_f * self.pixel_size, self.beam_center_s * self.pixel_size
        errors = [abs(float(a) - float(b)) for a, b in zip(computed, original)]
        return max(errors) < tolerance, {
            "original_beam_f": float(original[0]), "original_beam_s": float(original[1]),
            "computed_beam_f": float(computed[0]), "computed_beam_s": float(computed[1]),
            "error_f": errors[0], "error_s": errors[1], "max_error": max(errors)}
