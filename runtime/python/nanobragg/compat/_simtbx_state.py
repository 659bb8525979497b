"""The state of simtbx.nanoBragg: its numbers, in m and rad, and how each changes the others.

The order in which values are derived from one another decides what a program of simtbx sees, so it
is simtbx's here, in all that can be read back.
"""

import copy
import enum
import math
import time

import numpy

_deg = math.pi / 180
_nan = float("nan")


class _BoostEnum(enum.IntEnum):
    """Prints as enumerations of Boost.Python do, and has their dictionaries ``names`` and
    ``values``."""

    def __str__(self):
        return self.name

    def __format__(self, how):
        return format(int(self), how) if how else self.name


class shapetype(_BoostEnum):
    Unknown, Square, Round, Gauss, Gauss_argchk, Tophat, Fiber, Gauss_star = range(8)


class convention(_BoostEnum):
    Custom, ADXV, MOSFLM, XDS, DIALS, DENZO = range(6)


class pivot(_BoostEnum):
    Sample, Beam = range(2)


for _kind in (shapetype, convention, pivot):
    _kind.names, _kind.values = dict(_kind.__members__), {int(member): member for member in _kind}


# Convention -> beam, normal, fast, slow, axis of two-theta, electric field, spindle.
_axes = {
    convention.ADXV: ((0, 0, 1), (0, 0, 1), (1, 0, 0), (0, -1, 0), (-1, 0, 0), (1, 0, 0), (1, 0, 0)),
    convention.MOSFLM: ((1, 0, 0), (1, 0, 0), (0, 0, 1), (0, -1, 0), (0, 0, -1), (0, 0, 1), (0, 0, 1)),
    convention.XDS: ((0, 0, 1), (0, 0, 1), (1, 0, 0), (0, 1, 0), (1, 0, 0), (1, 0, 0), (1, 0, 0)),
    convention.DIALS: ((0, 0, -1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1, 0, 0), (1, 0, 0), (1, 0, 0)),
}
_axes[convention.DENZO] = _axes[convention.MOSFLM]


def unit(vector):
    vector = numpy.array(vector, dtype=float)
    length = math.sqrt(vector @ vector)
    return vector / length if length else vector


def in_metres(wavelengths):
    """Wavelengths of sources, which simtbx takes in m though their name says A: those above 1e-6
    can only be A."""
    return numpy.where(wavelengths > 1e-6, wavelengths * 1e-10, wavelengths)


def about(axis, angle):
    """The matrix of a right-handed rotation about a unit axis."""
    x, y, z = axis
    cross = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=float)
    return numpy.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * (cross @ cross)


def about_xyz(angles):
    """Rotations about x, then y, then z."""
    x, y, z = (about(axis, angle) for axis, angle in zip(numpy.eye(3), angles))
    return z @ y @ x


def _range_of(width, step, count, unknown_width, last_included=True):
    """Width, step and number of a sweep from those that were said; below 0 is unsaid."""
    if count <= 0:
        if width < 0:
            width, step, count = (0.0, 0.0, 1) if step <= 0 else (step, step, 2)
        elif step <= 0:
            step, count = (width, 2) if last_included else (width / 2, 2)
        else:
            count = math.ceil(width / step)
    elif width < 0:
        if step <= 0:
            width, step = unknown_width, unknown_width / count
        else:
            width, count = step, 2
    elif step <= 0:
        count = max(count, 2)
        step = width / (count - 1)
    return (width, step, count) if width > 0 and step > 0 and count > 0 else (0.0, 0.0, 1)


class Ran1:
    """Numerical Recipes' generator of this name: Park and Miller's, shuffled by Bays and Durham."""

    def __init__(self, seed):
        self.last, table = max(int(seed), 1), []
        for _ in range(40):
            table.append(self._next())
        self.table = table[:7:-1]
        self.out = self.table[0]

    def _next(self):
        self.last = self.last * 16807 % 2147483647
        return self.last

    def __call__(self):
        at = self.out // 67108864
        self.out, self.table[at] = self.table[at], self._next()
        return min(self.out / 2147483647, 1 - 1.2e-7)


