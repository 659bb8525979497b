"""A crystal of several sets of mosaic blocks: the photons of listed pixels, by averages in closed
form."""

import dataclasses

import numpy

from ._crystal import OrientedCell
from ._positions import Panels
from ._response import Response, counted

METRES = 1e10  # from 1/A to 1/m
MICROSECONDS = 1e-6
DEGREES = 180 / numpy.pi


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A number of a fit: which parameters of the simulator it changes, and how.

    unit: the step of the parameter that 1 is; None: the number is a logarithm, a factor of the
    parameter. sigma: how far it may be from where it started, where nothing else is said; 0 holds
    it.
    """

    group: str  # by which it is fixed or restrained
    members: tuple
    unit: float = None
    sigma: float = numpy.inf


_EDGES = ("ncells_a", "ncells_b", "ncells_c")
_BETWEEN = {"ncells_d": "ab", "ncells_e": "bc", "ncells_f": "ac"}  # widths between axes that are not at right angles
# Numbers that all blocks of a still have in common.
SHARED = {
    "divergence horizontal": Quantity("divergence", ("hdiv_sigma",), sigma=1.0),
    "divergence vertical": Quantity("divergence", ("vdiv_sigma",), sigma=1.0),
    **{f"size {axis}": Quantity("size", (edge,), sigma=1.0) for axis, edge in zip("abc", _EDGES)},
    "bandwidth": Quantity("bandwidth", ("bandwidth_sigma",), sigma=1.0),
    "distance": Quantity("distance", ("close_distance",), 1e-3),
    "centre fast": Quantity("centre", ("beam_center_fast",), 1e-3),
    "centre slow": Quantity("centre", ("beam_center_slow",), 1e-3),
    "tilt x": Quantity("tilt", ("detector_rotx",), 1e-3, 1.0),
    "tilt y": Quantity("tilt", ("detector_roty",), 1e-3, 1.0),
    "wavelength": Quantity("wavelength", ("wavelength",), sigma=1e-3),
    "dead time": Quantity("dead_time", (), MICROSECONDS),
    "gain": Quantity("gain", ()),
}
_POINT_SPREAD = {"point spread": Quantity("psf", ("psf_fwhm",), sigma=1.0)}
# A set of blocks has a rotation (rad, about the laboratory's axes), the logarithms of three mosaic
# spreads, that of its share of the photons, and that of the edge of its blocks to the others'.
# Small blocks are a halo about each node, as of diffuse scattering.
OF_SET = ("orientation", "orientation", "orientation", "mosaicity", "mosaicity", "mosaicity", "scale", "halo")


# Units in which people read parameters of the simulator, and how many of these 1 is.
_UNITS = {"hdiv_sigma": ("mrad", 1e3), "vdiv_sigma": ("mrad", 1e3), **{f"ncells_{axis}": ("cells", 1.0) for axis in "abcdef"},
          "bandwidth_sigma": ("%", 100.0), "close_distance": ("mm", 1e3), "beam_center_fast": ("mm", 1e3), "beam_center_slow": ("mm", 1e3),
          "detector_rotx": ("degrees", DEGREES), "detector_roty": ("degrees", DEGREES), "wavelength": ("Å", METRES), "psf_fwhm": ("µm", 1e6)}
ONE_PANEL = numpy.zeros((1, 2), "i4")
_PLACE = ("beam_center_fast", "beam_center_slow", "close_distance")
_AXES = ("fast_axis", "slow_axis", "normal_axis")


@dataclasses.dataclass(frozen=True)
class Part:
    """Pixels of one exposure: their numbers, the image as a function, how its parameters differ
    from the first's."""

    where: numpy.ndarray
    function: object
    apart: dict  # by how much
    start: dict  # values of the first, where x is 0
    turn: numpy.ndarray  # from how far the detector is moved along the first's axes to how far along its own

    def _turned(self, values, of):
        return dict(zip(_PLACE, self.turn @ [values.get(name, 0.0) - of.get(name, 0.0) for name in _PLACE]))

    def own(self, values):
        """The numbers of this exposure, of those that values have in common."""
        moved = self._turned(values, self.start)
        own = {name: self.start[name] + moved[name] if name in moved else value for name, value in values.items()}
        return {name: value + self.apart.get(name, 0) for name, value in own.items()}

    def theta(self, values):
        """The vector of these."""
        return self.function.pack(**self.own(values))

    def sweep(self, changes):
        """The vectors of changes of numbers."""
        return numpy.array([self.function.pack(**self.own_change(change)) for change in changes])

    def own_change(self, change):
        return change | {name: v for name, v in self._turned(change, {}).items() if name in change}


