"""The class nanoBragg of simtbx, on the kernels of this package.

    from nanobragg.compat.simtbx import nanoBragg, shapetype
    SIM = nanoBragg(detpixels_slowfast=(1024, 1024), pixel_size_mm=0.1, Ncells_abc=(10, 10, 10),
    wavelength_A=1)
    SIM.Fhkl_tuple = indices, amplitudes
    SIM.add_nanoBragg_spots()
    SIM.to_smv_format("image.img")

Units are in the names. ``nanoBragg(detector, beam)`` takes the objects of dxtbx, by their methods.
Attributes have their meaning in simtbx, mistakes included; docs/cctbx.md lists them. Arrays are
NumPy's. In a process of cctbx, ``nanobragg.cctbx`` provides the same class with flex arrays, under
the name that simtbx imports.
"""

import math
import operator
import pickle
import warnings

import numpy

import nanobragg

from .._errors import unknown
from ._simtbx_stages import Stages
from ._simtbx_state import STAR, State, _deg, _number, _plain, _tuple, axes_and_angles, star_width, unit
from ._simtbx_state import convention, pivot, shapetype  # noqa: F401
from ._small_images import how_to_make

_elsewhere = {
    "to_cbf": "no writer of CBF files; write to_smv_format, or give the flags to nb-sim --cbf",
    "to_nexus_nxmx": "no writer of NeXus files; write to_smv_format, or give the flags to nb-sim --nexus",
    "as_explist": "no dxtbx; nb-sim --write-expt writes one",
    "set_mosaic_blocks_sym": "no symmetry of mosaic blocks; give all of them to set_mosaic_blocks",
}

_SHAPES = {shapetype.Square: "square", shapetype.Round: "round", shapetype.Gauss: "gauss", shapetype.Gauss_argchk: "gauss",
           shapetype.Tophat: "tophat", shapetype.Gauss_star: "gauss"}

# The methods of the state that derive sweeps, and the sources that are made of them.
_STEPS = ("init_steps",)
_SOURCES = (*_STEPS, "init_sources")

WIDTHS = (0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)  # the places of ncells_a to ncells_f in a matrix


def testuple():
    """A tuple that begins with: is NaN known here?"""
    return True, 2, 3, 4


def _axis(name):
    def read(self):
        return tuple(float(x) for x in getattr(self._state, name))

    def write(self, value):
        vector = numpy.array([float(x) for x in value])
        if vector.shape != (3,):
            raise ValueError(f"a direction has three numbers, not {len(vector)}")
        setattr(self._state, name, vector)

    return property(read, write)


def _whole(value):
    return operator.index(value) if hasattr(value, "__index__") else int(value)


def _choice(kind, names):
    """A word of an enumeration, or the number of one."""
    def read(self):
        return self._state.__dict__[names]

    def write(self, value):
        if isinstance(value, str):
            found = [member for member in kind if member.name.lower() == value.lower()]
            if not found:
                raise ValueError(unknown(names, value, [member.name for member in kind]))
            value = found[0]
        setattr(self._state, names, kind(int(value)))
        if names == "convention":
            self._state.init_beamcenter()

    return property(read, write)


class Arrays:
    """The types that the class returns: NumPy's arrays, and tuples."""
    double = staticmethod(lambda array: numpy.array(array, dtype=float))
    vec2 = vec3 = mat3 = image = double
    indices = staticmethod(lambda array: numpy.array(array, dtype=int))
    cell = staticmethod(tuple)
    matrix = staticmethod(lambda matrix: numpy.array(matrix))
    beams = staticmethod(lambda state: list(state.beams))

    view = staticmethod(lambda image: image)


def _numbers(value):
    """NumPy's array of what may be a flex array, or a list of them."""
    array = value.as_numpy_array() if hasattr(value, "as_numpy_array") else numpy.array(value if isinstance(value, numpy.ndarray) else list(value))
    if numpy.iscomplexobj(array):
        raise TypeError("these numbers are complex and real ones are needed; of structure factors give Fhkl_tuple = (indices, real parts, imaginary parts)")
    return array if hasattr(value, "as_numpy_array") else array.astype(float, copy=False)


class _Names:
    """Names that the class does not have."""
    _strict = True

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(type(self), name, None)
        if isinstance(found, property):
            return found.fget(self)  # says why, again
        if name in _elsewhere:
            raise NotImplementedError(f"nanoBragg.{name}: this layer has {_elsewhere[name]}")
        raise AttributeError(unknown("nanoBragg", name, [n for n in dir(type(self)) if not n.startswith("_")]))

    def __setattr__(self, name, value):
        if not name.startswith("_") and not hasattr(type(self), name) and name not in self.__dict__:
            if name in _elsewhere:
                raise NotImplementedError(f"nanoBragg.{name}: this layer has {_elsewhere[name]}")
            known = [n for n in dir(type(self)) if not n.startswith("_")]
            if self._strict:
                raise AttributeError(unknown("nanoBragg", name, known))
            warnings.warn(unknown("nanoBragg", name, known) + "; it has no effect", nanobragg.Warning, stacklevel=4)
        object.__setattr__(self, name, value)


