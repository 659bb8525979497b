"""The names of simtbx.nanoBragg, with NumPy arrays in place of flex arrays.

    from nanobragg.compat.simtbx import nanoBragg, shapetype
    SIM = nanoBragg(detpixels_slowfast=(1024, 1024), pixel_size_mm=0.1, Ncells_abc=(10, 10, 10), wavelength_A=1)
    SIM.Fhkl_tuple = indices, amplitudes
    SIM.add_nanoBragg_spots()
    SIM.to_smv_format("image.img")

Units are in the names. ``nanoBragg(detector, beam)`` takes the objects of dxtbx, by their methods. A name that simtbx does not have is an
AttributeError with the closest one; what is not computed here says so with NotImplementedError. Sources are normalized to their
sum, so that an image does not grow with their number.
"""

import numpy

import nanobragg

from .._errors import unknown

_deg, _A, _mm = numpy.pi / 180, 1e-10, 1e-3


class shapetype:
    Square, Round, Gauss, Tophat = "square", "round", "gauss", "tophat"
    Gauss_argchk = "gauss"


class convention:
    Custom, ADXV, MOSFLM, XDS, DIALS, DENZO = "custom", "adxv", "mosflm", "xds", "dials", "denzo"


class pivot:
    Beam, Sample = "beam", "sample"


# Attribute -> (start value, flag; None: without one). A flag function turns the value into words.
def _one(flag, scale=1):
    return lambda v: [flag, repr(float(v) * scale)]


def _whole(flag):
    return lambda v: [flag, str(int(v))]


def _vector(flag):
    return lambda v: [flag, *(repr(float(x)) for x in v)]


def _switch(flag):
    return lambda v: [flag] if v else []


def _pair(first, second):
    return lambda v: [first, repr(float(v[0])), second, repr(float(v[1]))]


