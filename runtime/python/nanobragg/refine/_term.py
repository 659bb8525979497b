"""The term of one shot in a refinement of numbers that shots share."""

import contextlib
import ctypes
import time

import numpy

from .._errors import Rejected
from ._crystal import cell_of
from ._likelihood import variance_of
from ._positions import Panels, predict
from ._shoeboxes import Planes
from ._shot import METRES, Result, picture, wavelength_of


def give_memory_back():
    """Gives freed memory to the system. glibc keeps it between what lives longer: 10 MB for each
    shot that was read."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


class Shared:
    """The numbers that all shots share: p of Common, and those of Amplitudes, or None."""

    def __init__(self, common, amplitudes):
        self.common, self.amplitudes = common, amplitudes
        self.size = common.size + (amplitudes.size if amplitudes else 0)

    def split(self, x):
        return x[:self.common.size], x[self.common.size:]


class Point:
    """Shared numbers at which shots are asked: p, their values, log F / start, and the grid of
    structure factors."""

    def __init__(self, shared, x):
        self.p, factors = shared.split(x)
        self.values = shared.common.values(self.p)
        self.logarithms = shared.amplitudes.logarithms(factors) if shared.amplitudes else factors
        self.grid = shared.amplitudes.values(self.logarithms) if shared.amplitudes else None


class Metric:
    """The curvature of a shot's sum of squares, J' J, for its own numbers and what it shares; see
    Term.metric."""

    def __init__(self, own, mixed, common, amplitudes):
        self.root = numpy.linalg.cholesky(own + 1e-9 * numpy.diag(numpy.diag(own)) + 1e-30 * numpy.eye(len(own)))
        self.own, self.follow = own, numpy.linalg.solve(own + 1e-12 * numpy.diag(numpy.diag(own)), mixed)
        # The rest of the curvature for the common numbers when the shot's own follow them.
        self.common = common - mixed.T @ self.follow
        self.amplitudes = amplitudes


class Term:
    """The pixels of a shot's shoeboxes: half the sum of (data - m)^2 / V for m = scale x Bragg +
    plane in each box.

    V is that of the photons where ``weigh`` was called last; planes are projected out. The shot's
    own numbers: orientation (rad), strains, log scale, restrained about 0 with ``sigma``.
    """

    DIRECTIONS = 8  # at once: one kernel serves all shots and parameters

    def __init__(self, index, whole, boxes, reflections, own, shared, readout):
        """reflections: Miller indices and panels of all shoeboxes of the table. own: the OrientedCell,
        and the sigmas of the shot's own numbers. readout: photons."""
        self.index, self.boxes, self.shared, self.readout = index, boxes, shared, readout
        self.hkl, self.panel = (column[boxes.kept] for column in reflections)
        self.cell, self.sigma = own
        self.size = self.cell.size + 1
        self.panels = set(numpy.unique(boxes.rows[:, 0]))
        self._places, self._beam, self._wavelength = Panels(whole), whole["beam_direction"], wavelength_of(whole) * 1e10
        if shared.amplitudes:  # amplitudes of all shots are given when it is asked
            whole.structure_factors = numpy.ones((1, 1, 1)), (0, 0, 0)
        self._whole = whole
        self._fluence = float(whole["fluence"])
        self.names = ["reciprocal_matrix", "fluence", *shared.common.members]
        self._kept = None
        self.seconds = 0.0  # in images and gradients

    def _function(self, point, names):
        """A function of the names, with the point's grid; it lasts as long as it is used, so that
        shots are small in memory.
        """
        sim = self._whole.at_pixels(self.boxes.rows)
        if point.grid is not None:
            sim.structure_factors = point.grid, self.shared.amplitudes.lowest
        return sim.function(*names)

    def keep_function(self, point):
        """Keeps that of images and gradients."""
        self._kept = self._function(point, self._all_names())

    def function_bytes(self, point):
        """Bytes that a kept function takes: a grid, its gradient and what this is added up in, and
        maps of pixels."""
        return 3 * (0 if point.grid is None else point.grid.nbytes) + 100 * len(self.boxes.data)

    def _all_names(self):
        return [*self.names, "F"] if self.shared.amplitudes else self.names

    def _values(self, x, point):
        return {"reciprocal_matrix": self.cell.matrix(x[:self.cell.size]) * METRES,
                "fluence": self._fluence * numpy.exp(x[self.cell.size]), **point.values}

    def _theta(self, x, point, with_grid):
        values = self._values(x, point)
        parts = [numpy.ravel(values[name]) for name in self.names]
        return numpy.concatenate([*parts, point.grid.reshape(-1)] if with_grid else parts), values

    def image(self, x, point):
        """Photons of the crystal."""
        function = self._function(point, self.names)
        return function.image(self._theta(x, point, False)[0])

    def weigh(self, x, point, cautious=False):
        """V from these photons and the planes that leave least of the data, weights apart.
        cautious: from the data where they are more: at a poor start spots that the model has not
        yet would weigh far too much."""
        crystal = self.image(x, point)
        one = numpy.ones(len(self.boxes.data))
        photons = crystal + Planes(self.boxes, one).of(self.boxes.data - crystal)
        if cautious:
            photons = numpy.maximum(photons, self.boxes.data)
        self.planes = Planes(self.boxes, 1 / numpy.sqrt(variance_of(photons, self.readout)))

    def start_scale(self, x, point):
        """x with a scale; Rejected where the model has no light in the shoeboxes.

        The median over shoeboxes of what fits each: where structure factors are wrong by chance, a
        least-squares scale of all pixels is too small, since it believes those that are too bright.
        """
        crystal = self.image(x, point)
        planes = Planes(self.boxes, 1 / numpy.sqrt(variance_of(self.boxes.data, self.readout)))
        image, data = (planes.without(v * planes.weights) for v in (crystal, self.boxes.data))
        starts = [span.start for span in self.boxes.spans]
        both, square = (numpy.add.reduceat(image * v, starts) for v in (data, image))
        if not both.sum() > 0:
            raise Rejected("no reflection of the model is near the light in the shoeboxes; refine the shots first "
                           "(nb-refine stills)")
        strong = both > 5 * numpy.sqrt(numpy.maximum(square, 1e-300))
        best = numpy.median(both[strong] / square[strong]) if strong.sum() >= 5 else both.sum() / square.sum()
        x = x.copy()
        x[self.cell.size] += numpy.log(best)
        return x

    def value_and_gradient(self, x, point):
        """The value, and its derivatives with respect to the shot's own numbers, p, and log
        structure factors."""
        function = self._kept or self._function(point, self._all_names())
        theta, values = self._theta(x, point, point.grid is not None)
        begin = time.perf_counter()
        crystal = function.image(theta)
        self.seconds += time.perf_counter() - begin
        left = self.planes.without((crystal - self.boxes.data) * self.planes.weights)
        value = 0.5 * float(left @ left) + 0.5 * float(numpy.sum((x / self.sigma)**2))
        begin = time.perf_counter()
        by = function.vjp(theta, left * self.planes.weights)
        self.seconds += time.perf_counter() - begin
        own, common, factors = self._chain(by, function, x, point, values)
        return value, own + x / self.sigma**2, common, factors

    def _chain(self, by, function, x, point, values):
        by = function.unpack(by)
        crystal = numpy.einsum("kij,ij->k", self.cell.derivatives(x[:self.cell.size]), by["reciprocal_matrix"]) * METRES
        own = numpy.append(crystal, by["fluence"] * values["fluence"])
        factors = numpy.empty(0)
        if point.grid is not None:
            factors = self.shared.amplitudes.gradient(point.grid, by["F"].reshape(-1))
        return own, self.shared.common.gradient(point.p, by), factors

    def jacobian(self, x, point):
        """Weighted derivatives of the pixels with respect to the shot's own numbers and p, planes
        taken out: (size + p, pixels)."""
        function = self._function(point, self.names)
        theta, values = self._theta(x, point, False)
        directions = [{"reciprocal_matrix": d * METRES} for d in self.cell.derivatives(x[:self.cell.size])]
        directions.append({"fluence": values["fluence"]})
        directions += self.shared.common.directions(point.p, self.panels)
        moving = [i for i, d in enumerate(directions) if d is not None]
        rows = numpy.zeros((max(len(moving), 1), function.length))
        at = dict(zip(self.names, numpy.cumsum([0, *(numpy.size(values[n]) for n in self.names)])))
        for row, i in zip(rows, moving):
            for name, change in directions[i].items():
                row[at[name]:at[name] + numpy.size(change)] = numpy.ravel(change)
        found = numpy.zeros((len(directions), len(self.boxes.data)))
        step = min(self.DIRECTIONS, len(directions))
        for begin in range(0, len(moving), step):
            part = rows[begin:begin + step]
            padded = numpy.concatenate([part, numpy.zeros((step - len(part), rows.shape[1]))])
            found[moving[begin:begin + step]] = function.jvp(theta, padded)[:len(part)]
        return self.planes.without(found * self.planes.weights)

    def metric(self, x, point, projected=False):
        """The curvature at this point.

        For structure factors: row sums of J' J. The image is homogeneous of degree 2 in them, so
        these are one gradient, with twice the weighted image as its cotangent. Where no pixel has
        light of two reflections the row sum is the diagonal; else it is above it, so that steps it
        scales are not too long. projected: what planes may explain does not count, as uncertainties
        want it.
        """
        jacobian = self.jacobian(x, point)
        own, rest = jacobian[:self.size], jacobian[self.size:]
        amplitudes = numpy.empty(0)
        if point.grid is not None:
            function = self._kept or self._function(point, self._all_names())
            theta, values = self._theta(x, point, True)
            image = 2 * function.image(theta) * self.planes.weights
            if projected:
                image = self.planes.without(image)
            amplitudes = numpy.maximum(self._chain(function.vjp(theta, image * self.planes.weights), function, x, point,
                                                   values)[2], 0)
        return Metric(own @ own.T + numpy.diag(1 / self.sigma**2), own @ rest.T, rest @ rest.T, amplitudes)

    def own_curvature(self, x, point, metric, amplitudes):
        """The curvature of the shot's own numbers where structure factors follow them. amplitudes:
        the curvature of these in all shots.
        """
        if point.grid is None:
            return metric.own
        function = self._kept or self._function(point, self._all_names())
        theta, values = self._theta(x, point, True)
        rows = self.jacobian(x, point)[:self.size] * self.planes.weights
        mixed = numpy.array([self._chain(function.vjp(theta, c), function, x, point, values)[2] for c in rows])
        unit = numpy.sqrt(numpy.diag(metric.own))
        left = metric.own - (mixed / amplitudes) @ mixed.T
        # In exact numbers nothing is below 0.
        known, vectors = numpy.linalg.eigh(left / unit / unit[:, None])
        return unit * unit[:, None] * ((vectors * numpy.maximum(known, 1e-9)) @ vectors.T)

    def result(self, x, point, metric, common_covariance, places=None, pictures=4):
        """The shot as the tables show it. metric: projected, at x, its own curvature as
        ``own_curvature`` has it. places: corners and axes of panels, where they were refined.
        """
        result = Result(self.index)
        crystal = self.image(x, point)
        background = self.planes.of(self.boxes.data - crystal)
        data, photons = self.boxes.data, crystal + background
        variance = variance_of(photons, self.readout)
        squares = (data - photons)**2 / variance
        covariance = numpy.linalg.pinv(metric.own) + metric.follow @ common_covariance @ metric.follow.T
        size = self.cell.size
        result.matrix = self.cell.matrix(x[:size])
        result.cell = cell_of(result.matrix)
        by_x = self.cell.cell_derivatives(x[:size])
        result.cell_sigma = numpy.sqrt(numpy.maximum(numpy.diag(by_x @ covariance[:size, :size] @ by_x.T), 0))
        sigma = numpy.sqrt(numpy.maximum(numpy.diag(covariance), 0))
        result.rotation = float(numpy.degrees(numpy.linalg.norm(x[:3])))
        result.orientation_sigma = numpy.degrees(sigma[:3])
        result.scale = float(numpy.exp(x[size]))
        result.scale_sigma = float(result.scale * sigma[size])
        result.pixels, result.chi2 = len(data), float(squares.mean())
        result.log_likelihood = -0.5 * float(numpy.sum(numpy.log(2 * numpy.pi * variance) + squares))
        result.seconds = self.seconds
        if places is not None:
            self._places.move(*places)
        at, _ = predict(result.matrix, self.hkl, self.panel, self._places, self._beam, self._wavelength)
        spans = self.boxes.spans
        result.spots = {"hkl": self.hkl, "panel": self.panel, "predicted": at, "observed": self.boxes.centroids()[0],
                        "box": self.boxes.kept, "resolution": 1 / numpy.linalg.norm(self.hkl @ result.matrix.T, axis=1),
                        "chi2": numpy.array([squares[s].mean() for s in spans]),
                        "model": numpy.array([crystal[s].sum() for s in spans]),
                        "data": numpy.array([(data - background)[s].sum() for s in spans]),
                        "variance": numpy.array([variance[s].sum() for s in spans])}
        for i in numpy.argsort(-result.spots["data"])[:pictures]:
            result.pictures.append((tuple(int(h) for h in self.hkl[i]), *picture(self.boxes, i, photons)))
        return result