class nanoBragg(Stages, _Names):
    """A simulator with simtbx's attributes.

    ``nanoBragg(detector, beam, verbose=0, panel_id=0)`` with objects of dxtbx, or
    ``nanoBragg(detpixels_slowfast, Ncells_abc, unit_cell_Adeg, misset_deg, beam_center_mm,
    distance_mm, pixel_size_mm, wavelength_A, divergence_mrad, dispersion_pct, mosaic_spread_deg,
    oversample, verbose)``, all of which may be left out; other keywords set attributes of their
    names. device, precision, threads: as in ``nanobragg.Simulator``.
    """

    _arrays = Arrays
    _positions = ("detpixels_slowfast", "Ncells_abc", "unit_cell_Adeg", "misset_deg", "beam_center_mm", "distance_mm", "pixel_size_mm",
                  "wavelength_A", "divergence_mrad", "dispersion_pct", "mosaic_spread_deg", "oversample", "verbose")

    def __init__(self, *positional, device=None, precision=None, threads=None, **words):
        self._how = {"device": device, "precision": precision, "threads": threads, "compat": "simtbx"}
        self._plain = {}
        self._state = state = State()
        self._pixels = self._kept = self._last = None
        of_dxtbx = "detector" in words or (positional and hasattr(positional[0], "__getitem__") and hasattr(positional[0][0], "get_image_size"))
        names = ("detector", "beam", "verbose", "panel_id") if of_dxtbx else self._positions
        if len(positional) > len(names):
            raise TypeError(f"nanoBragg takes {len(names)} values by their positions, and is given {len(positional)}")
        for name, value in zip(names, positional):
            if name in words:
                raise TypeError(f"nanoBragg is given '{name}' twice, by its position and by its name")
            words[name] = value
        given = {name: words.pop(name) for name in names if name in words}
        if of_dxtbx:
            self.verbose = given.get("verbose", 0)
            self._of_dxtbx(given["detector"], given.get("beam"), given.get("panel_id", 0))
        else:
            self._of_words(given)
        state.init_detector()
        for name, value in words.items():
            setattr(self, name, value)

    def _of_dxtbx(self, detector, beam, panel_id):
        state, panel = self._state, detector[panel_id]
        state.take_beam(beam)
        state.pixel_size = panel.get_pixel_size()[0] / 1000
        state.fpixels, state.spixels = panel.get_image_size()
        state.init_detector()
        state.convention = convention.Custom
        self.set_dxtbx_detector_panel(panel, beam.get_s0())
        state.spindle = state.fast.copy()
        state.reconcile()
        if not state.distance > 0:
            raise ValueError(f"panel {panel_id} of the detector lies behind the sample: its distance along the beam is {state.distance * 1e3:g} mm")

    def _of_words(self, given):
        state, cell = self._state, given.get("unit_cell_Adeg", (78.0, 78.0, 38.0, 90.0, 90.0, 90.0))
        state.spixels, state.fpixels = (_whole(n) for n in given.get("detpixels_slowfast", (1024, 1024)))
        state.N = [float(n) for n in given.get("Ncells_abc", (1, 1, 1))]
        self._cell(cell)
        state.misset = numpy.array([float(x) for x in given.get("misset_deg", (0, 0, 0))])
        state.user_misset = bool((state.misset != 0).all())
        if state.misset.any():
            warnings.warn("simtbx takes misset_deg of its constructor in radians, and not at all where one of the three is 0, and so is it taken "
                          "here; set missets_deg", nanobragg.Warning, stacklevel=3)
        center = given.get("beam_center_mm")
        if center is not None and not any(math.isnan(x) for x in center):
            state.user_beam, (state.Xbeam, state.Ybeam) = True, (float(x) / 1000 for x in center)
        state.distance = given.get("distance_mm", 100) / 1000
        state.pixel_size = given.get("pixel_size_mm", 0.1) / 1000
        state.wavelength = given.get("wavelength_A", 1) * 1e-10
        state.divrange = [given.get("divergence_mrad", 0) / 1000] * 2
        state.dispersion = given.get("dispersion_pct", 0) / 100
        state.mosaic_spread = given.get("mosaic_spread_deg", 0) * _deg
        state.oversample = _whole(given.get("oversample", 0))
        state.user_oversample = state.oversample > 0
        self.verbose = given.get("verbose", 0)
        state.reconcile()

    def _cell(self, cell):
        numbers_ = [float(x) for x in (cell.parameters() if hasattr(cell, "parameters") else cell)]
        if len(numbers_) != 6:
            raise ValueError(f"a unit cell has six numbers, in Angstrom and degrees, not {len(numbers_)}")
        self._state.cell = numbers_[:3] + [angle * _deg for angle in numbers_[3:]]
        self._state.user_cell = True

    # The crystal.

    def _get_cell(self):
        return self._state.direct_cell[:3] + [angle / _deg for angle in self._state.direct_cell[3:]]

    def _set_cell(self, cell):
        self._cell(cell)
        self._state.init_cell()

    unit_cell_Adeg = property(lambda self: self._arrays.cell(self._get_cell()), _set_cell, doc="unit cell")
    unit_cell_tuple = property(lambda self: tuple(self._get_cell()), _set_cell, doc="unit cell")

    Ncells_abc = _tuple("N", then=("update_oversample",), sets={"size": [-1.0] * 3})
    xtal_size_mm = _tuple("size", 1e3, then=("update_oversample", "init_interpolator"))
    xtal_shape = _choice(shapetype, "shape")

    missets_deg = _tuple("misset", 1 / _deg, then=("init_cell",), sets={"user_misset": True})

    @property
    def Amatrix(self):
        """Rows a*, b*, c*, 1/Angstrom."""
        return self._arrays.matrix(self._state.reciprocal)

    @Amatrix.setter
    def Amatrix(self, value):
        self._state.reciprocal = numpy.array(list(numpy.array(value, dtype=float).reshape(-1))).reshape(3, 3)
        self._state.user_cell, self._state.user_matrix = False, True
        self._state.init_cell()

    @property
    def Amatrix_RUB(self):
        """Set with rows a, b, c, in Angstrom; read as Amatrix, as in simtbx."""
        return self.Amatrix

    @Amatrix_RUB.setter
    def Amatrix_RUB(self, value):
        self._state.user_cell = True
        self._state.take_direct(numpy.array(value, dtype=float).reshape(3, 3))
        self._state.reciprocal = numpy.linalg.inv(self._state.direct).T

    def randomize_orientation(self):
        """The next orientation of ``seed``, which becomes that of another."""
        self._state.randomize()

    def set_dxtbx_crystal(self, crystal):
        """Orientation and cell of a dxtbx crystal."""
        self.Amatrix = numpy.array(crystal.get_A(), dtype=float).reshape(3, 3).T

    # Structure factors.

    def _grid(self):
        """(array[h, k, l], (hmin, kmin, lmin)), made when it is first asked for."""
        if self._kept is None:
            state = self._state
            if state.indices is None or not len(state.indices):
                grid, low = numpy.full((1, 1, 1), state.default_F), numpy.zeros(3, dtype=int)
            else:
                low = state.indices.min(axis=0)
                grid = numpy.full(state.indices.max(axis=0) - low + 1, state.default_F)
                if state.amplitudes is not None:
                    if len(state.amplitudes) != len(state.indices):
                        raise ValueError(f"there are {len(state.indices)} Miller indices and {len(state.amplitudes)} amplitudes")
                    grid[tuple((state.indices - low).T)] = state.amplitudes
            if (low <= 0).all() and (low + grid.shape > 0).all():
                grid[tuple(-low)] = state.F000
            self._kept = grid, tuple(int(i) for i in low)
        return self._kept

    def _reset(name, kind):  # noqa: N805
        def write(self, value):
            setattr(self._state, name, kind(value))
            self._kept = None
        return write

    default_F = property(lambda self: self._state.default_F, _reset("default_F", float), doc="structure factor that no list gives")
    F000 = property(lambda self: self._state.F000, _reset("F000", float), doc="structure factor of the direct beam")

    @property
    def indices(self):
        grid, low = self._grid()
        return self._arrays.indices(numpy.indices(grid.shape).reshape(3, -1).T + low)

    @indices.setter
    def indices(self, value):
        self._state.indices, self._kept = numpy.array(list(value) if not isinstance(value, numpy.ndarray) else value, dtype=int).reshape(-1, 3), None

    @property
    def amplitudes(self):
        return self._arrays.double(self._grid()[0].reshape(-1))

    @amplitudes.setter
    def amplitudes(self, value):
        self._state.amplitudes, self._kept = _numbers(value), None

    @property
    def Fhkl_tuple(self):
        """Miller indices and amplitudes. Set with a third part that is not None, the parts are real
        and imaginary."""
        return self.indices, self.amplitudes

    @Fhkl_tuple.setter
    def Fhkl_tuple(self, value):
        indices, amplitudes, *imaginary = value
        self.indices, amplitudes = indices, _numbers(amplitudes)
        if imaginary and imaginary[0] is not None:
            amplitudes = numpy.hypot(amplitudes, _numbers(imaginary[0]))
        self.amplitudes = amplitudes

    @property
    def Fhkl(self):
        """Set with a miller array of cctbx, whose cell becomes that of the crystal; read
        Fhkl_tuple."""
        raise AttributeError("nanoBragg.Fhkl can be set; read Fhkl_tuple")

    @Fhkl.setter
    def Fhkl(self, array):
        array = array.expand_to_p1().generate_bijvoet_mates()
        if hasattr(array, "is_complex_array") and array.is_complex_array():
            array = array.amplitudes()
        self.unit_cell_Adeg = array.unit_cell()
        self.Fhkl_tuple = array.indices(), array.data()

    interpolate = _number("interpolate", kind=int)

    # Mosaic domains.

    mosaic_spread_deg = _number("mosaic_spread", 1 / _deg, then=_STEPS)
    mosaic_domains = _number("mosaic_domains", kind=_whole, then=_STEPS)
    mosaic_seed = _number("mosaic_seed", kind=_whole)

    def set_mosaic_blocks(self, matrices):
        """Rotations of the mosaic domains, (domains, 3, 3) or (domains, 9). They apply if
        mosaic_spread_deg is above 0."""
        blocks = numpy.array([numpy.array(m, dtype=float).reshape(3, 3) for m in matrices])
        axes_and_angles(blocks)
        self._state.blocks, self._state.mosaic_domains = blocks, len(blocks)

    def get_mosaic_blocks(self):
        """Rotations of the mosaic domains."""
        return self._arrays.mat3(self._state.mosaic_blocks())

    def get_mosaic_domains_abc_phi_0(self):
        """Rows a, b, c, in Angstrom, of each domain where phi is 0."""
        blocks = self._state.mosaic_blocks()
        if not self._state.mosaic_spread > 0:
            blocks = numpy.tile(numpy.eye(3), (len(blocks), 1, 1))
        return self._arrays.mat3(self._state.direct @ blocks.transpose(0, 2, 1))

    def show_mosaic_blocks(self):
        for i, block in enumerate(self._state.mosaic_blocks()):
            print(f"{i} by: {math.acos(max(-1.0, min(1.0, (numpy.trace(block) - 1) / 2))) / _deg:f} deg\n{block}")
        print(f"  total of {self._state.mosaic_domains} mosaic domains")

    # The detector.

    def set_dxtbx_detector_panel(self, panel, s0_vector):
        """Place, axes, pixels, sensor and gain of a panel of dxtbx; s0_vector along the beam."""
        self._state.take_panel(panel, s0_vector)
        self.quantum_gain = self._state.quantum_gain

    pixel_size_mm = _number("pixel_size", 1e3, then=("init_detector",))

    @property
    def detpixels_fastslow(self):
        return self._state.fpixels, self._state.spixels

    @detpixels_fastslow.setter
    def detpixels_fastslow(self, value):
        self._state.fpixels, self._state.spixels = (_whole(n) for n in value)
        self._state.init_detector()

    detpixels_slowfast = property(lambda self: self.detpixels_fastslow[::-1],
                                  lambda self, value: setattr(self, "detpixels_fastslow", (value[1], value[0])))

    @property
    def detsize_fastslow_mm(self):
        return self._state.detsize_f * 1e3, self._state.detsize_s * 1e3

    @detsize_fastslow_mm.setter
    def detsize_fastslow_mm(self, value):
        self._state.detsize_f, self._state.detsize_s = (float(x) / 1e3 for x in value)
        self._state.fpixels = self._state.spixels = 0
        self._state.init_detector()

    oversample = _number("oversample", kind=_whole, then=("update_oversample",),
                         sets={"user_oversample": True})

    @property
    def region_of_interest(self):
        """((fast from, fast to), (slow from, slow to)), ends included."""
        fast0, fast1, slow0, slow1 = self._state.roi
        return (fast0, fast1), (slow0, slow1)

    @region_of_interest.setter
    def region_of_interest(self, value):
        self._state.roi = [_whole(x) for pair in value for x in pair]
        self._state.init_beamcenter()

    def _place(self, **values):
        for name, value in values.items():
            setattr(self._state, name, value)
        self._state.reconcile()

    @property
    def beam_center_mm(self):
        return self._state.Xbeam * 1e3, self._state.Ybeam * 1e3

    @beam_center_mm.setter
    def beam_center_mm(self, value):
        x, y = (float(v) / 1e3 for v in value)
        self._place(Xbeam=x, Ybeam=y, Fbeam=x, Sbeam=y, Xclose=x, Yclose=y, Fclose=x, Sclose=y, user_beam=True, ORGX=math.nan, ORGY=math.nan)

    @property
    def XDS_ORGXY(self):
        return self._state.ORGX, self._state.ORGY

    @XDS_ORGXY.setter
    def XDS_ORGXY(self, value):
        unknown_ = dict.fromkeys(("Fbeam", "Sbeam", "Xclose", "Yclose", "Fclose", "Sclose", "Xbeam", "Ybeam"), math.nan)
        self._place(ORGX=float(value[0]), ORGY=float(value[1]), user_beam=True, convention=convention.XDS, **unknown_)

    adxv_beam_center_mm = property(lambda self: (self._state.Fbeam * 1e3, (self._state.detsize_s - self._state.Sbeam) * 1e3))
    mosflm_beam_center_mm = property(lambda self: tuple((x - 0.5 * self._state.pixel_size) * 1e3 for x in (self._state.Sbeam, self._state.Fbeam)))
    denzo_beam_center_mm = property(lambda self: (self._state.Sbeam * 1e3, self._state.Fbeam * 1e3))
    dials_origin_mm = property(lambda self: tuple(float(x) * 1e3 for x in self._state.dials_origin))
    pix0_vector_mm = property(lambda self: tuple(float(x) * 1e3 for x in self._state.origin))
    detector_pivot = _choice(pivot, "pivot")
    beamcenter_convention = _choice(convention, "convention")
    fdet_vector, sdet_vector, odet_vector = _axis("fast"), _axis("slow"), _axis("normal")
    beam_vector, polar_vector, spindle_axis, twotheta_axis = _axis("beam"), _axis("polar"), _axis("spindle"), _axis("twotheta_axis")

    @property
    def polar_Bvector(self):
        """Direction of the magnetic field: dxtbx's polarization normal."""
        return tuple(float(x) for x in unit(numpy.cross(self._state.beam, self._state.polar)))

    @polar_Bvector.setter
    def polar_Bvector(self, value):
        self._state.polar = unit(numpy.cross([float(x) for x in value], self._state.beam))

    distance_meters = _number("distance")

    def _set_distance(self, value):
        self._place(distance=float(value) / 1e3, close_distance=float(value) / 1e3)

    distance_mm = property(lambda self: float(self._state.distance) * 1e3, _set_distance, doc="from the sample to the detector along the beam")
    close_distance_mm = property(lambda self: float(self._state.close_distance) * 1e3, _set_distance, doc="along the detector's normal")

    detector_rotation_deg = _tuple("rotation", 1 / _deg)
    detector_twotheta_deg = _number("twotheta", 1 / _deg, sets={"pivot": pivot.Beam})
    detector_thick_mm = _number("thick", 1e3, then=_STEPS, sets={"thickstep": -1})
    detector_thicksteps = _number("thicksteps", kind=_whole, then=_STEPS, sets={"thickstep": -1})
    detector_thickstep_mm = _number("thickstep", 1e3, then=_STEPS)
    detector_attenuation_length_mm = _number("attenuation", 1e3)
    curved_detector, point_pixel = _plain("curved_detector", False, bool), _plain("point_pixel", False, bool)

    # The beam.

    @property
    def wavelength_A(self):
        return self._state.wavelength * 1e10

    @wavelength_A.setter
    def wavelength_A(self, value):
        self._state.wavelength = float(value) * 1e-10
        if self._state.source_wavelengths is not None:
            self._state.source_wavelengths = numpy.full(len(self._state.source_wavelengths), float(value))
        self._state.init_sources()

    @property
    def energy_eV(self):
        return 12398.42 / self.wavelength_A

    @energy_eV.setter
    def energy_eV(self, value):
        self.wavelength_A = 12398.42 / float(value)

    fluence = _number("fluence", then=("init_beam",), sets={"flux": 0.0})
    flux = _number("flux", then=("init_beam",))
    exposure_s = _number("exposure", then=("init_beam",))
    beamsize_mm = _number("beamsize", 1e3, then=("init_beam",))
    polarization, nopolar = _number("polarization"), _number("nopolar", kind=bool)

    @property
    def dispersion_pct(self):
        return self._state.dispersion * 100

    @dispersion_pct.setter
    def dispersion_pct(self, value):
        self._state.dispersion = float(value) / 100
        if self._state.dispsteps > 0:
            self._state.dispstep = -1.0
        self._state.init_steps()
        self._state.init_sources()

    dispsteps = _number("dispsteps", kind=_whole, then=_SOURCES, sets={"dispstep": -1})
    divergence_hv_mrad = _tuple("divrange", 1e3, then=_SOURCES, sets={"divstep": [-1, -1]})
    divsteps_hv = _tuple("divsteps", kind=_whole, then=_SOURCES, sets={"divstep": [-1, -1]})
    divstep_hv_mrad = _tuple("divstep", 1e3, then=_SOURCES, sets={"divsteps": [-1, -1]})
    round_div = _number("round_div", kind=bool)

    def _sources(name, kind):  # noqa: N805
        at = {"source_xyz": 0, "source_fractions": 1, "source_wavelengths": 2}[name]

        def read(self):
            return getattr(self._arrays, kind)(self._state.sources[at] * (1e10 if at == 2 else 1))

        def write(self, value):
            setattr(self._state, name, None if value is None else _numbers(value).reshape((-1, 3) if kind == "vec3" else -1))
            self._state.init_sources()
        return property(read, write)

    xray_source_XYZ = _sources("source_xyz", "vec3")
    xray_source_wavelengths_A = _sources("source_wavelengths", "double")
    xray_source_intensity_fraction = _sources("source_fractions", "double")

    @property
    def xray_beams(self):
        """Beams of dxtbx, one for each source; set with wavelengths in m, read in Angstrom, as in
        simtbx."""
        return self._arrays.beams(self._state)

    @xray_beams.setter
    def xray_beams(self, value):
        self._state.beams = list(value)
        self._state.init_sources()

    def show_sources(self):
        print(f"  created a total of {len(self._state.sources[0])} sources:")
        for i, (xyz, weight, wavelength) in enumerate(zip(*self._state.sources)):
            print(f"{i} {xyz[0]:g} {xyz[1]:g} {xyz[2]:g}   {weight:g} {wavelength:.6g}")

    phi_deg = _number("phi", 1 / _deg, then=_STEPS)
    osc_deg = _number("osc", 1 / _deg, then=_STEPS, sets={"phistep": -1})
    phisteps = _number("phisteps", kind=_whole, then=_STEPS, sets={"phistep": -1})
    phistep_deg = _number("phistep", 1 / _deg, then=_STEPS)

    # Attributes that nothing follows from.

    verbose, printout = _plain("verbose", 0), _plain("printout", False)
    progress_meter, progress_pixel = _plain("progress_meter", True), _plain("progress_pixel", 0)
    integral_form, cbf_int, device_Id = _plain("integral_form", False), _plain("cbf_int", False, bool), _plain("device_Id", 0, _whole)
    seed = _number("seed", kind=_whole)
    calib_seed, spot_scale = _plain("calib_seed", 123456789, _whole), _plain("spot_scale", 1.0, float)
    quantum_gain, adc_offset_adu = _plain("quantum_gain", 1.0, float), _plain("adc_offset_adu", 40.0, float)
    detector_calibration_noise_pct, flicker_noise_pct = _plain("calibration", 3.0, float), _plain("flicker", 0.0, float)
    readout_noise_adu, detector_psf_fwhm_mm = _plain("readout_noise", 3.0, float), _plain("psf_fwhm", 0.08, float)
    detector_psf_kernel_radius_pixels = _plain("psf_radius", 0, _whole)
    detector_psf_type = _plain("psf_type", shapetype.Fiber)
    mask = _plain("mask", None)

    @property
    def printout_pixel_fastslow(self):
        return self._plain.get("printout_pixel", (-1, -1))

    @printout_pixel_fastslow.setter
    def printout_pixel_fastslow(self, value):
        self._plain["printout_pixel"] = tuple(_whole(x) for x in value)
        if value[0] > 0:
            self.printout = True

    # Images.

    def _shape(self):
        return self._state.spixels, self._state.fpixels

    @property
    def raw_pixels(self):
        if self._pixels is None:
            self._pixels = self._arrays.image(numpy.zeros(self._shape()))
        return self._pixels

    @raw_pixels.setter
    def raw_pixels(self, value):
        if hasattr(value, "as_numpy_array") and self._arrays is not Arrays and len(value.focus()) == 2:
            self._pixels = value
            return
        array = _numbers(value)
        if array.size == numpy.prod(self._shape()):
            array = array.reshape(self._shape())
        elif self._arrays is Arrays:
            raise ValueError(f"raw_pixels has shape {self._shape()}, but the array has shape {array.shape}")
        self._pixels = self._arrays.image(array)

    def _raw(self):
        """raw_pixels as an array of NumPy, in the same memory."""
        return self._arrays.view(self._ours()).reshape(self._shape())

    def _ours(self):
        """raw_pixels; zeros where those are of another detector."""
        pixels = self.raw_pixels
        if (pixels.size if isinstance(pixels, numpy.ndarray) else pixels.size()) != numpy.prod(self._shape()):
            self._pixels = None
        return self.raw_pixels

    def _window(self):
        """The part of the region of interest that is on the detector: from slow, from fast, slow
        and fast pixels."""
        (fast0, fast1), (slow0, slow1) = self.region_of_interest
        return slow0, fast0, min(slow1 + 1, self._state.spixels) - slow0, min(fast1 + 1, self._state.fpixels) - fast0

    def _add(self, image, window):
        slow0, fast0, slow, fast = window
        self._raw()[slow0:slow0 + slow, fast0:fast0 + fast] += image

    def _beam(self, weights, window=None):
        """Beam, detector and goniometer. window: of this part of the detector alone."""
        s = self._state
        (xyz, _, wavelength), (slow0, fast0, slow, fast) = s.sources, window or (0, 0, *self._shape())
        if not len(xyz):
            raise ValueError("there are no X-ray sources, since divstep_hv_mrad are wider than divergence_hv_mrad and round_div leaves out their corners; "
                             "set smaller steps, or divsteps_hv")
        # Axes that were set since the detector was placed have another distance than the one of
        # solid angles.
        distance = float(s.origin @ s.normal)
        if not distance > 0:
            raise ValueError("the detector lies behind the sample with the axes that were set after it was placed; set distance_mm, which places it anew")
        oblique = 1.0 if self.point_pixel or math.isclose(distance, s.close_distance, rel_tol=1e-12) else s.close_distance / distance
        beam = nanobragg.Beam(wavelength=s.wavelength, fluence=s.fluence * oblique * float(numpy.sum(weights)),
                              sources=[(*place, w, wave) for place, w, wave in zip(xyz, weights, wavelength)],
                              **({"unpolarized": True} if s.nopolar else {"polarization": s.polarization}))
        fields = {}
        if s.thick > 0 and s.attenuation > 0:
            fields = {"thickness": s.thickstep * s.thicksteps, "attenuation_depth": s.attenuation, "thickness_steps": s.thicksteps,
                      "oversample_thick": True}
        from_slow, from_fast, of_slow, of_fast = self._window()
        if window is None and (of_slow, of_fast) != self._shape():
            fields["region"] = (from_slow, from_slow + of_slow - 1), (from_fast, from_fast + of_fast - 1)
        detector = nanobragg.Detector(
            shape=(slow, fast), pixel_size=s.pixel_size, fast_axis=s.fast, slow_axis=s.slow, normal=s.normal, pivot="sample",
            beam_direction=-unit(s.sources[1] @ s.sources[0]), polarization_axis=s.polar, close_distance=distance,
            close_point=(-(s.origin @ s.fast + fast0 * s.pixel_size), -(s.origin @ s.slow + slow0 * s.pixel_size)),
            oversample_polar=not s.nopolar, oversample_omega=True, point_pixel=bool(self.point_pixel), curved=bool(self.curved_detector), **fields)
        if self.mask is not None:
            detector.mask = numpy.asarray(self.mask)[slow0:slow0 + slow, fast0:fast0 + fast]
        return beam, detector, nanobragg.Goniometer(axis=s.spindle)

    def _samples(self, window):
        """Samples of an image for each orientation."""
        s = self._state
        return window[2] * window[3] * max(1, s.oversample)**2 * len(s.sources[0]) * max(1, s.thicksteps)

    def _asked(self, window):
        """All parts, and numbers that are set apart from them: the simulator of others may have
        these, too."""
        s = self._state
        if s.shape not in _SHAPES:
            raise ValueError(f"xtal_shape is {s.shape.name}, which is of point spreads; crystals are Square, Round, Gauss, Gauss_argchk, Gauss_star or Tophat")
        if not s.direct.any():
            raise ValueError("nanoBragg(detector, beam) has no unit cell; set unit_cell_tuple, Amatrix or Fhkl")
        matrix = numpy.linalg.inv(s.direct) * 1e10
        values = {"ncells": s.N, "reciprocal_matrix": matrix}
        crystal = nanobragg.Crystal(structure_factors=self._grid(), matrix=matrix, default_F=s.default_F, shape=_SHAPES[s.shape],
                                    ncells=[max(1, math.ceil(n)) for n in s.N], interpolate=bool(s.interpolate), average="sampled")
        beam, detector, goniometer = self._beam(s.sources[1], window)
        if s.shape == shapetype.Gauss_star:
            width = star_width(s.direct.T, s.N)[0]
            values.update({f"ncells_{name}": width[at] for name, at in zip("abcdef", WIDTHS)})
            del values["ncells"]
            crystal.ncells_def, beam.fluence = (0, 0, 0), beam.fluence / STAR**6
        detector.oversample = max(1, s.oversample)
        goniometer.phi = s.phi
        if s.phisteps > 1:
            goniometer.osc, goniometer.phi_steps = s.phistep * s.phisteps, s.phisteps
        blocks = s.mosaic_blocks() if s.mosaic_spread > 0 else numpy.eye(3)[None]
        if len(blocks) > 1 or not numpy.array_equal(blocks[0], numpy.eye(3)):
            crystal.mosaic_spread, crystal.mosaic_domains, crystal.mosaic_in_lab = 1.0, len(blocks), True
            axes, angles = axes_and_angles(blocks)
            values.update(mosaic_axis=axes, mosaic_unit_angle=angles, mosaic_spread=1.0)
        return (beam, detector, crystal, goniometer), values

    def _simulator(self, window=None):
        parts, values = self._asked(window)
        simulator = nanobragg.Simulator(*parts, **self._how)
        simulator.set(**values)
        return simulator

    def _image(self, window):
        """Photons of the spots, in memory of which the next image is made. The last image's
        simulator makes this one where only the crystal's numbers are others."""
        parts, values = self._asked(window)
        grid, mask = parts[2].structure_factors, parts[1].mask
        how = how_to_make(self._samples(window) * max(1, self._state.phisteps) * len(values.get("mosaic_axis", [0])), self._how)
        key = window, pickle.dumps([{name: value for name, value in vars(part).items() if name not in ("matrix", "structure_factors", "mask")}
                                    for part in parts]), how
        if self._last is None or self._last[:2] != (key, id(grid)) or mask is not None:
            # The grid is kept, too, so that no other has its identity.
            simulator = nanobragg.Simulator(*parts, **how)
            self._last = key, id(grid), grid, simulator, numpy.empty(window[2:])
        *_, simulator, image = self._last
        simulator.set(**values)
        return simulator.image(out=image)

    @property
    def simulator(self):
        """The nanobragg.Simulator with the current attributes."""
        return self._simulator()

    def add_nanoBragg_spots(self):
        """Adds the photons of the spots, times spot_scale, to raw_pixels."""
        window = self._window()
        if min(window[2:]) > 0:
            image = self._image(window)
            self._add(image if self.spot_scale == 1 else self.spot_scale * image, window)
        if self.printout and min(self.printout_pixel_fastslow) >= 0:
            fast, slow = self.printout_pixel_fastslow
            for name, value in self._simulator().trace(slow, fast).items():
                print(f"{name} {value}")

    def add_nanoBragg_spots_nks(self, output=None):
        """The same: all kernels run in parallel."""
        self.add_nanoBragg_spots()

    def add_nanoBragg_spots_cuda(self):
        """The same on the GPU of device_Id."""
        was = self._how
        self._how = {**was, "device": f"cuda:{self.device_Id}"}
        try:
            self.add_nanoBragg_spots()
        finally:
            self._how = was

    def free_all(self):
        """The settings of the last image; the rest is Python's."""
        self._last = None

    def show_params(self):
        print(self._simulator().parameters)

    # Files.

    def get_intfile_scale(self, intfile_scale=0):
        """The factor of raw_pixels in a file: the one that was set, or 55000 divided by the
        largest."""
        if intfile_scale > 0:
            return intfile_scale
        largest = self._raw().max()
        return 55000 / largest if largest > 0 else 1.0

    def raw_pixels_unsigned_short_as_python_bytes(self, intfile_scale=0, debug_x=-1, debug_y=-1):
        """raw_pixels times the scale, as integers of 16 bits, up to 65534."""
        return numpy.clip(self._raw() * self.get_intfile_scale(intfile_scale), 0, 65534).astype("<u2").tobytes()

    def to_smv_format_streambuf(self, output, intfile_scale=0, debug_x=-1, debug_y=-1):
        """The same bytes, written to an open file."""
        output.write(self.raw_pixels_unsigned_short_as_python_bytes(intfile_scale))

    def to_smv_format(self, fileout, intfile_scale=0, debug_x=-1, debug_y=-1):
        """An SMV file of 16 bits: raw_pixels times intfile_scale (0: the brightest becomes 55000),
        as add_noise() left them."""
        entries = {"HEADER_BYTES": 1024, "DIM": 2, "BYTE_ORDER": "little_endian", "TYPE": "unsigned_short", "SIZE1": self._state.fpixels,
                   "SIZE2": self._state.spixels, "PIXEL_SIZE": self.pixel_size_mm, "DISTANCE": self.distance_mm, "WAVELENGTH": self.wavelength_A}
        for x, y, center in (("BEAM_CENTER_X", "BEAM_CENTER_Y", self.beam_center_mm), ("ADXV_CENTER_X", "ADXV_CENTER_Y", self.adxv_beam_center_mm),
                             ("MOSFLM_CENTER_X", "MOSFLM_CENTER_Y", self.mosflm_beam_center_mm),
                             ("DENZO_X_BEAM", "DENZO_Y_BEAM", self.denzo_beam_center_mm)):
            entries[x], entries[y] = center
        entries["DIALS_ORIGIN"] = "{:g},{:g},{:g}".format(*self.dials_origin_mm)
        entries["XDS_ORGX"], entries["XDS_ORGY"] = self.XDS_ORGXY
        entries.update({"CLOSE_DISTANCE": self.close_distance_mm, "PHI": self.phi_deg,
                        "OSC_START": self.phi_deg, "OSC_RANGE": self.osc_deg, "TIME": self.exposure_s, "TWOTHETA": self.detector_twotheta_deg,
                        "DETECTOR_SN": "000", "ADC_OFFSET": self.adc_offset_adu, "BEAMLINE": "fake"})
        lines = [f"{name}={value if isinstance(value, (str, int)) else f'{value:g}'};\n" for name, value in entries.items()]
        with open(fileout, "wb") as out:
            out.write(("{\n" + "".join(lines) + "}\f").encode().ljust(1024))
            out.write(self.raw_pixels_unsigned_short_as_python_bytes(intfile_scale))

    def to_smv_format_py(self, fileout, intfile_scale=0, **how):
        self.to_smv_format(fileout, intfile_scale)