def _along(sim):
    """How a detector moves with _PLACE."""
    fast, slow, normal = (sim[name] for name in _AXES)
    return numpy.column_stack([-fast, -slow, normal])


@dataclasses.dataclass(frozen=True)
class Lattice:
    """A crystal as its blocks have it. matrix: columns a*, b*, c*, 1/A, of all blocks by their
    shares."""

    matrix: numpy.ndarray
    mosaicity: float  # degrees, root of the mean square of rotations about an axis
    scale: float  # times the fluence of nb-sim
    sets: int
    B: float


@dataclasses.dataclass(frozen=True)
class Crystals:
    """The crystals of an image, beside the matrix of the first. system: of their cells, one of
    CELL_SYSTEMS. others: matrices (1/A) of further lattices, whose mean lengths may change. volume:
    whether that of the first may; a still cannot tell it from the distance."""

    system: str = "triclinic"
    others: tuple = ()
    volume: bool = False


@dataclasses.dataclass(frozen=True)
class Measurement:
    """How pixels were measured. origins: (panels, 2), the row (slow, fast) of the boxes at which
    each panel begins. exposures: for each number of ``boxes.exposure`` the parameters (name: value)
    that it has in place of the simulator's. faces: those by which each panel stands.
    seconds: of an exposure; 0: no counts are lost. response: where the fit of the detector's starts.
    """

    origins: numpy.ndarray = dataclasses.field(default_factory=lambda: ONE_PANEL)
    exposures: tuple = ({},)
    faces: tuple = ({},)
    seconds: float = 0.0
    response: Response = Response()


