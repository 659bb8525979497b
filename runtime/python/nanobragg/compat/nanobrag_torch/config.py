"""Configurations, in A, mm and degrees. Fields of numbers take tensors too."""

import dataclasses
from enum import Enum
from typing import Any

import torch

from ..._errors import unknown


class DetectorConvention(Enum):
    MOSFLM = "mosflm"
    XDS = "xds"
    DIALS = "dials"
    ADXV = "adxv"
    DENZO = "denzo"
    CUSTOM = "custom"


class DetectorPivot(Enum):
    BEAM = "beam"
    SAMPLE = "sample"


class CrystalShape(Enum):
    SQUARE = "square"
    ROUND = "round"
    GAUSS = "gauss"
    TOPHAT = "tophat"


def _config(cls):
    """A dataclass that refuses unknown names with the closest one."""
    cls = dataclasses.dataclass(cls)
    names, made = [f.name for f in dataclasses.fields(cls)], cls.__init__

    def __init__(self, *args, **values):
        for name in values:
            if name not in names:
                raise TypeError(unknown(cls.__name__, name, names))
        made(self, *args, **values)

    cls.__init__ = __init__
    return cls


@_config
class CrystalConfig:
    """The crystal: cell (A, degrees), orientation, rotation, mosaic domains, size, shape."""

    cell_a: Any = 100.0
    cell_b: Any = 100.0
    cell_c: Any = 100.0
    cell_alpha: Any = 90.0
    cell_beta: Any = 90.0
    cell_gamma: Any = 90.0
    misset_deg: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
    misset_random: bool = False
    misset_seed: int | None = None
    mosflm_a_star: Any = None  # 1/A, instead of a cell
    mosflm_b_star: Any = None
    mosflm_c_star: Any = None
    phi_start_deg: Any = 0.0
    osc_range_deg: Any = 0.0
    phi_steps: int = 1
    spindle_axis: Any = (0.0, 0.0, 1.0)
    mosaic_spread_deg: Any = 0.0
    mosaic_domains: int = 1
    mosaic_seed: int | None = None
    N_cells: tuple[Any, Any, Any] = (1, 1, 1)
    default_F: float = 0.0
    shape: CrystalShape = CrystalShape.SQUARE
    fudge: float = 1.0
    sample_x: Any = None  # m, from cell and N_cells
    sample_y: Any = None
    sample_z: Any = None

    def __post_init__(self):
        self.sample_x, self.sample_y, self.sample_z = (
            n * edge * 1e-10 for n, edge in zip(self.N_cells, (self.cell_a, self.cell_b, self.cell_c)))


_twotheta_axes = {DetectorConvention.MOSFLM: (0.0, 0.0, -1.0), DetectorConvention.DENZO: (0.0, 0.0, -1.0),
                  DetectorConvention.XDS: (1.0, 0.0, 0.0), DetectorConvention.DIALS: (0.0, 1.0, 0.0),
                  DetectorConvention.ADXV: (-1.0, 0.0, 0.0), DetectorConvention.CUSTOM: (0.0, 1.0, 0.0)}