_attributes = {
    "unit_cell_Adeg": ((78.0, 78.0, 38.0, 90.0, 90.0, 90.0), _vector("-cell")),
    "Ncells_abc": ((1, 1, 1), lambda v: ["-Na", str(int(v[0])), "-Nb", str(int(v[1])), "-Nc", str(int(v[2]))]),
    "xtal_size_mm": (None, lambda v: ["-xtal_thick", repr(float(v[0])), "-xtal_width", repr(float(v[1])), "-xtal_height",
                                      repr(float(v[2]))]),
    "xtal_shape": ("square", lambda v: {"square": ["-square_xtal"], "round": ["-round_xtal"], "gauss": ["-gauss_xtal"],
                                        "tophat": ["-tophat_spots"]}[v]),
    "missets_deg": ((0.0, 0.0, 0.0), _vector("-misset")),
    "default_F": (0.0, _one("-default_F")),
    "interpolate": (None, lambda v: ["-interpolate" if v else "-nointerpolate"]),
    "mosaic_spread_deg": (0.0, _one("-mosaic")),
    "mosaic_domains": (None, _whole("-mosaic_domains")),
    "mosaic_seed": (None, _whole("-mosaic_seed")),
    "distance_mm": (100.0, _one("-distance")),
    "close_distance_mm": (None, _one("-close_distance")),
    "pixel_size_mm": (0.1, _one("-pixel")),
    "detpixels_fastslow": ((1024, 1024), lambda v: ["-detpixels_f", str(int(v[0])), "-detpixels_s", str(int(v[1]))]),
    "detector_twotheta_deg": (0.0, _one("-twotheta")),
    "detector_rotation_deg": ((0.0, 0.0, 0.0), lambda v: [w for f, x in zip("xyz", v) for w in (f"-detector_rot{f}", repr(float(x)))]),
    "curved_detector": (False, _switch("-curved_det")),
    "point_pixel": (False, _switch("-point_pixel")),
    "detector_thick_mm": (0.0, _one("-detector_thick", 1e3)),
    "detector_attenuation_length_mm": (0.234, _one("-detector_absorb", 1e3)),
    "detector_thicksteps": (None, _whole("-detector_thicksteps")),
    "beam_center_mm": (None, _pair("-Xbeam", "-Ybeam")),
    "XDS_ORGXY": (None, _pair("-ORGX", "-ORGY")),
    "beamcenter_convention": (None, lambda v: [f"-{v}"]),
    "detector_pivot": (None, lambda v: ["-pivot", v]),
    "fdet_vector": (None, _vector("-fdet_vector")),
    "sdet_vector": (None, _vector("-sdet_vector")),
    "odet_vector": (None, _vector("-odet_vector")),
    "beam_vector": (None, _vector("-beam_vector")),
    "polar_vector": (None, _vector("-polar_vector")),
    "spindle_axis": (None, _vector("-spindle_axis")),
    "twotheta_axis": (None, _vector("-twotheta_axis")),
    "oversample": (0, _whole("-oversample")),
    "region_of_interest": (None, lambda v: ["-roi", *(str(int(x)) for x in (*v[0], *v[1]))]),
    "wavelength_A": (1.0, _one("-lambda")),
    "energy_eV": (None, _one("-energy")),
    "fluence": (125932015286227086360700780544.0, _one("-fluence")),
    "flux": (0.0, _one("-flux")),
    "exposure_s": (1.0, _one("-exposure")),
    "beamsize_mm": (0.1, _one("-beamsize")),
    "polarization": (0.0, _one("-polar")),
    "nopolar": (False, _switch("-nopolar")),
    "dispersion_pct": (0.0, _one("-dispersion")),
    "dispsteps": (None, _whole("-dispsteps")),
    "divergence_hv_mrad": (None, _pair("-hdivrange", "-vdivrange")),
    "divsteps_hv": (None, lambda v: ["-hdivsteps", str(int(v[0])), "-vdivsteps", str(int(v[1]))]),
    "divstep_hv_mrad": (None, _pair("-hdivstep", "-vdivstep")),
    "round_div": (True, lambda v: ["-round_div" if v else "-square_div"]),
    "phi_deg": (0.0, _one("-phi")),
    "osc_deg": (0.0, _one("-osc")),
    "phisteps": (None, _whole("-phisteps")),
    "phistep_deg": (None, _one("-phistep")),
    # Of the picture and not of the physics.
    "spot_scale": (1.0, None), "quantum_gain": (1.0, None), "adc_offset_adu": (40.0, None), "seed": (None, None), "progress_meter": (False, None),
    "printout": (False, None), "verbose": (0, None), "integral_form": (False, None), "Amatrix": (None, None), "Fhkl_tuple": (None, None),
    "xray_source_XYZ": (None, None), "xray_source_wavelengths_A": (None, None), "xray_source_intensity_fraction": (None, None),
    "raw_pixels": (None, None), "mask": (None, None),
}
_same = {"unit_cell_tuple": "unit_cell_Adeg", "Ncells": "Ncells_abc"}
_elsewhere = {
    "add_background": "background of amorphous matter", "apply_psf": "point spread", "add_noise": "noise (nb-sim has -noisefile)",
    "extract_background": "background", "to_cbf": "CBF files", "to_nexus_nxmx": "NeXus files", "add_nanoBragg_spots_cuda": "this way to a GPU: give device='cuda'",
    "Fbg_vs_stol": "background", "default_Fbg": "background", "amorphous_sample_size_mm": "background", "amorphous_sample_thick_mm": "background",
    "amorphous_density_gcm3": "background", "amorphous_molecular_weight_Da": "background", "detector_psf_type": "point spread",
    "detector_psf_fwhm_mm": "point spread", "detector_psf_kernel_radius_pixels": "point spread", "readout_noise_adu": "noise",
    "flicker_noise_pct": "noise", "detector_calibration_noise_pct": "noise", "calib_seed": "noise", "set_mosaic_blocks": "mosaic blocks of one's own",
    "set_mosaic_blocks_sym": "mosaic blocks of one's own", "get_mosaic_blocks": "mosaic blocks of one's own", "F000": "F000 apart from the list",
    "as_explist": "dxtbx experiments", "Amatrix_RUB": "this matrix; give Amatrix",
}


