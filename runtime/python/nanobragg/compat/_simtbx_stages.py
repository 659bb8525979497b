"""The steps of simtbx.nanoBragg on raw_pixels besides spots: background, point spread, noise."""

import warnings

import numpy

import nanobragg

from .. import _core
from ..response import _whole
from ._simtbx_state import _number, _plain, _tuple, shapetype
from ._small_images import how_to_make


class Stages:
    """Methods of nanoBragg."""

    amorphous_density_gcm3 = _number("density", 1e-6)
    amorphous_molecular_weight_Da = _number("molecular_weight")
    # Along the beam, and across it, where 0 is the beam's size.
    amorphous_sample_size_mm = _tuple("sample", 1e3, then=("init_background",))
    default_Fbg = _plain("default_Fbg", 0.0, float)

    @property
    def amorphous_sample_thick_mm(self):
        return self._state.sample[0] * 1e3

    @amorphous_sample_thick_mm.setter
    def amorphous_sample_thick_mm(self, value):
        self._state.sample[0] = float(value) / 1e3
        self._state.init_background()

    @property
    def Fbg_vs_stol(self):
        """(sin(theta)/lambda in 1/A, F in electrons per molecule), rows."""
        table = self._plain.get("Fbg_vs_stol")
        return self._arrays.vec2(numpy.zeros((0, 2)) if table is None else table)

    @Fbg_vs_stol.setter
    def Fbg_vs_stol(self, value):
        rows = None if value is None else numpy.array([tuple(row) for row in value], dtype=float)
        if rows is not None and (rows.ndim != 2 or rows.shape[1] != 2):
            raise ValueError("Fbg_vs_stol has rows (sin(theta)/lambda in 1/A, F in electrons per molecule)")
        self._plain["Fbg_vs_stol"] = rows

    def _background(self, oversample=-1, override_source=-1, window=None):
        """A simulator of the background alone."""
        state, rows = self._state, self._plain.get("Fbg_vs_stol")
        if rows is None or not len(rows):
            if not self.default_Fbg:
                raise ValueError("the background has no structure factors: set Fbg_vs_stol = [(sin(theta)/lambda in 1/A, F), ...], or default_Fbg")
            rows = numpy.array([(0, self.default_Fbg), (10, self.default_Fbg)])
        rows = rows[numpy.argsort(rows[:, 0], kind="stable")]  # the table for water that many programs of simtbx have is out of order
        rows[numpy.isnan(rows[:, 1]), 1] = self.default_Fbg
        weights = state.sources[1]
        if override_source >= 0:
            if override_source >= len(weights):
                raise ValueError(f"there is no source {override_source}; there are {len(weights)}, counted from 0")
            weights = numpy.where(numpy.arange(len(weights)) == override_source, float(len(weights)), 0.0)
        beam, *others = self._beam(weights, window)
        beam.background = nanobragg.Background(stol=rows[:, 0] * 1e10, factor=rows[:, 1], thickness=state.sample[0], density=state.density * 1e-3,
                                               molar_mass=state.molecular_weight * 1e-3)
        beam.background_oversample = int(oversample if oversample > 0 else max(self.oversample, 1))
        beam.size = state.beamsize
        simulator = nanobragg.Simulator(beam, *others, **how_to_make(self._samples(window or (0, 0, *self._shape())), self._how))
        # y and z of a sample that does not fill the beam.
        simulator["background_area"] = state.sample[1] * state.sample[2]
        return simulator

    def add_background(self, oversample=-1, override_source=-1):
        """Adds the photons of Fbg_vs_stol and the amorphous_... attributes to raw_pixels.
        oversample: sub-pixels along an edge; by default the attribute. override_source: the source
        that stands for all."""
        if not self._state.molecules() > 0:
            warnings.warn("the background has no molecules and adds nothing; set amorphous_sample_thick_mm", nanobragg.Warning, stacklevel=2)
            return
        window = self._window()
        if min(window[2:]) > 0:
            self._add(self._background(oversample, override_source, window).image(), window)

    def extract_background(self, source=-1):
        """Fbg_vs_stol by angle, from raw_pixels in ADU; also becomes the attribute."""
        if not self._state.molecules() > 0:
            raise ValueError("the background has no thickness: set amorphous_sample_thick_mm")
        photons = (self._raw() - self.adc_offset_adu) / self.quantum_gain
        was = self._plain.get("Fbg_vs_stol")
        if was is None and not self.default_Fbg:
            self.Fbg_vs_stol = [(0, 1), (10, 1)]
        try:
            table = nanobragg.extract_background(self._background(override_source=source), photons)
        except BaseException:
            self.Fbg_vs_stol = was
            raise
        self.Fbg_vs_stol = table[:, :2]
        return self.Fbg_vs_stol

    def apply_psf(self, psf_type=shapetype.Fiber, fwhm_pixels=-1, psf_radius=-1):
        """Spreads the light of raw_pixels, as simtbx does: detector_psf_type has no say in it; the
        width and the radius become the attributes. A width of 0, and shapes other than Gauss and
        Fiber, spread nothing."""
        kind, width, radius = self._psf(psf_type, fwhm_pixels, psf_radius)
        self.detector_psf_fwhm_mm, self.detector_psf_kernel_radius_pixels = width * self.pixel_size_mm, radius
        if kind is None:
            return
        image = numpy.array(self._raw(), dtype=float, order="C")
        _core.simtbx_spread(image, kind, width, radius, self._threads())
        self.raw_pixels = image

    def _threads(self):
        """As _core takes them: 0 for one on each processor."""
        return _whole("threads", self._how["threads"] or 0, 0, 4096)

    def _psf(self, kind, width=-1, radius=-1):
        """Kind, or None where nothing is spread, width and radius (0: of each pixel its own),
        pixels."""
        kind = kind.lower() if isinstance(kind, str) else shapetype(int(kind)).name.lower()
        width = width if width > 0 else self.detector_psf_fwhm_mm / self.pixel_size_mm
        radius = int(radius if radius > 0 else max(self.detector_psf_kernel_radius_pixels, 0))
        return kind if kind in ("gauss", "fiber") and width > 0 else None, width, radius

    def add_noise(self):
        """raw_pixels in photons become ADU: flicker, counting, calibration, point spread, gain,
        offset and read-out, in this order. They are simtbx's numbers, which need not be whole;
        ``seed`` becomes that of another image."""
        image = numpy.array(self._raw(), dtype=float, order="C")
        if not numpy.isfinite(image).all():
            raise ValueError("raw_pixels has pixels that are not a finite number of photons")
        kind, width, radius = self._psf(self.detector_psf_type)
        (fast0, fast1), (slow0, slow1) = self.region_of_interest
        drawn = numpy.zeros(image.shape, dtype=numpy.uint8)
        drawn[slow0:slow1 + 1, fast0:fast1 + 1] = 1
        if self.mask is not None:
            drawn[numpy.asarray(self.mask) == 0] = 0
        self.seed = _core.simtbx_noise(image, drawn, int(self.seed), flicker=self.flicker_noise_pct / 100,
                                       calibration=self.detector_calibration_noise_pct / 100, calibration_seed=int(self.calib_seed),
                                       gain=self.quantum_gain, offset=self.adc_offset_adu, readout_noise=self.readout_noise_adu,
                                       psf=kind or "", psf_width=width, psf_radius=radius, threads=self._threads())
        self.raw_pixels = image