@_config
class DetectorConfig:
    """The detector: place (mm, degrees), pixels, sampling, sensor (um), region, mask."""

    distance_mm: Any = 100.0
    pixel_size_mm: Any = 0.1
    close_distance_mm: Any = None
    spixels: int = 1024
    fpixels: int = 1024
    beam_center_s: Any = None  # mm; None: the middle, as the convention has it
    beam_center_f: Any = None
    beam_center_source: str = "auto"
    detector_rotx_deg: Any = 0.0
    detector_roty_deg: Any = 0.0
    detector_rotz_deg: Any = 0.0
    detector_twotheta_deg: Any = 0.0
    twotheta_axis: Any = None
    detector_convention: DetectorConvention = DetectorConvention.MOSFLM
    detector_pivot: DetectorPivot | None = None
    oversample: int = -1
    oversample_omega: bool = False
    oversample_polar: bool = False
    oversample_thick: bool = False
    curved_detector: bool = False
    point_pixel: bool = False
    pix0_override_m: Any = None
    custom_fdet_vector: Any = None
    custom_sdet_vector: Any = None
    custom_odet_vector: Any = None
    custom_beam_vector: Any = None
    detector_abs_um: Any = None
    detector_thick_um: Any = 0.0
    detector_thicksteps: int = 1
    roi_xmin: int | None = None
    roi_xmax: int | None = None
    roi_ymin: int | None = None
    roi_ymax: int | None = None
    mask_array: Any = None

    def __post_init__(self):
        if self.spixels <= 0 or self.fpixels <= 0:
            raise ValueError("Pixel counts must be positive")
        for value, what in ((self.distance_mm, "Distance"), (self.pixel_size_mm, "Pixel size")):
            if isinstance(value, (int, float)) and value <= 0:
                raise ValueError(f"{what} must be positive")
        if self.oversample < -1 or self.oversample == 0:
            raise ValueError("Oversample must be -1 (auto-select) or >= 1")
        vectors = (self.custom_fdet_vector, self.custom_sdet_vector, self.custom_odet_vector, self.custom_beam_vector)
        if any(v is not None for v in vectors):
            self.detector_pivot = DetectorPivot.SAMPLE
        elif self.detector_pivot is None:
            close = self.close_distance_mm is not None
            self.detector_pivot = DetectorPivot.SAMPLE if close else DetectorPivot.BEAM
            if close and isinstance(self.distance_mm, (int, float)) and self.distance_mm == 100.0:
                self.distance_mm = self.close_distance_mm
        # Where the middle is: half a pixel up or down by convention.
        half = {DetectorConvention.MOSFLM: (0.5, 0.5), DetectorConvention.DENZO: (0.5, 0.5),
                DetectorConvention.ADXV: (-0.5, 0.5)}.get(self.detector_convention, (0.0, 0.0))
        if self.beam_center_s is None:
            self.beam_center_s = (self.spixels / 2 + half[0]) * self.pixel_size_mm
        if self.beam_center_f is None:
            self.beam_center_f = (self.fpixels / 2 + half[1]) * self.pixel_size_mm
        if self.twotheta_axis is None:
            self.twotheta_axis = torch.tensor(_twotheta_axes[self.detector_convention])
        for name, least, most in (("roi_xmin", 0, self.fpixels), ("roi_xmax", self.fpixels - 1, self.fpixels),
                                  ("roi_ymin", 0, self.spixels), ("roi_ymax", self.spixels - 1, self.spixels)):
            if getattr(self, name) is None:
                setattr(self, name, least)
            if not 0 <= getattr(self, name) < most:
                raise ValueError(f"{name} must be in [0, {most - 1}]")
        if self.roi_xmin > self.roi_xmax:
            raise ValueError("roi_xmin must be <= roi_xmax")
        if self.roi_ymin > self.roi_ymax:
            raise ValueError("roi_ymin must be <= roi_ymax")
        if self.mask_array is not None and tuple(self.mask_array.shape) != (self.spixels, self.fpixels):
            raise ValueError(f"Mask array shape {tuple(self.mask_array.shape)} must match detector dimensions "
                             f"({self.spixels}, {self.fpixels})")

    @classmethod
    def from_cli_args(cls, distance_mm=None, close_distance_mm=None, pivot=None, **others):
        """As the flags -distance, -close_distance and -pivot say together."""
        chosen = None
        if pivot is not None:
            chosen = DetectorPivot.BEAM if pivot.lower() == "beam" else DetectorPivot.SAMPLE
        elif (distance_mm is None) != (close_distance_mm is None):
            chosen = DetectorPivot.BEAM if close_distance_mm is None else DetectorPivot.SAMPLE
        if distance_mm is None:
            distance_mm = 100.0 if close_distance_mm is None else close_distance_mm
        return cls(distance_mm=distance_mm, close_distance_mm=close_distance_mm, detector_pivot=chosen, **others)


@_config
class BeamConfig:
    """The beam: wavelength (A), sources, polarization, intensity, cutoff (A), background (um)."""

    wavelength_A: Any = 1.0
    N_source_points: int = 1
    source_distance_mm: float = 10000.0
    source_size_mm: float = 0.0
    source_directions: Any = None  # (N, 3), from the sample to the sources
    source_weights: Any = None  # without effect: all sources are equal
    source_wavelengths: Any = None  # m
    polarization_factor: Any = 0.0
    nopolar: bool = False
    polarization_axis: Any = (0.0, 0.0, 1.0)
    flux: float = 0.0
    exposure: float = 0.0
    beamsize_mm: float = 0.0
    fluence: Any = 125932015286227086360700780544.0
    dmin: float = 0.0
    water_size_um: float = 0.0

    def __post_init__(self):
        size = self.beamsize_mm / 1000.0
        if self.flux != 0 and self.exposure > 0 and self.beamsize_mm >= 0:
            if size > 0:
                self.fluence = self.flux * self.exposure / (size * size)
        elif self.exposure > 0 and self.beamsize_mm > 0 and self.fluence > 0:
            self.flux = self.fluence * (size * size) / self.exposure


@_config
class NoiseConfig:
    """Noise of an image."""

    seed: int | None = None
    adc_offset: float = 40.0
    readout_noise: float = 3.0
    overload_value: float = 65535.0
    generate_noise_image: bool = False
    intfile_scale: float = 1.0