class nanoBragg:
    """A simulator with simtbx's attributes; keyword arguments set them.

    detector, beam: dxtbx objects; panel_id: which panel. device, precision, threads: as of ``nanobragg.Simulator``.
    """

    def __init__(self, detector=None, beam=None, panel_id=0, verbose=0, detpixels_slowfast=None, device=None, precision=None, threads=None,
                 **attributes):
        object.__setattr__(self, "_how", {"device": device, "precision": precision, "threads": threads})
        object.__setattr__(self, "_values", {name: start for name, (start, _) in _attributes.items()})
        object.__setattr__(self, "_given", set())
        object.__setattr__(self, "_pixels", None)
        self.verbose = verbose
        if detpixels_slowfast is not None:
            self.detpixels_fastslow = detpixels_slowfast[1], detpixels_slowfast[0]
        if beam is not None:
            self._take_beam(beam)
        if detector is not None:
            self.set_dxtbx_detector_panel(detector[panel_id] if hasattr(detector, "__getitem__") else detector,
                                          beam.get_s0() if beam is not None else None)
        for name, value in attributes.items():
            setattr(self, name, value)

    # Attributes.

    def __getattr__(self, name):
        name = _same.get(name, name)
        if name == "detpixels_slowfast":
            return self._values["detpixels_fastslow"][::-1]
        if name == "raw_pixels":
            return self._raw()
        if name in _attributes:
            return self._values[name]
        if name in _elsewhere:
            raise NotImplementedError(f"nanoBragg.{name}: there is no {_elsewhere[name]} in this layer yet")
        known = [*_attributes, *_same, *(n for n in vars(type(self)) if not n.startswith("_"))]
        raise AttributeError(unknown("nanoBragg", name, known))

    def __setattr__(self, name, value):
        name = _same.get(name, name)
        if name in _elsewhere:
            raise NotImplementedError(f"nanoBragg.{name}: there is no {_elsewhere[name]} in this layer yet")
        if name == "raw_pixels":
            object.__setattr__(self, "_pixels", numpy.array(value, dtype=float).reshape(self._shape()))
            return
        if name not in _attributes:
            raise AttributeError(unknown("nanoBragg", name, [*_attributes, *_same]))
        if name == "unit_cell_Adeg" and hasattr(value, "parameters"):
            value = value.parameters()
        self._values[name] = value
        self._given.add(name)
        if name == "energy_eV":
            self._values["wavelength_A"] = 12398.42 / float(value)
            self._given.discard("wavelength_A")
        elif name == "wavelength_A":
            self._given.discard("energy_eV")

    @property
    def indices(self):
        return None if self.Fhkl_tuple is None else self.Fhkl_tuple[0]

    @property
    def amplitudes(self):
        return None if self.Fhkl_tuple is None else self.Fhkl_tuple[1]

    @property
    def xray_beams(self):
        raise NotImplementedError("nanoBragg.xray_beams: give xray_source_XYZ, xray_source_wavelengths_A and xray_source_intensity_fraction")

    @property
    def Fhkl(self):
        raise NotImplementedError("nanoBragg.Fhkl: give Fhkl_tuple, (indices, amplitudes) in P1 with Friedel mates")

    # dxtbx, by its methods.

    def _take_beam(self, beam):
        self.wavelength_A = beam.get_wavelength()
        direction = numpy.array(beam.get_s0(), dtype=float)
        self.beam_vector = tuple(direction / numpy.linalg.norm(direction))
        if hasattr(beam, "get_polarization_normal"):
            self.polar_vector = tuple(numpy.cross(direction, beam.get_polarization_normal()))
        if hasattr(beam, "get_polarization_fraction"):
            self.polarization = 2 * beam.get_polarization_fraction() - 1

    def set_dxtbx_detector_panel(self, panel, s0=None):
        """Place, axes and pixels of a dxtbx panel (mm); s0 along the beam."""
        self.detpixels_fastslow = panel.get_image_size()
        self.pixel_size_mm = panel.get_pixel_size()[0]
        fast, slow, origin = (numpy.array(v, dtype=float) for v in (panel.get_fast_axis(), panel.get_slow_axis(), panel.get_origin()))
        normal = numpy.cross(fast, slow)
        if normal @ origin < 0:
            normal = -normal
        self.fdet_vector, self.sdet_vector, self.odet_vector = tuple(fast), tuple(slow), tuple(normal)
        self.close_distance_mm = float(normal @ origin)
        self._values["_close"] = (-float(fast @ origin), -float(slow @ origin))
        self.detector_pivot = pivot.Sample
        if s0 is not None:
            direction = numpy.array(s0, dtype=float)
            self.beam_vector = tuple(direction / numpy.linalg.norm(direction))

    def set_dxtbx_crystal(self, crystal):
        """Orientation and cell of a dxtbx crystal."""
        self.Amatrix = numpy.array(crystal.get_A(), dtype=float).reshape(3, 3).T

    # Images.

    def _shape(self):
        fast, slow = self._values["detpixels_fastslow"]
        return int(slow), int(fast)

    def _raw(self):
        if self._pixels is None:
            object.__setattr__(self, "_pixels", numpy.zeros(self._shape()))
        return self._pixels

    def _simulator(self):
        words, inputs = [], {}
        order = [n for n in _attributes if n not in ("detector_pivot",)] + ["detector_pivot"]  # the last such flag wins
        always = {"unit_cell_Adeg", "Ncells_abc", "distance_mm", "pixel_size_mm", "detpixels_fastslow", "wavelength_A", "polarization", "fluence"}
        for name in order:
            value, flag = self._values[name], _attributes[name][1]
            if flag is None or value is None or (name not in self._given and name not in always):
                continue
            if name == "fluence" and "flux" in self._given and self.flux:
                continue
            if name == "distance_mm" and "close_distance_mm" in self._given:
                continue
            if name == "detector_attenuation_length_mm" and not self.detector_thick_mm:
                continue
            if name == "unit_cell_Adeg" and self.Amatrix is not None and name not in self._given:
                continue
            words += flag(value)
        if self.detector_thick_mm and "detector_attenuation_length_mm" not in self._given:
            words += _attributes["detector_attenuation_length_mm"][1](self.detector_attenuation_length_mm)
        if "_close" in self._values:
            words += ["-Xclose", repr(self._values["_close"][0]), "-Yclose", repr(self._values["_close"][1])]
        crystal = nanobragg.Crystal()
        if self.Fhkl_tuple is not None:
            indices, amplitudes = (numpy.asarray(list(a) if not hasattr(a, "shape") else a) for a in self.Fhkl_tuple[:2])
            indices, low = indices.astype(int), indices.astype(int).min(axis=0)
            grid = numpy.full(indices.max(axis=0) - low + 1, float(self.default_F))
            grid[tuple((indices - low).T)] = amplitudes
            crystal.structure_factors = grid, tuple(low)
        elif not self.default_F:
            raise ValueError("nanoBragg has no structure factors: set Fhkl_tuple = indices, amplitudes, or default_F")
        if self.Amatrix is not None:
            crystal.matrix = numpy.array(self.Amatrix, dtype=float).reshape(3, 3).T / _A  # rows a*, b*, c* become columns
        parts = [crystal]
        if self.xray_source_XYZ is not None:
            n = len(self.xray_source_XYZ)
            waves = self.xray_source_wavelengths_A or [self.wavelength_A] * n
            weights = self.xray_source_intensity_fraction or [1.0] * n
            parts.append(nanobragg.Beam(sources=[(*xyz, w, wave * _A) for xyz, w, wave in zip(self.xray_source_XYZ, weights, waves)]))
        if self.mask is not None:
            parts.append(nanobragg.Detector(mask=self.mask))
        return nanobragg.Simulator(*parts, flags=words, **self._how)

    @property
    def simulator(self):
        """The nanobragg.Simulator of what the attributes say now."""
        return self._simulator()

    def add_nanoBragg_spots(self):
        """Adds the photons of the spots, times spot_scale, to raw_pixels."""
        raw = self._raw()
        raw += self.spot_scale * self._simulator().image()

    add_nanoBragg_spots_nks = add_nanoBragg_spots

    def free_all(self):
        """Nothing to do: memory is Python's."""

    def show_params(self):
        print(self._simulator().parameters)

    def to_smv_format(self, fileout, intfile_scale=0, saturated_value=65534, debug_x=-1, debug_y=-1):
        """An SMV file of 16 bits: raw_pixels times intfile_scale (0: the brightest becomes 55000) times quantum_gain, plus adc_offset_adu."""
        raw = self._raw()
        scale = intfile_scale or (55000 / raw.max() if raw.max() > 0 else 1.0)
        counts = numpy.clip(raw * scale * self.quantum_gain + self.adc_offset_adu, 0, saturated_value).astype("<u2")
        slow, fast = raw.shape
        center = self.beam_center_mm or (fast * self.pixel_size_mm / 2, slow * self.pixel_size_mm / 2)
        lines = ["{", "HEADER_BYTES=512;", "DIM=2;", "BYTE_ORDER=little_endian;", "TYPE=unsigned_short;", f"SIZE1={fast};", f"SIZE2={slow};",
                 f"PIXEL_SIZE={self.pixel_size_mm:g};", f"DISTANCE={self.distance_mm:g};", f"WAVELENGTH={self.wavelength_A:g};",
                 f"BEAM_CENTER_X={center[0]:g};", f"BEAM_CENTER_Y={center[1]:g};", f"PHI={self.phi_deg:g};", f"OSC_START={self.phi_deg:g};",
                 f"OSC_RANGE={self.osc_deg:g};", f"TWOTHETA={self.detector_twotheta_deg:g};", f"ADC_OFFSET={self.adc_offset_adu:g};", "}\f"]
        with open(fileout, "wb") as out:
            out.write("\n".join(lines).encode().ljust(512))
            out.write(counts.tobytes())

    def to_smv_format_py(self, fileout, **how):
        self.to_smv_format(fileout, **how)
