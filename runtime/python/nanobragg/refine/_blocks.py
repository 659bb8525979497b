"""A crystal of several sets of mosaic blocks: the photons of listed pixels, by averages in closed form."""

import dataclasses

import numpy

from ._crystal import OrientedCell

METRES = 1e10  # from 1/A to 1/m
_SWEEP = 8  # directions of a sweep


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A number of a fit: which parameters of the simulator it changes, and how.

    unit: the step of the parameter that 1 is; None: the number is a logarithm, a factor of the parameter.
    sigma: how far it may be from where it started, where nothing else is said; 0 holds it.
    """

    group: str  # by which it is fixed or restrained
    members: tuple
    unit: float = None
    sigma: float = numpy.inf


# What all blocks of a still have in common.
SHARED = {
    "divergence horizontal": Quantity("divergence", ("hdiv_sigma",), sigma=1.0),
    "divergence vertical": Quantity("divergence", ("vdiv_sigma",), sigma=1.0),
    "size": Quantity("size", ("ncells_a", "ncells_b", "ncells_c"), sigma=1.0),
    "bandwidth": Quantity("bandwidth", ("bandwidth_sigma",), sigma=1.0),
    "distance": Quantity("distance", ("close_distance",), 1e-3),
    "centre fast": Quantity("centre", ("beam_center_fast",), 1e-3),
    "centre slow": Quantity("centre", ("beam_center_slow",), 1e-3),
    "tilt x": Quantity("tilt", ("detector_rotx",), 1e-3, 1.0),
    "tilt y": Quantity("tilt", ("detector_roty",), 1e-3, 1.0),
    "wavelength": Quantity("wavelength", ("wavelength",), sigma=1e-3),
}
# A set of blocks has a rotation (rad, about the laboratory's axes), the logarithms of three mosaic spreads, and that of its
# share of the photons.
OF_SET = ("orientation", "orientation", "orientation", "mosaicity", "mosaicity", "mosaicity", "scale")


class Blocks:
    """Photons of pixels and their derivatives by the numbers x = (sets of OF_SET, SHARED, strains of the cell, B).

    sim: a Simulator with averages in closed form, whose numbers are where x is 0. rows: (pixels, 2), slow and fast.
    system: of the cell. The mean length of the cell's edges stays, since a still cannot tell it from the distance.
    """

    def __init__(self, sim, rows, sets=1, system="triclinic"):
        self.sim, self.sets, self.system = sim, sets, system
        self.cell = OrientedCell(sim["reciprocal_matrix"] / METRES, system)
        # Strains that keep the trace.
        traces = numpy.array([[numpy.trace(strain)] for strain in self.cell.strains])
        self.strains = numpy.linalg.svd(traces)[0][:, 1:].T
        self.names = [f"set {k} {name} {i}" for k in range(sets) for i, name in enumerate(OF_SET)]
        self.names += [*SHARED, *(f"strain {i}" for i in range(len(self.strains))), "B"]
        self.size = len(self.names)
        self.first = len(OF_SET) * sets  # of what is shared
        members = [m for q in SHARED.values() for m in q.members]
        self.look_at(rows, members)
        self.evaluations = 0

    def look_at(self, rows, members=None):
        """At these pixels from now on."""
        self.rows = rows
        at = self.sim.at_pixels(numpy.column_stack([numpy.zeros(len(rows), int), rows]))
        self.function = at.function("reciprocal_matrix", "mosaic_abc", "fluence", *(members or self.function.names[3:]))
        self.start = self.function.unpack(self.function.theta)
        self.squares = self._squares()

    def _squares(self):
        """1/d^2 at each pixel, 1/A^2, where the detector was at the start."""
        sim = self.sim
        slow, fast = (self.rows + 0.5).T * sim["pixel_size"]
        places = (sim["close_distance"] * sim["normal_axis"] + numpy.outer(fast - sim["beam_center_fast"], sim["fast_axis"])
                  + numpy.outer(slow - sim["beam_center_slow"], sim["slow_axis"]))
        q = (places / numpy.linalg.norm(places, axis=1)[:, None] - sim["beam_direction"]) / sim["wavelength"] * 1e-10
        return (q**2).sum(axis=1)

    def groups(self):
        """By which each number is fixed or restrained."""
        return [*OF_SET * self.sets, *(q.group for q in SHARED.values()), *["cell"] * len(self.strains), "B"]

    def with_set(self, x, rotation, share):
        """Another crystal with one more set of blocks, and its numbers: its blocks are
        spread 0.6 times as much as those of the first set, and have a share of the photons."""
        other = Blocks.__new__(Blocks)
        other.__dict__ |= self.__dict__
        other.sets = self.sets + 1
        other.first = self.first + len(OF_SET)
        other.names = [*self.names[:self.first], *(f"set {self.sets} {n} {i}" for i, n in enumerate(OF_SET)),
                       *self.names[self.first:]]
        other.size = len(other.names)
        total = numpy.log(numpy.exp(x[6:self.first:len(OF_SET)]).sum())
        return other, numpy.concatenate([x[:self.first], rotation, x[3:6] - 0.5, [total + numpy.log(share)], x[self.first:]])

    def _crystal(self, x, k):
        return numpy.concatenate([x[len(OF_SET) * k:][:3], 1e-3 * self.strains.T @ x[self.first + len(SHARED):-1]])

    def values(self, x, k):
        """The simulator's numbers for a set of blocks."""
        own = x[len(OF_SET) * k:][:len(OF_SET)]
        values = {"reciprocal_matrix": self.cell.matrix(self._crystal(x, k)) * METRES,
                  "mosaic_abc": self.start["mosaic_abc"] * numpy.exp(own[3:6]),
                  "fluence": self.start["fluence"] * numpy.exp(own[6])}
        for quantity, number in zip(SHARED.values(), x[self.first:]):
            for name in quantity.members:
                values[name] = (self.start[name] * numpy.exp(number) if quantity.unit is None
                                else self.start[name] + quantity.unit * number)
        return values

    def _falloff(self, x):
        return numpy.exp(-0.5 * x[-1] * self.squares)

    def of_set(self, x, k):
        """Photons of one set of blocks."""
        self.evaluations += 1
        return self.function.image(self.function.pack(**self.values(x, k))) * self._falloff(x)

    def image(self, x):
        return sum(self.of_set(x, k) for k in range(self.sets))

    def _directions(self, x, k, values):
        """Number of x: how the simulator's numbers change with it, for this set."""
        by = self.cell.derivatives(self._crystal(x, k)) * METRES
        own = len(OF_SET) * k
        for i in range(3):
            yield own + i, {"reciprocal_matrix": by[i]}
            yield own + 3 + i, {"mosaic_abc": values["mosaic_abc"] * numpy.eye(3)[i]}
        for i, quantity in enumerate(SHARED.values()):
            yield self.first + i, {name: values[name] if quantity.unit is None else quantity.unit for name in quantity.members}
        for i, strain in enumerate(self.strains):
            yield self.first + len(SHARED) + i, {"reciprocal_matrix": 1e-3 * numpy.tensordot(strain, by[3:], 1)}

    def jacobian(self, x, free):
        """(size, pixels); 0 for numbers that are not free."""
        rows = numpy.zeros((self.size, len(self.rows)))
        falloff = self._falloff(x)
        for k in range(self.sets):
            values = self.values(x, k)
            theta = self.function.pack(**values)
            zero = {name: numpy.zeros_like(value) for name, value in values.items()}
            chosen = [(i, self.function.pack(**(zero | d))) for i, d in self._directions(x, k, values) if free[i]]
            for begin in range(0, len(chosen), _SWEEP):
                part = chosen[begin:begin + _SWEEP]
                sweep = numpy.zeros((_SWEEP, len(theta)))  # one kernel for all
                sweep[:len(part)] = [d for _, d in part]
                for (i, _), row in zip(part, self.function.jvps(theta, sweep)):
                    rows[i] += row * falloff
            rows[len(OF_SET) * k + 6] = self.function.image(theta) * falloff
        if free[-1]:
            rows[-1] = -0.5 * self.squares * rows[6:self.first:len(OF_SET)].sum(axis=0)
        return rows

    def orientation(self, x):
        """The matrix (columns a*, b*, c*, 1/A) of all blocks, by their shares."""
        shares = numpy.exp(x[6:self.first:len(OF_SET)])
        turn = shares @ numpy.array([x[len(OF_SET) * k:][:3] for k in range(self.sets)]) / shares.sum()
        return self.cell.matrix(numpy.concatenate([turn, self._crystal(x, 0)[3:]]))

    def spread(self, x):
        """Root of the mean square of rotations about an axis, degrees, and the photons of all blocks, times the start's."""
        own = x[:self.first].reshape(self.sets, -1)
        shares = numpy.exp(own[:, 6])
        middle = shares @ own[:, :3] / shares.sum()
        squares = ((own[:, :3] - middle)**2).mean(axis=1) + ((self.start["mosaic_abc"] * numpy.exp(own[:, 3:6]))**2).mean(axis=1)
        return float(numpy.degrees(numpy.sqrt(shares @ squares / shares.sum()))), float(shares.sum())
