"""What simtbx.nanoBragg does to raw_pixels besides spots: background, point spread, noise."""

import os
import tempfile

import numpy

import nanobragg

# Of the crystal, which a background has not.
_of_the_crystal = {"unit_cell_Adeg", "Ncells_abc", "xtal_size_mm", "xtal_shape", "missets_deg", "default_F", "interpolate", "mosaic_spread_deg",
                   "mosaic_domains", "mosaic_seed", "oversample", "phi_deg", "osc_deg", "phisteps", "phistep_deg", "spindle_axis"}


class Stages:
    """Methods of nanoBragg."""

    def _background(self, oversample=-1, override_source=-1):
        """A simulator of the background alone."""
        thickness, y, z = (float(x) for x in self.amorphous_sample_size_mm)
        if not thickness > 0:
            raise ValueError("the background has no thickness: set amorphous_sample_thick_mm")
        table = self.Fbg_vs_stol
        if table is None and not self.default_Fbg:
            raise ValueError("the background has no structure factors: set Fbg_vs_stol = [(sin(theta)/lambda in 1/A, F), ...], or default_Fbg")
        rows = numpy.array([(0, self.default_Fbg), (10, self.default_Fbg)] if table is None else [tuple(row) for row in table], dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError("Fbg_vs_stol has rows (sin(theta)/lambda in 1/A, F in electrons per molecule)")
        rows[numpy.isnan(rows[:, 1]), 1] = self.default_Fbg
        words = self._words(without=_of_the_crystal)
        edge = float(self.beamsize_mm)
        words += ["-thickness", repr(thickness), "-density", repr(float(self.amorphous_density_gcm3)), "-MW",
                  repr(float(self.amorphous_molecular_weight_Da)), "-background_oversample",
                  str(int(oversample if oversample > 0 else max(self.oversample, 1)))]
        if "-beamsize" not in words:
            words += ["-beamsize", repr(edge)]
        parts = self._parts()
        if override_source >= 0:
            if self.xray_source_XYZ is None or override_source >= len(self.xray_source_XYZ):
                raise ValueError(f"there is no source {override_source} in xray_source_XYZ")
            parts[0].sources = [parts[0].sources[int(override_source)]]
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "background.stol")
            numpy.savetxt(file, rows, fmt="%.17g")
            simulator = nanobragg.Simulator(*parts, flags=["-stol", file, *words], **self._how)
        # y and z of a sample that does not fill the beam.
        simulator["background_area"] = 1e-6 * min(y if y > 0 else edge, edge) * min(z if z > 0 else edge, edge)
        return simulator

    def add_background(self, oversample=-1, override_source=-1):
        """Adds the photons of Fbg_vs_stol and the amorphous_... attributes to raw_pixels. oversample: sub-pixels along an edge; by
        default the attribute. override_source: the source that stands for all."""
        raw = self._raw()
        raw += self._background(oversample, override_source).image()

    def extract_background(self, source=-1):
        """Fbg_vs_stol by angle, from raw_pixels in ADU; also becomes the attribute."""
        photons = (self._raw() - self.adc_offset_adu) / self.quantum_gain
        was = self.Fbg_vs_stol
        if was is None and not self.default_Fbg:
            self.Fbg_vs_stol = [(0, 1), (10, 1)]
        try:
            table = nanobragg.extract_background(self._background(override_source=source), photons)
        except BaseException:
            self.Fbg_vs_stol = was
            raise
        self.Fbg_vs_stol = [tuple(row) for row in table[:, :2]]
        return self.Fbg_vs_stol

    def apply_psf(self, psf_type=None, fwhm_pixels=-1, psf_radius=-1):
        """Spreads the light of raw_pixels. Without arguments by the attributes detector_psf_type, detector_psf_fwhm_mm and
        detector_psf_kernel_radius_pixels."""
        kind, width, radius = self._psf(psf_type, fwhm_pixels, psf_radius)
        if kind is None:
            raise ValueError("there is no point spread: set detector_psf_type to shapetype.Gauss or Fiber, and detector_psf_fwhm_mm above 0")
        self.raw_pixels = nanobragg.point_spread(self._raw(), kind, width, radius, self._how["threads"] or 0)

    def _psf(self, kind=None, width=-1, radius=-1):
        kind = self.detector_psf_type if kind is None else kind
        width = width if width >= 0 else self.detector_psf_fwhm_mm / self.pixel_size_mm
        radius = radius if radius > 0 else self.detector_psf_kernel_radius_pixels
        if kind == "unknown" or not width > 0:
            return None, None, None
        return kind, width, int(radius) if radius > 0 else None

    def add_noise(self):
        """raw_pixels in photons become counts in ADU: flicker, counting, calibration, point spread, gain, offset and read-out, in
        this order. Whole numbers from 0 on; the same for the same ``seed``, and another for each call where there is none."""
        raw = self._raw()
        kind, width, radius = self._psf()
        how = {} if kind is None else {"psf": kind, "psf_width": width, "psf_radius": radius}
        seed = int.from_bytes(os.urandom(4), "little") >> 1 if self.seed is None else abs(int(self.seed))
        drawn = nanobragg.counts(raw, seed, order="simtbx", flicker=self.flicker_noise_pct / 100, calibration_seed=int(self.calib_seed),
                                 calibration=self.detector_calibration_noise_pct / 100, gain=self.quantum_gain, bits=32,
                                 offset=self.adc_offset_adu, readout_noise=self.readout_noise_adu, threads=self._how["threads"] or 0, **how)
        keep = numpy.zeros(raw.shape, dtype=bool) if self.mask is None else numpy.asarray(self.mask) == 0
        if self.region_of_interest is not None:
            (fast0, fast1), (slow0, slow1) = self.region_of_interest
            inside = numpy.zeros(raw.shape, dtype=bool)
            inside[int(slow0):int(slow1) + 1, int(fast0):int(fast1) + 1] = True
            keep |= ~inside
        self.raw_pixels = numpy.where(keep, raw, drawn)
