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

import warnings

import numpy

import nanobragg

from .._errors import unknown
from ._simtbx_attributes import ATTRIBUTES, DERIVED, ELSEWHERE, SAME, convention, pivot, shapetype  # noqa: F401
from ._simtbx_reads import AXES, CENTERS, READ_ONLY, READS, beam_center
from ._simtbx_stages import Stages

_deg, _A = numpy.pi / 180, 1e-10


def _axes_and_angles(matrices):
    """Of rotation matrices: unit axes (n, 3) and angles (n,), rad."""
    r = numpy.asarray(matrices, dtype=float).reshape(-1, 3, 3)
    if not len(r) or not numpy.allclose(r @ r.transpose(0, 2, 1), numpy.eye(3), atol=1e-6) or (numpy.linalg.det(r) < 0).any():
        raise ValueError("mosaic blocks are rotation matrices, (domains, 3, 3)")
    # The eigenvector of 1; the sense of rotation from the part that changes sign.
    axes = numpy.array([numpy.linalg.svd(one - numpy.eye(3))[2][2] for one in r])
    odd = numpy.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]], axis=1) / 2
    return axes, numpy.arctan2((odd * axes).sum(axis=1), (numpy.trace(r, axis1=1, axis2=2) - 1) / 2)


def _rotations(axes, angles):
    """Rotation matrices (n, 3, 3) about unit axes."""
    cross = numpy.cross(numpy.eye(3)[None], axes[:, None])
    sin, cos = numpy.sin(angles)[:, None, None], numpy.cos(angles)[:, None, None]
    return cos * numpy.eye(3) + sin * cross + (1 - cos) * axes[:, :, None] * axes[:, None, :]