def drawn_rotation(draw, largest):
    """A rotation of a domain, as the C program draws it: the angle's root is of single precision.
    """
    r1, r2, r3 = (2 * draw() - 1 for _ in range(3))
    angle = largest * float(numpy.float32(1 - r3 * r3) ** numpy.float32(1 / 3))  # C's powf, which numpy.power is not
    across = math.sqrt(1 - r2 * r2)
    return about((across * math.sin(math.pi * r1), across * math.cos(math.pi * r1), r2), angle)


class State:
    """Members have the names of simtbx's C++ where a program can read them."""

    def __init__(self):
        s = self
        s.pixel_size, s.fpixels, s.spixels, s.detsize_f, s.detsize_s = 1e-4, 0, 0, 0.1024, 0.1024
        s.beam, s.normal, s.fast, s.slow = (numpy.array(v, dtype=float) for v in ((1, 0, 0), (1, 0, 0), (0, 0, 1), (0, -1, 0)))
        s.twotheta_axis, s.polar, s.spindle, s.magnetic = (numpy.array(v, dtype=float) for v in ((0, 1, 0), (0, 0, 1), (0, 0, 1), (0, 0, 0)))
        s.origin, s.dials_origin = numpy.zeros(3), numpy.zeros(3)
        s.distance, s.close_distance = 0.1, _nan
        s.Xbeam = s.Ybeam = s.Fbeam = s.Sbeam = s.Xclose = s.Yclose = s.Fclose = s.Sclose = s.ORGX = s.ORGY = _nan
        s.rotation, s.twotheta = numpy.zeros(3), 0.0
        s.pivot, s.convention, s.user_beam, s.righthanded = pivot.Beam, convention.MOSFLM, False, True
        s.roi = [-1, -1, -1, -1]
        s.attenuation, s.thick, s.thickstep, s.thicksteps = 234e-6, 0.0, 0.0, -1
        s.oversample, s.user_oversample = -1, False
        s.wavelength, s.fluence, s.flux, s.exposure, s.beamsize = 1e-10, 125932015286227086360700780544.0, 0.0, 1.0, 1e-4
        s.polarization, s.nopolar = 0.0, False
        s.dispersion, s.dispstep, s.dispsteps = 0.0, -1.0, -1
        s.divrange, s.divstep, s.divsteps, s.round_div = [-1.0, -1.0], [-1.0, -1.0], [-1, -1], True
        s.phi, s.osc, s.phistep, s.phisteps = 0.0, -1.0, -1.0, -1
        s.mosaic_spread, s.mosaic_domains, s.mosaic_seed, s.blocks, s.drawn = -1.0, -1, 12345678, None, None
        s.N, s.size = [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]
        s.cell, s.user_cell, s.user_matrix = [0.0] * 6, False, False
        s.reciprocal, s.umat, s.misset, s.user_misset = numpy.zeros((3, 3)), None, numpy.zeros(3), False
        s.direct, s.direct_cell = numpy.zeros((3, 3)), [0.0] * 6
        s.shape, s.interpolate, s.indices, s.amplitudes, s.F000, s.default_F = shapetype.Square, 2, None, None, 0.0, 0.0
        s.beams, s.source_xyz, s.source_wavelengths, s.source_fractions = [], None, None, None
        s.sources = numpy.zeros((0, 3)), numpy.zeros(0), numpy.zeros(0)  # place, weight, wavelength
        s.sample, s.density, s.molecular_weight = [0.0, 0.0, 0.0], 1e6, 18.0
        s.seed = -int(time.time())

    def reconcile(self):
        self.init_detector()
        self.init_beam()
        self.init_beamcenter()
        self.init_steps()
        self.update_beamcenter()
        self.init_interpolator()
        self.init_cell()
        self.update_oversample()
        self.init_background()
        self.init_sources()

    # Detector and beam.

    def init_detector(self):
        if self.fpixels:
            self.detsize_f = self.pixel_size * self.fpixels
        if self.spixels:
            self.detsize_s = self.pixel_size * self.spixels
        self.fpixels = math.ceil(self.detsize_f / self.pixel_size - 0.5)
        self.spixels = math.ceil(self.detsize_s / self.pixel_size - 0.5)

    def init_beam(self):
        if self.flux != 0 and self.exposure > 0 and self.beamsize >= 0:
            self.fluence = self.flux * self.exposure / self.beamsize**2 if self.beamsize else math.inf
        if self.beamsize >= 0:
            for i in (1, 2):
                self.size[i] = min(self.size[i], self.beamsize)
                self.sample[i] = min(self.sample[i], self.beamsize)
        if self.exposure > 0:
            self.flux = self.fluence / self.exposure * self.beamsize**2

    def init_beamcenter(self):
        s = self
        if not math.isnan(s.ORGX):
            s.Xclose = s.ORGX * s.pixel_size
        if not math.isnan(s.ORGY):
            s.Yclose = s.ORGY * s.pixel_size
        for name, value in (("Xclose", (s.detsize_f - s.pixel_size) / 2), ("Yclose", (s.detsize_s + s.pixel_size) / 2)):
            if math.isnan(getattr(s, name)):
                setattr(s, name, value)
        for name, other in (("Xbeam", "Xclose"), ("Ybeam", "Yclose"), ("Fclose", "Xclose"), ("Sclose", "Yclose"), ("Fbeam", "Fclose"),
                            ("Sbeam", "Sclose")):
            if math.isnan(getattr(s, name)):
                setattr(s, name, getattr(s, other))
        s.roi = [value if value >= 0 else default for value, default in zip(s.roi, (0, s.fpixels, 0, s.spixels))]
        if s.convention in _axes:
            s.beam, s.normal, s.fast, s.slow, s.twotheta_axis, s.polar, s.spindle = (
                numpy.array(axis, dtype=float) for axis in _axes[s.convention])
            s.pivot = pivot.Sample if s.convention in (convention.XDS, convention.DIALS) else pivot.Beam
        if not s.user_beam:
            plus, minus = (s.detsize_f + s.pixel_size) / 2, (s.detsize_s - s.pixel_size) / 2
            if s.convention == convention.ADXV:
                s.Xbeam, s.Ybeam = plus, minus
            elif s.convention in (convention.MOSFLM, convention.DENZO):
                s.Xbeam, s.Ybeam = (s.detsize_s + s.pixel_size) / 2, plus
            else:
                s.Xbeam, s.Ybeam = s.Xclose, s.Yclose
        if s.convention == convention.ADXV:
            s.Fbeam, s.Sbeam = s.Xbeam, s.detsize_s - s.Ybeam
        elif s.convention in (convention.MOSFLM, convention.DENZO):
            half = 0.5 * s.pixel_size if s.convention == convention.MOSFLM else 0.0
            s.Fbeam, s.Sbeam = s.Ybeam + half, s.Xbeam + half
        else:
            s.Fbeam, s.Sbeam = s.Xbeam, s.Ybeam
            if s.convention == convention.Custom:
                s.Fclose, s.Sclose = s.Xbeam, s.Ybeam
        s.beam, s.fast, s.slow, s.polar, s.spindle = map(unit, (s.beam, s.fast, s.slow, s.polar, s.spindle))
        if numpy.linalg.norm(s.normal) != 1:
            s.normal = unit(numpy.cross(s.fast, s.slow)) * (1 if s.righthanded else -1)
        s.magnetic = unit(numpy.cross(s.beam, s.polar))

    def update_beamcenter(self):
        s = self
        turn = about_xyz(s.rotation)
        ratio = s.beam @ (turn @ s.normal) or 5e-324
        if math.isnan(s.close_distance):
            s.close_distance = abs(ratio * s.distance)
        s.distance = s.close_distance / ratio
        swing = about(s.twotheta_axis, s.twotheta)
        if s.pivot == pivot.Sample:
            s.origin = swing @ turn @ (s.close_distance * s.normal - s.Fclose * s.fast - s.Sclose * s.slow)
        s.fast, s.slow, s.normal = (swing @ turn @ axis for axis in (s.fast, s.slow, s.normal))
        if s.pivot == pivot.Beam:
            s.origin = s.distance * s.beam - s.Fbeam * s.fast - s.Sbeam * s.slow
        s.Fclose, s.Sclose, s.close_distance = -s.origin @ s.fast, -s.origin @ s.slow, s.origin @ s.normal
        s.distance = s.close_distance / ratio
        hit = s.distance * s.beam - s.origin
        s.Fbeam, s.Sbeam = s.fast @ hit, s.slow @ hit
        s.ORGX, s.ORGY = s.Fclose / s.pixel_size + 0.5, s.Sclose / s.pixel_size + 0.5
        # The frame of imgCIF: x along the spindle, z towards the source.
        x = unit(s.spindle)
        z = unit(-s.beam + (s.beam @ x) * x)
        s.dials_origin = numpy.array([s.origin @ x, s.origin @ unit(numpy.cross(z, x)), s.origin @ z])

    def take_panel(self, panel, s0):
        """A panel of dxtbx. Its thickness is in mm and is taken for m, as simtbx takes it."""
        s = self
        fast, slow = panel.get_image_size()
        if (fast, slow) != (s.fpixels, s.spixels):
            s.pixel_size, s.fpixels, s.spixels = panel.get_pixel_size()[0] / 1000, fast, slow
            s.init_detector()
        s.fast, s.slow = unit(panel.get_fast_axis()), unit(panel.get_slow_axis())
        s.normal = unit(numpy.cross(s.fast, s.slow))
        s.origin = numpy.array(panel.get_origin(), dtype=float) / 1000
        s.Fclose = s.Xclose = -s.origin @ s.fast
        s.Sclose = s.Yclose = -s.origin @ s.slow
        s.close_distance = s.distance = s.origin @ s.normal
        if s.close_distance < 0:
            s.normal, s.close_distance, s.distance, s.righthanded = -s.normal, -s.close_distance, -s.distance, False
        s.Xbeam, s.Ybeam = (x / 1000 for x in panel.get_beam_centre(s0))
        s.user_beam = True
        s.thick, s.quantum_gain = panel.get_thickness(), panel.get_gain()
        if panel.get_mu() > 0:
            s.attenuation = 1 / panel.get_mu()

    def take_beam(self, beam):
        s = self
        s.beam = unit(beam.get_s0())
        s.wavelength = beam.get_wavelength() * 1e-10
        if beam.get_divergence() > 0:
            s.divrange = [beam.get_divergence()] * 2
        if beam.get_flux() > 0:
            s.flux = beam.get_flux()
        if -1 <= beam.get_polarization_fraction() <= 1:
            s.polarization = beam.get_polarization_fraction()
        s.magnetic = unit(beam.get_polarization_normal())
        s.polar = unit(numpy.cross(s.beam, s.magnetic))

    # Sweeps.

    def init_steps(self):
        s = self
        if s.phisteps < 0:
            if s.osc < 0:
                s.phisteps, s.osc, s.phistep = (1, 0.0, 0.0) if s.phistep <= 0 else (2, s.phistep, s.phistep)
            elif s.phistep <= 0:
                s.phisteps, s.phistep = 2, s.osc / 2
            else:
                s.phisteps = math.ceil(s.osc / s.phistep)
        else:
            s.phisteps = max(s.phisteps, 1)
            if s.osc < 0:
                if s.phistep <= 0:
                    s.osc = _deg
                    s.phistep = s.osc / s.phisteps
                else:
                    s.osc, s.phisteps = s.phistep, 2
            elif s.phistep < 0:
                s.phistep = s.osc / s.phisteps
        for i in (0, 1):
            s.divrange[i], s.divstep[i], s.divsteps[i] = _range_of(s.divrange[i], s.divstep[i], s.divsteps[i], 1.0)
        s.dispersion, s.dispstep, s.dispsteps = _range_of(s.dispersion, s.dispstep, s.dispsteps, 1.0)
        s.thick, s.thickstep, s.thicksteps = _range_of(s.thick, s.thickstep, s.thicksteps, 0.5e-6, last_included=False)
        said, s.mosaic_spread = s.mosaic_spread >= 0, max(s.mosaic_spread, 0.0)
        if not said or s.mosaic_spread == 0:
            s.mosaic_domains = 1
        elif s.mosaic_domains <= 0:
            s.mosaic_domains = 10

    def mosaic_blocks(self):
        """Rotations of the domains, (domains, 3, 3), whether they count (mosaic_spread) or not."""
        n = max(self.mosaic_domains, 1)
        if self.blocks is not None:
            return self.blocks[:n]
        key = self.mosaic_spread, n, abs(int(self.mosaic_seed))
        if self.drawn is None or self.drawn[0] != key:
            matrices = numpy.eye(3)[None]
            if n > 1:
                draw = Ran1(key[2])
                matrices = numpy.concatenate([matrices, [drawn_rotation(draw, self.mosaic_spread) for _ in range(n - 1)]])
            self.drawn = key, matrices
        return self.drawn[1]

    # The crystal.

    def init_interpolator(self):
        if self.interpolate > 1:
            self.interpolate = 1 if min(self.N) <= 2 else 0

    def init_cell(self):
        s = self
        if not s.user_cell and not s.user_matrix:
            return
        if s.user_cell:
            a, b, c = (edge if edge > 0 else s.cell[0] for edge in s.cell[:3])
            al, be, ga = (angle if angle > 0 else math.pi / 2 for angle in s.cell[3:])
            cos, sin = numpy.cos([al, be, ga]), numpy.sin([al, be, ga])
            volume = a * b * c * math.sqrt(abs(1 - cos @ cos + 2 * cos.prod()))
            star = numpy.array([b * c * sin[0], c * a * sin[1], a * b * sin[2]]) / volume
            cos_star = [(cos[1] * cos[2] - cos[0]) / (sin[1] * sin[2]), (cos[2] * cos[0] - cos[1]) / (sin[2] * sin[0]),
                        (cos[0] * cos[1] - cos[2]) / (sin[0] * sin[1])]
            sin_gamma = min(c * 1 / volume / star[0] / star[1], 1.0)
            # The last number is simtbx's, and right for cells with at most one angle that is not
            # 90.
            s.reciprocal = numpy.array([[star[0], 0, 0], [star[1] * cos_star[2], star[1] * sin_gamma, 0],
                                        [star[2] * cos_star[1], star[2] * (cos_star[0] - cos_star[1] * cos_star[2]) / sin_gamma,
                                         star[2] * volume / (a * b * c * sin_gamma)]])
        if s.umat is not None:
            s.reciprocal = s.reciprocal @ s.umat.T
        if s.user_misset:
            s.reciprocal = s.reciprocal @ about_xyz(s.misset).T
        crosses = numpy.cross(s.reciprocal[[1, 2, 0]], s.reciprocal[[2, 0, 1]])
        if s.user_cell:
            crosses *= (numpy.array([a, b, c]) / volume / numpy.linalg.norm(crosses, axis=1))[:, None]
        else:
            volume = 1 / (s.reciprocal[0] @ crosses[0])
        s.take_direct(crosses * volume)
        s.reciprocal = numpy.cross(s.direct[[1, 2, 0]], s.direct[[2, 0, 1]]) / volume

    def take_direct(self, direct):
        """Rows a, b, c, in Angstrom."""
        self.direct = numpy.array(direct, dtype=float).reshape(3, 3)
        lengths = numpy.linalg.norm(self.direct, axis=1)
        unit_rows = self.direct / lengths[:, None]
        angles = [math.acos(max(-1.0, min(1.0, unit_rows[i] @ unit_rows[j]))) for i, j in ((1, 2), (0, 2), (0, 1))]
        self.direct_cell = [*(float(x) for x in lengths), *angles]
        self.cell = list(self.direct_cell)

    def update_oversample(self):
        s, lengths = self, numpy.array(self.direct_cell[:3]) * 1e-10
        s.N = [max(1.0, s.size[i] / lengths[i] if s.size[i] > 0 else s.N[i]) for i in range(3)]
        s.size = [float(x) for x in lengths * s.N]
        s.recommended_oversample = max(1, math.ceil(3 * max(s.size) / (s.wavelength * s.distance / s.pixel_size)))
        if not s.user_oversample:
            s.oversample = s.recommended_oversample

    def randomize(self):
        """The next orientation of the seed's sequence."""
        draw = Ran1(abs(int(self.seed)))
        r = drawn_rotation(draw, 90.0)
        self.seed = draw.last
        self.misset = numpy.array([math.atan2(r[2, 1], r[2, 2]), math.asin(max(-1.0, min(1.0, -r[2, 0]))), math.atan2(r[1, 0], r[0, 0])])
        self.user_misset = True
        self.init_cell()

    # Sources.

    def init_sources(self):
        s = self
        if s.beams:
            s._sources_of_beams()
        if s.source_xyz is not None or s.source_wavelengths is not None or s.source_fractions is not None:
            n = max(len(x) for x in (s.source_xyz, s.source_wavelengths, s.source_fractions) if x is not None)
            given = [numpy.zeros(shape) if x is None else numpy.array(x, dtype=float) for x, shape in
                     ((s.source_xyz, (0, 3)), (s.source_fractions, 0), (s.source_wavelengths, 0))]
            for x in given:
                x.resize((n, *x.shape[1:]), refcheck=False)
            xyz, weight, wavelength = given
            xyz[(xyz == 0).all(axis=1)] = -s.beam
            s.sources = (xyz, numpy.where((weight == 0) | numpy.isnan(weight), 1 / max(n, 1), weight),
                         numpy.where((wavelength == 0) | numpy.isnan(wavelength), s.wavelength, in_metres(wavelength)))
        elif not s.beams:
            s._sources_of_sweeps()

    def _sources_of_beams(self):
        """Beams of dxtbx with wavelengths in m, as simtbx's NBbeam makes them. Weights have the
        mean 1."""
        s, n = self, len(self.beams)
        xyz = numpy.array([beam.get_sample_to_source_direction() for beam in s.beams], dtype=float)
        weight = numpy.array([beam.get_flux() or 1 / n for beam in s.beams])
        wavelength = numpy.array([beam.get_wavelength() or s.wavelength for beam in s.beams])
        if (wavelength > 1e-7).any():
            raise ValueError(f"xray_beams have wavelengths in m, as simtbx's NBbeam gives them, and {wavelength.max():g} m is not one of X-rays; "
                             "set wavelengths in Angstrom times 1e-10")
        s.wavelength = wavelength.sum() / n
        s.polarization = sum(beam.get_polarization_fraction() for beam in s.beams) / n
        s.divrange = [sum(beam.get_divergence() for beam in s.beams) / n] * 2
        s.magnetic = unit(numpy.sum([beam.get_polarization_normal() for beam in s.beams], axis=0))
        # simtbx keeps the direction to the source here, against all other uses of this vector.
        s.beam = unit(xyz.sum(axis=0))
        s.polar = unit(numpy.cross(s.beam, s.magnetic))
        if weight.sum() > 0:
            s.flux = weight.sum()
            s.init_beam()
            weight = weight / (weight.sum() / n)
        s.sources = xyz, weight, wavelength

    def _sources_of_sweeps(self):
        s = self
        tics = [numpy.arange(n) * step - width / 2 for n, step, width in zip(s.divsteps, s.divstep, s.divrange)]
        rows = []
        for h in tics[0]:
            for v in tics[1]:
                off = sum((x * x - step * step / 4 * (1 - n % 2)) / width**2 if width else 0.0
                          for x, step, n, width in zip((h, v), s.divstep, s.divsteps, s.divrange))
                if s.round_div and off * 4 > 1.1:
                    continue
                to_source = about(s.magnetic, h) @ about(s.polar, v) @ (-10 * s.beam)
                rows += [(to_source, s.wavelength * (1 + s.dispstep * i - s.dispersion / 2)) for i in range(s.dispsteps)]
        n = len(rows)
        s.sources = numpy.array([row[0] for row in rows]).reshape(n, 3), numpy.full(n, 1 / max(n, 1)), numpy.array([row[1] for row in rows])

    def init_background(self):
        self.sample = [self.sample[0], *(x if x > 0 else self.beamsize for x in self.sample[1:])]

    def molecules(self):
        return numpy.prod(self.sample) * self.density * 6.02214179e23 / self.molecular_weight