class Blocks:
    """Photons of pixels and their derivatives with respect to the numbers x = (sets of OF_SET, what
    is shared, and of each lattice strains of the cell and B).

    sim: a Simulator with averages in closed form, whose numbers are where x is 0. boxes: the
    pixels. of: the lattice of each set of blocks; None: one set each. more: Quantities beside
    SHARED.

    ratio: of each pixel the intensity of its reflection to the model's, by which counts are lost.
    """

    def __init__(self, sim, boxes, crystals=Crystals(), measurement=Measurement(), of=None, more=None):
        self.sim, self.measurement = sim, measurement
        self.seconds = measurement.seconds
        self.cells = [OrientedCell(matrix, crystals.system) for matrix in (sim["reciprocal_matrix"] / METRES, *crystals.others)]
        self.of = list(range(len(self.cells)) if of is None else of)
        self.sets = len(self.of)
        traces = numpy.array([[numpy.trace(strain)] for strain in self.cells[0].strains])
        basis = numpy.linalg.svd(traces)[0].T
        self.strains = [basis[0 if crystals.volume or lattice else 1:] for lattice in range(len(self.cells))]
        self.between = {name: tuple(f"ncells_{axis}" for axis in axes) for name, axes in _BETWEEN.items() if name in sim and sim[name]}
        self.edges = (*_EDGES, *self.between)
        self.shared = SHARED | {f"size {_BETWEEN[name]}": Quantity("size", (name,), 1.0, 1.0) for name in self.between} | (
            _POINT_SPREAD if measurement.response.psf else {}) | (more or {})
        self.names = [name for k in range(self.sets) for name in self._names(k, self.of[k])]
        self.names += [*self.shared, *(self._of(lattice) + name for lattice, strains in enumerate(self.strains)
                                       for name in (*(f"strain {i}" for i in range(len(strains))), "B"))]
        self.size = len(self.names)
        self.first = len(OF_SET) * self.sets  # the first of the shared numbers
        self.begins = [0.0] * self.sets  # where logarithms of edges start
        self.evaluations = 0
        members = (m for quantity in self.shared.values() for m in quantity.members)
        self.start = {name: sim[name] for name in dict.fromkeys(("reciprocal_matrix", "mosaic_abc", "fluence", *members))}
        self.look_at(boxes)

    def _of(self, lattice):
        return f"lattice {lattice} " if len(self.cells) > 1 else ""

    def _names(self, k, lattice):
        return [f"{self._of(lattice)}set {k} {name} {i}" for i, name in enumerate(OF_SET)]

    def own(self, lattice):
        """Where the numbers of a lattice are: strains of its cell, then B."""
        begin = self.first + len(self.shared) + sum(len(strains) + 1 for strains in self.strains[:lattice])
        return slice(begin, begin + len(self.strains[lattice]) + 1)

    def sets_of(self, lattice):
        return [k for k, of in enumerate(self.of) if of == lattice]

    def look_at(self, boxes):
        """At these pixels from now on."""
        self.count, self.parts, self.drawn = len(boxes.rows), [], {}
        self.background, self.ratio = boxes.background, 1.0
        origins = self.measurement.origins
        rows = numpy.column_stack([boxes.panel, boxes.rows - origins[boxes.panel if len(origins) > 1 else 0]])
        for number in numpy.unique(boxes.exposure):
            where = numpy.flatnonzero(boxes.exposure == number)
            self.parts.append(self._part(self.sim.at_pixels(rows[where]), self.measurement.exposures[number], where))
        self.squares = boxes.squares([cell.matrix(numpy.zeros(cell.size)) for cell in self.cells])  # by the cells at the start

    def _part(self, sim, exposure, where):
        sim.set(**exposure)
        apart = {name: sim[name] - self.start[name] for name in exposure if name in self.start}
        function = sim.function(*self.start)
        return Part(where, function, apart, self.start, _along(sim).T @ _along(self.sim))

    def _over_parts(self, values_of, shape=()):
        """values_of(part): (*shape, pixels of the part)."""
        whole = numpy.empty((*shape, self.count))
        for part in self.parts:
            whole[..., part.where] = values_of(part)
        return whole

    def groups(self):
        """By which each number is fixed or restrained."""
        return [*OF_SET * self.sets, *(q.group for q in self.shared.values()),
                *(name for strains in self.strains for name in (*["cell"] * len(strains), "B"))]

    def described(self, x, sigma):
        """Name, value, its sigma and unit of each number, in its order. sigma: of x, 0 where a
        number is held."""
        for k, lattice in enumerate(self.of):
            own = slice(len(OF_SET) * k, len(OF_SET) * (k + 1))
            name, (*_, light, edge) = f"{self._of(lattice)}set {k}: ", sigma[own]
            for i, axis in enumerate("xyz"):
                yield f"{name}rotation about {axis}", DEGREES * x[own][i], DEGREES * sigma[own][i], "degrees"
            for i, spread in enumerate(DEGREES * self.values(x, k)["mosaic_abc"]):
                yield f"{name}mosaicity {'abc'[i]}", spread, spread * sigma[own][3 + i], "degrees"
            yield f"{name}scale", numpy.exp(x[own][6]), numpy.exp(x[own][6]) * light, "times the fluence of nb-sim"
            yield f"{name}edge of its blocks, times the size", numpy.exp(x[own][7]), numpy.exp(x[own][7]) * edge, ""
        common = slice(self.first, self.first + len(self.shared))
        values = self.values(x, 0)
        values |= {name: values[name] * numpy.exp(-x[7]) for name in self.edges}  # without the edge of the set
        for (name, quantity), number, unsure in zip(self.shared.items(), x[common], sigma[common]):
            value, slope, unit, factor = self._shown(quantity, number, values)
            yield name, factor * value, factor * slope * unsure, unit
        for lattice in range(len(self.cells)):
            *off, B = x[self.own(lattice)]
            *unsure, last = sigma[self.own(lattice)]
            for i, (value, wide) in enumerate(zip(off, unsure)):
                yield f"{self._of(lattice)}strain {i}", 0.1 * value, 0.1 * wide, "%"
            yield f"{self._of(lattice)}B", B, last, "Å²"

    def _shown(self, quantity, number, values):
        """The value of a shared number, its change with the number, the unit in which people read it,
        and how many of these 1 is."""
        if quantity.members:
            name = quantity.members[0]
            return values[name], self._change(quantity, values)[name], *_UNITS.get(name, ("", 1.0))
        if quantity.unit is None:
            return numpy.exp(number), numpy.exp(number), "", 1.0
        return quantity.unit * number + self.measurement.response.dead_time, quantity.unit, "ns", 1e9

    def with_set(self, x, rotation, width, share, edge=1.0, lattice=0):
        """A model with one more set of blocks of a lattice, and its numbers: its blocks are spread
        ``width`` times as much as those of the lattice's first set, have a share of its photons,
        and edges ``edge`` times as long."""
        other = type(self).__new__(type(self))
        other.__dict__ |= self.__dict__
        other.sets, other.begins, other.of = self.sets + 1, [*self.begins, numpy.log(edge)], [*self.of, lattice]
        other.first = self.first + len(OF_SET)
        other.names = [*self.names[:self.first], *self._names(self.sets, lattice), *self.names[self.first:]]
        other.size = len(other.names)
        sets = x[:self.first].reshape(self.sets, -1)[self.sets_of(lattice)]
        total = numpy.log(numpy.exp(sets[:, 6]).sum())
        return other, numpy.concatenate([x[:self.first], rotation, sets[0, 3:6] + numpy.log(width),
                                         [total + numpy.log(share), numpy.log(edge)], x[self.first:]])

    def _crystal(self, x, k):
        return numpy.concatenate([x[len(OF_SET) * k:][:3], 1e-3 * self.strains[self.of[k]].T @ x[self.own(self.of[k])][:-1]])

    def values(self, x, k):
        """The simulator's numbers for a set of blocks."""
        own = x[len(OF_SET) * k:][:len(OF_SET)]
        values = {"reciprocal_matrix": self.cells[self.of[k]].matrix(self._crystal(x, k)) * METRES,
                  "mosaic_abc": self.start["mosaic_abc"] * numpy.exp(own[3:6]),
                  # The photons of a node are as the volume of a block.
                  "fluence": self.start["fluence"] * numpy.exp(own[6] - 3 * own[7])}
        for quantity, number in zip(self.shared.values(), x[self.first:]):
            for name in quantity.members:
                before = values.get(name, self.start[name])
                values[name] = before * numpy.exp(number) if quantity.unit is None else before + quantity.unit * number
        # Widths between axes stay less than those along the axes: a part of their mean, the
        # hyperbolic tangent of a number.
        for name, axes in self.between.items():
            begin, mean = self.start[name] / self._mean_edge(self.start, axes), self._mean_edge(values, axes)
            values[name] = mean * numpy.tanh(numpy.arctanh(begin) + values[name] - self.start[name])
        return values | {name: values[name] * numpy.exp(own[7]) for name in self.edges}

    @staticmethod
    def _mean_edge(values, axes):
        return numpy.sqrt(values[axes[0]] * values[axes[1]])

    def _falloff(self, x, lattice):
        return numpy.exp(-0.5 * x[self.own(lattice)][-1] * self.squares)

    def of_set(self, x, k):
        """Photons of one set of blocks. Its last image is kept for numbers that differ in scale and
        B alone."""
        values = self.values(x, k)
        share, values["fluence"] = values["fluence"] / self.start["fluence"], self.start["fluence"]
        key = numpy.concatenate([numpy.ravel(value) for value in values.values()]).tobytes()
        if self.drawn.get(k, (None,))[0] != key:
            self.evaluations += 1
            self.drawn[k] = key, self._over_parts(lambda part: part.function.image(part.theta(values)))
        return share * self._falloff(x, self.of[k]) * self.drawn[k][1]

    def of_lattice(self, x, lattice):
        """Photons of one lattice."""
        return sum(self.of_set(x, k) for k in self.sets_of(lattice))

    def tables(self, x, least):
        """For each set of blocks its lattice, its values, and the table of its reflections from a
        partiality on."""
        sim = self.sim.copy()
        for k in range(self.sets):
            values = self.values(x, k)
            sim.set(**values)
            yield self.of[k], values, sim.reflections(least)

    def first_shared(self, name):
        """Which of the shared numbers it is."""
        return list(self.shared).index(name)

    def number(self, x, name):
        """The one of x that is shared."""
        return x[self.first + self.first_shared(name)]

    def dead_time(self, x):
        """Seconds."""
        return self.measurement.response.dead_time + MICROSECONDS * self.number(x, "dead time")

    def _counted(self, x, light):
        return counted(light, self.background, self.ratio, self.dead_time(x) / self.seconds if self.seconds else 0.0,
                       numpy.exp(self.number(x, "gain")))

    def loses(self, x):
        """Whether counts are lost."""
        return bool(self.seconds and self.dead_time(x))

    def _answers(self, x):
        """Whether counts are others than photons."""
        return self.loses(x) or self.number(x, "gain") != 0

    def renewed(self, x, image, ratio):
        """The image where counts are lost by these intensities; image: with those before."""
        self.ratio = ratio if self.seconds else 1.0
        return self.image(x) if self.loses(x) else image

    def counts(self, x, light):
        """The counts of the detector for the light of the pixels."""
        return self._counted(x, light)[0] if self._answers(x) else light

    def image(self, x):
        return self.counts(x, sum(self.of_set(x, k) for k in range(self.sets)))

    def _change(self, quantity, values):
        """How the simulator's numbers change with a shared one."""
        change = {name: values[name] if quantity.unit is None else quantity.unit for name in quantity.members}
        for name, axes in self.between.items():
            if name in change:
                mean = self._mean_edge(values, axes)
                change[name] = mean - values[name]**2 / mean
            elif not change.keys().isdisjoint(axes):
                change[name] = values[name] / 2
        return change

    def _directions(self, x, k, values):
        """Number of x: how the simulator's numbers change with it, for this set."""
        by = self.cells[self.of[k]].derivatives(self._crystal(x, k)) * METRES
        own = len(OF_SET) * k
        for i in range(3):
            yield own + i, {"reciprocal_matrix": by[i]}
            yield own + 3 + i, {"mosaic_abc": values["mosaic_abc"] * numpy.eye(3)[i]}
        yield own + 7, {"fluence": -3 * values["fluence"], **{name: values[name] for name in self.edges}}
        for i, quantity in enumerate(self.shared.values()):
            if quantity.members:
                yield self.first + i, self._change(quantity, values)
        for i, strain in enumerate(self.strains[self.of[k]]):
            yield self.own(self.of[k]).start + i, {"reciprocal_matrix": 1e-3 * numpy.tensordot(strain, by[3:], 1)}

    def jacobian(self, x, free):
        """(size, pixels); 0 for numbers that are not free."""
        rows = numpy.zeros((self.size, self.count))
        for k in range(self.sets):
            values, falloff = self.values(x, k), self._falloff(x, self.of[k])
            zero = {name: numpy.zeros_like(value) for name, value in values.items()}
            changes = list(self._directions(x, k, values))
            if any(free[i] for i, _ in changes):  # along all, so that whatever is free takes the same kernel
                along = {part.turn.tobytes(): part for part in self.parts}  # modules of one plane move alike
                along = {turn: part.sweep(zero | change for _, change in changes) for turn, part in along.items()}
                slopes = self._over_parts(lambda part: part.function.jvp(part.theta(values), along[part.turn.tobytes()]), (len(changes),))
                for (i, _), slope in zip(changes, slopes):
                    if free[i]:
                        rows[i] += slope * falloff
            rows[len(OF_SET) * k + 6] = self.of_set(x, k)
        for lattice in range(len(self.cells)):
            B = self.own(lattice).stop - 1
            if free[B]:
                rows[B] = -0.5 * self.squares * rows[[len(OF_SET) * k + 6 for k in self.sets_of(lattice)]].sum(axis=0)
        dead_time, gain = (self.first + self.first_shared(name) for name in ("dead time", "gain"))
        if self._answers(x) or free[dead_time] or free[gain]:
            _, by_light, by_lost, by_gain = self._counted(x, rows[6:self.first:len(OF_SET)].sum(axis=0))
            rows *= by_light
            rows[gain], rows[dead_time] = by_gain, by_lost * MICROSECONDS / (self.seconds or numpy.inf)
        return rows

    def panels(self, plain, x):
        """Corners, and steps of a pixel along fast and slow (m), where x has the panels. plain: a
        simulator that knows where pixels are."""
        values = {m: v for q in self.shared.values() for m in q.members for v in [self.values(x, 0)[m]]}
        corners, fast, slow = [], [], []
        for face in self.measurement.faces:
            at, own = plain.copy(), self.sim.copy()
            own.set(**face)
            part = Part(None, None, {}, self.start, _along(own).T @ _along(self.sim))
            moved = part._turned(values, self.start)
            at.set(**face, **{name: value for name, value in values.items() if name in at and name not in face})
            at.set(**{name: own[name] + moved[name] for name in _PLACE})
            places = Panels(at)
            corners.append(places.corner), fast.append(places.fast), slow.append(places.slow)
        return tuple(map(numpy.concatenate, (corners, fast, slow)))

    def lattices(self, x):
        """The Lattice of each crystal."""
        found = []
        for lattice in range(len(self.cells)):
            sets = self.sets_of(lattice)
            own = x[:self.first].reshape(self.sets, -1)[sets]
            shares = numpy.exp(own[:, 6])
            middle = shares @ own[:, :3] / shares.sum()
            matrix = self.cells[lattice].matrix(numpy.concatenate([middle, self._crystal(x, sets[0])[3:]]))
            squares = ((own[:, :3] - middle)**2).mean(axis=1) + ((self.start["mosaic_abc"] * numpy.exp(own[:, 3:6]))**2).mean(axis=1)
            found.append(Lattice(matrix, float(numpy.degrees(numpy.sqrt(shares @ squares / shares.sum()))), float(shares.sum()),
                                 len(sets), float(x[self.own(lattice)][-1])))
        return found