class nanoBragg(Stages):
    """A simulator with simtbx's attributes; keyword arguments set them.

    detector, beam: dxtbx objects; panel_id: which panel. device, precision, threads: as of ``nanobragg.Simulator``.
    """

    def __init__(self, detector=None, beam=None, panel_id=0, verbose=0, detpixels_slowfast=None, device=None, precision=None, threads=None,
                 **attributes):
        object.__setattr__(self, "_how", {"device": device, "precision": precision, "threads": threads})
        object.__setattr__(self, "_values", {name: start for name, (start, _) in ATTRIBUTES.items()})
        object.__setattr__(self, "_given", set())
        object.__setattr__(self, "_pixels", None)
        object.__setattr__(self, "_blocks", None)
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
        name = SAME.get(name, name)
        if name == "detpixels_slowfast":
            return self._values["detpixels_fastslow"][::-1]
        if name == "detsize_fastslow_mm":
            return tuple(n * self.pixel_size_mm for n in self._values["detpixels_fastslow"])
        if name == "amorphous_sample_thick_mm":
            return self._values["amorphous_sample_size_mm"][0]
        if name == "Amatrix_RUB":
            return numpy.linalg.inv(numpy.array(self.Amatrix, dtype=float).reshape(3, 3)).T
        if name == "raw_pixels":
            return self._raw()
        value = self._values.get(name)
        if value is None or (name == "distance_mm" and name not in self._given and "close_distance_mm" in self._given):
            if name == "energy_eV":
                return 12398.42 / self.wavelength_A
            if name == "detector_thickstep_mm":
                return self.detector_thick_mm / self.detector_thicksteps
            if name in READS or name == "beam_center_mm":
                return self._read(name)
        if name in ATTRIBUTES:
            return value
        if name in ELSEWHERE:
            raise NotImplementedError(f"nanoBragg.{name}: this layer has {ELSEWHERE[name]}")
        if name in ("Fhkl", "xray_beams"):
            raise AttributeError(f"nanoBragg.{name} can be set; read {'Fhkl_tuple' if name == 'Fhkl' else 'xray_source_XYZ'}")
        known = [*ATTRIBUTES, *SAME, *READS, "Fhkl", "xray_beams", *DERIVED, *(n for n in vars(type(self)) if not n.startswith("_"))]
        raise AttributeError(unknown("nanoBragg", name, known))

    def __setattr__(self, name, value):
        name = SAME.get(name, name)
        if name in ELSEWHERE:
            raise NotImplementedError(f"nanoBragg.{name}: this layer has {ELSEWHERE[name]}")
        if name in READ_ONLY:
            raise AttributeError(f"nanoBragg.{name} can only be read; set {READ_ONLY[name]}")
        if name == "raw_pixels":
            object.__setattr__(self, "_pixels", numpy.array(value, dtype=float).reshape(self._shape()))
            return
        if name == "xray_beams":
            self._take_beams(value)
            return
        if name in DERIVED:
            name, value = DERIVED[name](self, value)
        if name not in ATTRIBUTES:
            raise AttributeError(unknown("nanoBragg", name, [*ATTRIBUTES, *SAME, *DERIVED, "xray_beams"]))
        if name == "unit_cell_Adeg" and hasattr(value, "parameters"):
            value = value.parameters()
        self._values[name] = value
        self._given.add(name)
        if name.startswith("mosaic_"):
            object.__setattr__(self, "_blocks", None)
        if name == "energy_eV":
            self._values["wavelength_A"] = 12398.42 / float(value)
            self._given.discard("wavelength_A")
        elif name == "wavelength_A":
            self._given.discard("energy_eV")

    def _read(self, name):
        """An attribute that was not set. Structure factors are not needed for it."""
        crystal = nanobragg.Crystal()
        if self._values["Amatrix"] is not None:
            crystal.matrix = self._matrix()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nanobragg.Warning)  # an image says it
            simulator = nanobragg.Simulator(crystal, flags=[*self._words(without=("default_F", "region_of_interest")), "-default_F", "1"],
                                            device="cpu")
        read = READS.get(name)
        if name == "beam_center_mm":
            convention = self._values["beamcenter_convention"] or ("custom" if AXES & self._given else "mosflm")
            read = CENTERS.get(convention, beam_center)
        return read(simulator, lambda: simulator.trace(0, 0))

    def _matrix(self):
        return numpy.array(self._values["Amatrix"], dtype=float).reshape(3, 3).T / _A  # rows a*, b*, c* become columns

    @property
    def indices(self):
        return None if self.Fhkl_tuple is None else self.Fhkl_tuple[0]

    @property
    def amplitudes(self):
        return None if self.Fhkl_tuple is None else self.Fhkl_tuple[1]

    # dxtbx, by its methods.

    def _take_beam(self, beam):
        self.wavelength_A = beam.get_wavelength()
        direction = numpy.array(beam.get_s0(), dtype=float)
        self.beam_vector = tuple(direction / numpy.linalg.norm(direction))
        if hasattr(beam, "get_polarization_normal"):
            self.polar_vector = tuple(numpy.cross(direction, beam.get_polarization_normal()))
        if hasattr(beam, "get_polarization_fraction"):
            self.polarization = 2 * beam.get_polarization_fraction() - 1

    def _take_beams(self, beams):
        """Sources of a list of dxtbx beams; their fluxes are weights."""
        beams = list(beams)
        directions = [numpy.array(b.get_s0(), dtype=float) for b in beams]
        self.xray_source_XYZ = [tuple(-d / numpy.linalg.norm(d)) for d in directions]
        self.xray_source_wavelengths_A = [b.get_wavelength() for b in beams]
        self.xray_source_intensity_fraction = [b.get_flux() for b in beams]

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

    def _words(self, without=()):
        """Flags of what the attributes say, without some."""
        words = []
        order = [n for n in ATTRIBUTES if n not in ("detector_pivot",)] + ["detector_pivot"]  # the last such flag wins
        always = {"unit_cell_Adeg", "Ncells_abc", "distance_mm", "pixel_size_mm", "detpixels_fastslow", "wavelength_A", "polarization", "fluence"}
        for name in order:
            value, flag = self._values[name], ATTRIBUTES[name][1]
            if flag is None or value is None or name in without or (name not in self._given and name not in always):
                continue
            if name == "fluence" and "flux" in self._given and self.flux:
                continue
            if name in ("polarization", "polar_vector") and self.nopolar:
                continue
            if name == "distance_mm" and "close_distance_mm" in self._given:
                continue
            if name == "detector_attenuation_length_mm" and not self.detector_thick_mm:
                continue
            if name == "unit_cell_Adeg" and self._values["Amatrix"] is not None and name not in self._given:
                continue
            words += flag(value)
        if self.detector_thick_mm and "detector_attenuation_length_mm" not in self._given:
            words += ATTRIBUTES["detector_attenuation_length_mm"][1](self.detector_attenuation_length_mm)
        if "_close" in self._values:
            words += ["-Xclose", repr(self._values["_close"][0]), "-Yclose", repr(self._values["_close"][1])]
        return words

    def _parts(self):
        """Beam and detector: what is no flag."""
        parts = [nanobragg.Beam(), nanobragg.Detector()]
        if self.xray_source_XYZ is not None:
            n = len(self.xray_source_XYZ)
            waves, weights = self.xray_source_wavelengths_A, self.xray_source_intensity_fraction
            waves = [self.wavelength_A] * n if waves is None else waves
            weights = [1.0] * n if weights is None else weights
            if len(waves) != n or len(weights) != n:
                raise ValueError(f"xray_source_XYZ has {n} sources, xray_source_wavelengths_A {len(waves)} and "
                                 f"xray_source_intensity_fraction {len(weights)}")
            parts[0].sources = [(*xyz, w, wave * _A) for xyz, w, wave in zip(self.xray_source_XYZ, weights, waves)]
        if self.mask is not None:
            parts[1].mask = self.mask
        return parts

    def _simulator(self):
        crystal = nanobragg.Crystal()
        if self.Fhkl_tuple is not None:
            indices, *parts = (numpy.asarray(list(a) if not hasattr(a, "shape") else a) for a in self.Fhkl_tuple)
            indices, low = indices.astype(int), indices.astype(int).min(axis=0)
            grid = numpy.full(indices.max(axis=0) - low + 1, float(self.default_F))
            # Of real and imaginary parts the intensity takes the amplitude.
            grid[tuple((indices - low).T)] = numpy.hypot(*parts) if len(parts) == 2 else parts[0]
            if self.F000 is not None and (low <= 0).all() and (low + grid.shape > 0).all():
                grid[tuple(-low)] = self.F000
            crystal.structure_factors = grid, tuple(low)
        elif not self.default_F:
            raise ValueError("nanoBragg has no structure factors: set Fhkl_tuple = indices, amplitudes, or default_F")
        elif self.F000 is not None:
            crystal.structure_factors = numpy.full((1, 1, 1), float(self.F000)), (0, 0, 0)
        if self._values["Amatrix"] is not None:
            crystal.matrix = self._matrix()
        simulator = nanobragg.Simulator(*self._parts(), crystal, flags=self._words(), **self._how)
        if self._blocks is not None:
            axes, angles = self._blocks
            simulator.set(mosaic_axis=axes, mosaic_unit_angle=angles, mosaic_spread=1.0)
        return simulator

    @property
    def simulator(self):
        """The nanobragg.Simulator of what the attributes say now."""
        return self._simulator()

    def add_nanoBragg_spots(self):
        """Adds the photons of the spots, times spot_scale, to raw_pixels."""
        raw = self._raw()
        raw += self.spot_scale * self._simulator().image()

    add_nanoBragg_spots_nks = add_nanoBragg_spots

    def set_mosaic_blocks(self, matrices):
        """Rotations of the mosaic domains, (domains, 3, 3) or (domains, 9), that take the place of mosaic_spread_deg."""
        axes, angles = _axes_and_angles(matrices)
        self.mosaic_domains, self.mosaic_spread_deg = len(angles), 180 / numpy.pi
        object.__setattr__(self, "_blocks", (axes, angles))

    def get_mosaic_blocks(self):
        """Rotations of the mosaic domains, (domains, 3, 3)."""
        simulator = self._simulator()
        if "mosaic_axis" not in simulator.parameters:
            return numpy.eye(3)[None]
        return _rotations(simulator["mosaic_axis"], simulator["mosaic_unit_angle"] * simulator["mosaic_spread"])

    def randomize_orientation(self):
        """missets_deg of an orientation drawn evenly, by ``seed`` where there is one."""
        words = ["-cell", "50", "50", "50", "90", "90", "90", "-default_F", "1", "-detpixels", "1", "-misset", "random"]
        if self.seed is not None:
            words += ["-misset_seed", str(abs(int(self.seed)))]
        self.missets_deg = tuple(float(x) / _deg for x in nanobragg.Simulator.from_flags(words)["misset"])

    def free_all(self):
        """Nothing to do: memory is Python's."""

    def show_params(self):
        print(self._simulator().parameters)

    def to_smv_format(self, fileout, intfile_scale=0, saturated_value=65534, debug_x=-1, debug_y=-1):
        """An SMV file of 16 bits: raw_pixels times intfile_scale (0: the brightest becomes 55000), as add_noise() left them."""
        raw = self._raw()
        scale = intfile_scale or (55000 / raw.max() if raw.max() > 0 else 1.0)
        counts = numpy.clip(raw * scale, 0, saturated_value).astype("<u2")
        slow, fast = raw.shape
        center = self.beam_center_mm
        lines = ["{", "HEADER_BYTES=512;", "DIM=2;", "BYTE_ORDER=little_endian;", "TYPE=unsigned_short;", f"SIZE1={fast};", f"SIZE2={slow};",
                 f"PIXEL_SIZE={self.pixel_size_mm:g};", f"DISTANCE={self.distance_mm:g};", f"WAVELENGTH={self.wavelength_A:g};",
                 f"BEAM_CENTER_X={center[0]:g};", f"BEAM_CENTER_Y={center[1]:g};", f"PHI={self.phi_deg:g};", f"OSC_START={self.phi_deg:g};",
                 f"OSC_RANGE={self.osc_deg:g};", f"TWOTHETA={self.detector_twotheta_deg:g};", f"ADC_OFFSET={self.adc_offset_adu:g};", "}\f"]
        with open(fileout, "wb") as out:
            out.write("\n".join(lines).encode().ljust(512))
            out.write(counts.tobytes())

    def to_smv_format_py(self, fileout, **how):
        self.to_smv_format(fileout, **how)