STAR = 1.05  # squared, over 0.63: 1.75


def star_width(direct, cells):
    """Widths of Gauss_star's spots as the matrix N of Gaussian ones, and its change with changes of
    its arguments. They are as wide in all directions of space: |N dh|^2 / 0.63 = 1.75 |dq|^2 (Na Nb
    Nc V)^(2/3). direct: columns a, b, c. det(N) is STAR^3 Na Nb Nc."""
    lengths, axes = numpy.linalg.eigh(direct.T @ direct)
    roots = lengths**-0.5
    size = (numpy.prod(cells) * abs(numpy.linalg.det(direct)))**(1 / 3)
    width = STAR * size * (axes * roots) @ axes.T

    def change(by_direct, by_cells):
        """A square root of the inverse metric S: S dS + dS S is the change of that."""
        relative, by = 0.0, numpy.zeros((3, 3))
        if by_cells is not None:
            relative += numpy.sum(by_cells / cells) / 3
        if by_direct is not None:
            relative += numpy.trace(numpy.linalg.inv(direct) @ by_direct) / 3
            metric = axes.T @ (by_direct.T @ direct + direct.T @ by_direct) @ axes
            by = STAR * size * axes @ (-metric * numpy.outer(roots, roots)**2 / (roots[:, None] + roots)) @ axes.T
        by = by + relative * width
        return numpy.where(numpy.abs(by) > 1e-12 * numpy.abs(width).max(), by, 0.0)  # rotations change nothing

    return width, change


def axes_and_angles(matrices):
    """Unit axes (n, 3) and angles (n,) of rotation matrices."""
    r = numpy.asarray(matrices, dtype=float).reshape(-1, 3, 3)
    if not len(r) or not numpy.allclose(r @ r.transpose(0, 2, 1), numpy.eye(3), atol=1e-6) or (numpy.linalg.det(r) < 0).any():
        raise ValueError("mosaic blocks are rotation matrices, (domains, 3, 3)")
    # The eigenvector of 1; the sense of rotation from the part that changes sign.
    axes = numpy.linalg.svd(r - numpy.eye(3))[2][:, 2]
    odd = numpy.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]], axis=1) / 2
    return axes, numpy.arctan2((odd * axes).sum(axis=1), (numpy.trace(r, axis1=1, axis2=2) - 1) / 2)


# Attributes of nanoBragg that stand in a State, or nowhere else.

def _member(name, read, convert, then, sets, doc=None):
    """A property that stands in the state. Members that follow from it are in `sets`, methods of
    the state that derive others anew in `then`."""
    def write(self, value):
        for member, new in {name: convert(value), **sets}.items():
            setattr(self._state, member, copy.copy(new))
        for method in then:
            getattr(self._state, method)()

    return property(lambda self: read(getattr(self._state, name)), write, doc=doc)


def _number(name, scale=1, kind=float, then=(), sets={}, doc=None):  # noqa: B006
    """A number that is `scale` times smaller in the state."""
    if scale == 1:
        return _member(name, kind, kind, then, sets, doc)
    return _member(name, lambda x: kind(x * scale), lambda x: kind(x) / scale, then, sets, doc)


def _tuple(name, scale=1, kind=float, then=(), sets={}):  # noqa: B006
    """The same of several numbers."""
    one = kind if scale == 1 else lambda x: kind(x) / scale
    return _member(name, lambda numbers: tuple(x * scale for x in numbers),
                   lambda numbers: [one(x) for x in numbers], then, sets)


def _plain(name, start, kind=None):
    """A property that nothing follows from."""
    def read(self):
        return self._plain.get(name, start)

    def write(self, value):
        self._plain[name] = value if kind is None else kind(value)

    return property(read, write)
