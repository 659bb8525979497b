"""The refinement of one shot."""

import dataclasses
import time
import warnings

import numpy
from scipy import optimize

from ..simulator import Simulator
from ._crystal import OrientedCell, cell_of
from ._positions import Panels, fit_positions, predict
from ._shoeboxes import Planes, Shoeboxes

_METRES = 1e10  # from 1/A to 1/m


@dataclasses.dataclass
class Result:
    """What became of a shot. Lengths in A, angles in degrees; sigmas from the curvature of the likelihood."""

    index: int
    status: str = "refined"  # or "rejected"
    why: str = ""  # it was rejected
    matrix: numpy.ndarray = None  # columns a*, b*, c*, 1/A
    cell: numpy.ndarray = None
    cell_sigma: numpy.ndarray = None
    rotation: float = 0.0  # from where it started
    orientation_sigma: numpy.ndarray = None  # about the laboratory's axes
    scale: float = 0.0  # times the fluence of the flags
    scale_sigma: float = 0.0
    values: dict = dataclasses.field(default_factory=dict)  # of further parameters, SI: (value, sigma)
    pixels: int = 0
    chi2: float = 0.0  # per pixel
    chi2_start: float = 0.0
    log_likelihood: float = 0.0
    evaluations: int = 0
    seconds: float = 0.0
    # Of each shoebox: miller index, panel, where it is predicted and was observed (pixels, fast and slow), its resolution
    # (A), chi2 per pixel, photons of the model and of the data above the background.
    spots: dict = dataclasses.field(default_factory=dict, repr=False)
    # The brightest shoeboxes: data, model with background.
    pictures: list = dataclasses.field(default_factory=list, repr=False)


class Rejected(Exception):
    """Why a shot cannot be refined, in one sentence."""


class _Model:
    """Photons of the listed pixels and their derivatives by x = (orientation, strains, log scale, log further factors)."""

    def __init__(self, sim, cell, further):
        self.cell = cell
        self.further = [[row for row in sim._members(name)] for name in further]
        names = [name for group in self.further for name in group]
        self.function = sim.function("reciprocal_matrix", "fluence", "fudge", *names)
        self.start = self.function.unpack(self.function.theta)
        self.size = cell.size + 1 + len(further)
        self.fudge = 1.0
        self.evaluations = 0

    def _theta(self, x):
        crystal, scale, further = x[:self.cell.size], x[self.cell.size], x[self.cell.size + 1:]
        values = {"reciprocal_matrix": self.cell.matrix(crystal) * _METRES,
                  "fluence": self.start["fluence"] * numpy.exp(scale),
                  "fudge": self.start["fudge"] * self.fudge}
        for names, factor in zip(self.further, further):
            values |= {name: self.start[name] * numpy.exp(factor) for name in names}
        return self.function.pack(**values), values

    def image(self, x):
        self.evaluations += 1
        return self.function.image(self._theta(x)[0])

    def jacobian(self, x):
        """(pixels, size)."""
        theta, values = self._theta(x)
        zero = {name: numpy.zeros_like(value) for name, value in values.items()}
        directions = [zero | {"reciprocal_matrix": d * _METRES} for d in self.cell.derivatives(x[:self.cell.size])]
        directions.append(zero | {"fluence": values["fluence"]})
        directions += [zero | {name: values[name] for name in names} for names in self.further]
        return self.function.jvps(theta, numpy.array([self.function.pack(**d) for d in directions])).T

    def bounds(self, x, positioned):
        """Around x; narrower where the positions of spots have put it there."""
        angle, strain = (0.25, 0.005) if positioned else (2.0, 0.05)
        reach = numpy.concatenate([numpy.full(3, numpy.radians(angle)), numpy.full(self.cell.size - 3, strain),
                                   [numpy.log(1e9)], numpy.full(len(self.further), numpy.log(10))])
        return x - reach, x + reach


def _variance(model, readout):
    """Of a pixel: Poisson's of what the model expects, at least of one photon, and the read-out's."""
    return numpy.maximum(model, 1.0) + readout**2


@dataclasses.dataclass
class _Fit:
    """Where a fit ended: x, scipy's result, photons of the model, planes, variance of the pixels."""

    x: numpy.ndarray
    result: optimize.OptimizeResult
    photons: numpy.ndarray
    background: numpy.ndarray
    variance: numpy.ndarray

    def squares(self, data):
        return (data - self.photons - self.background)**2 / self.variance


def _fit_pixels(model, boxes, x, bounds, readout, widths, rounds, restraints):
    """Fits the pixels, with reflections of these widths one after another."""
    variance = _variance(boxes.data, readout)
    lower, upper = bounds
    for i, width in enumerate(widths):
        model.fudge = width
        for _ in range(rounds if width == widths[-1] else 1):
            planes = Planes(boxes, 1 / numpy.sqrt(variance))

            def residuals(x):
                left = planes.without((model.image(x) - boxes.data) * planes.weights)
                return numpy.concatenate([left, (x - restraints[0]) / restraints[1]])

            def jacobian(x):
                left = planes.without(model.jacobian(x) * planes.weights[:, None])
                return numpy.concatenate([left, numpy.diag(1 / restraints[1])])

            # The scale is linear: it starts where it fits the rest.
            image = planes.without(model.image(x) * planes.weights)
            wanted = planes.without(boxes.data * planes.weights)
            best = image @ wanted / max(image @ image, 1e-300)
            if best <= 0:
                if i == 0:
                    raise Rejected("no reflection of the model is near the light in the shoeboxes; the orientation is "
                                   "too far off, or the reflections are those of another crystal")
                best = 1.0
            x[model.cell.size] += numpy.log(best)
            x = numpy.clip(x, lower + 1e-9, upper - 1e-9)
            fit = optimize.least_squares(residuals, x, jacobian, bounds=(lower, upper), x_scale="jac", method="trf",
                                         max_nfev=12 if width == widths[-1] else 6, ftol=1e-6, xtol=1e-9, gtol=1e-9)
            x = fit.x
            image = model.image(x)
            background = planes.of(boxes.data - image)
            variance = _variance(image + background, readout)
            if width == widths[-1] and fit.nfev <= 2:
                break
    return _Fit(x, fit, image, background, variance)


# Spots that are wider than they are reach over from farther away, and more of them are wrong.
_WIDTHS = ((1.0,), (0.5, 1.0), (0.2, 0.5, 1.0))


def _best_fit(model, boxes, x, bounds, readout, rounds, restraints):
    """The first fit that explains the pixels, or the best of those that do not."""
    fits, why = [], None
    for widths in _WIDTHS:
        try:
            fit = _fit_pixels(model, boxes, x.copy(), bounds, readout, widths, rounds, restraints)
        except Rejected as reason:
            why = reason
            continue
        fits.append(fit)
        if fit.squares(boxes.data).mean() < 3:
            break
    if not fits:
        raise why
    return min(fits, key=lambda fit: fit.squares(boxes.data).mean())


def refine_shot(index, flags, image, hkl, panel, boxes, *, further=(), system="triclinic", readout=0.0, observed=None,
                trusted=(-numpy.inf, numpy.inf), margin=2, rounds=3, restrain=None, pictures=4):
    """Refines the crystal of one shot against the pixels of its shoeboxes. Returns a Result.

    flags: those of nb-sim, as a list, with the crystal by --expt or -mat: where it starts.
    image: photons, (slow, fast) or (panel, slow, fast); not finite where there are none.
    hkl, panel, boxes: (n, 3), (n,), (n, 4) of the reflections; boxes as fast from, to, slow from, to.
    further: parameters beside orientation, cell and scale, each of which gets a factor: "mosaic_spread", "ncells".
    system: see OrientedCell. readout: photons, sigma of the read-out noise. observed: (n, 2) pixels (fast, slow), or None
    for the centroids of the shoeboxes. margin: pixels by which boxes are enlarged. rounds: of weights.
    restrain: {"orientation": degrees, "cell": fraction, "scale": log, name: log}: sigmas about the start.
    """
    begin = time.perf_counter()
    result = Result(index)
    try:
        _refine(result, list(flags), numpy.asarray(image, dtype=float), numpy.asarray(hkl), numpy.asarray(panel), boxes,
                list(further), system, readout, observed, trusted, margin, rounds, restrain or {}, pictures)
    except Rejected as reason:
        result.status, result.why = "rejected", str(reason)
    result.seconds = time.perf_counter() - begin
    return result


def _sigmas(restrain, cell, further):
    """Where x is restrained to, and how strongly: infinite sigmas are none."""
    known = {"orientation", "cell", "scale", *further}
    if unknown := set(restrain) - known:
        raise ValueError(f"restraints are of {', '.join(sorted(known))}, not of {', '.join(sorted(unknown))}")
    sigma = numpy.concatenate([numpy.full(3, numpy.radians(restrain.get("orientation", numpy.inf))),
                               numpy.full(cell.size - 3, restrain.get("cell", numpy.inf)),
                               [restrain.get("scale", numpy.inf)],
                               [restrain.get(name, numpy.inf) for name in further]])
    return numpy.zeros(sigma.size), sigma


def _refine(result, flags, image, hkl, panel, boxes, further, system, readout, observed, trusted, margin, rounds, restrain,
            pictures):
    if len(hkl) == 0:
        raise Rejected("it has no reflections; index it first")
    if not any(str(word).startswith("--cull") for word in flags):
        flags = [*flags, "--cull=1e-9"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = Simulator.from_flags(flags, threads=1)
        if image.shape != whole.shape:
            raise Rejected(f"its image has the shape {image.shape} and the detector of the experiment {whole.shape}")
        shoeboxes = Shoeboxes(image, boxes, panel, trusted, margin)
        if len(shoeboxes.data) < 20:
            raise Rejected(f"its shoeboxes have {len(shoeboxes.data)} pixels that can be used; 20 at least are needed")
        sim = Simulator.from_flags(flags, threads=1, pixels=shoeboxes.rows)
    kept = shoeboxes.kept
    hkl, panel = hkl[kept], panel[kept]
    start = sim["reciprocal_matrix"] / _METRES
    cell = OrientedCell(start, system)
    panels = Panels(whole)
    beam = whole["beam_direction"]
    wavelength = _wavelength(whole) * 1e10
    centroids, light, sigma = shoeboxes.centroids()
    places = centroids if observed is None else numpy.asarray(observed)[kept]
    strong = light > 5 * sigma
    restraints = _sigmas(restrain, cell, further)
    x = numpy.zeros(cell.size)
    positioned = strong.sum() >= 2 * cell.size
    if positioned:
        x = fit_positions(cell, hkl[strong], panel[strong], places[strong], panels, beam, wavelength,
                          3 * restraints[1][:cell.size])
    model = _Model(sim, cell, further)
    x = numpy.concatenate([x, numpy.zeros(1 + len(further))])
    result.chi2_start = float(numpy.mean((model.image(numpy.zeros(model.size)) - shoeboxes.data)**2
                                         / _variance(shoeboxes.data, readout)))
    fit = _best_fit(model, shoeboxes, x, model.bounds(x, positioned), readout, rounds, restraints)
    _report(result, model, shoeboxes, fit, further)
    at, _ = predict(result.matrix, hkl, panel, panels, beam, wavelength)
    chi2 = fit.squares(shoeboxes.data)
    result.spots = {"hkl": hkl, "panel": panel, "predicted": at, "observed": places, "box": kept,
                    "resolution": 1 / numpy.linalg.norm(hkl @ result.matrix.T, axis=1),
                    "chi2": numpy.array([chi2[s].mean() for s in shoeboxes.spans]),
                    "model": numpy.array([fit.photons[s].sum() for s in shoeboxes.spans]),
                    "data": numpy.array([(shoeboxes.data - fit.background)[s].sum() for s in shoeboxes.spans])}
    for i in numpy.argsort(-light)[:pictures]:
        result.pictures.append((tuple(int(h) for h in hkl[i]), *_picture(shoeboxes, i, fit.photons + fit.background)))
    if result.chi2 > 100:
        raise Rejected(f"the model does not explain the pixels: chi-square is {result.chi2:.3g} for each")


def _wavelength(sim):
    """m, the mean of the sources by weight."""
    if "source_wavelength" in sim.parameters:
        return numpy.average(sim["source_wavelength"], weights=sim["source_weight"])
    return sim["wavelength"]


def _report(result, model, boxes, fit, further):
    cell, size, x = model.cell, model.cell.size, fit.x
    covariance = numpy.linalg.pinv(fit.result.jac.T @ fit.result.jac)
    sigma = numpy.sqrt(numpy.maximum(numpy.diag(covariance), 0))
    result.matrix = cell.matrix(x[:size])
    result.cell = cell_of(result.matrix)
    by_x = cell.cell_derivatives(x[:size])
    result.cell_sigma = numpy.sqrt(numpy.maximum(numpy.diag(by_x @ covariance[:size, :size] @ by_x.T), 0))
    result.rotation = float(numpy.degrees(numpy.linalg.norm(x[:3])))
    result.orientation_sigma = numpy.degrees(sigma[:3])
    result.scale = float(numpy.exp(x[size]))
    result.scale_sigma = float(result.scale * sigma[size])
    for i, name in enumerate(further):
        value = float(model.start[model.further[i][0]] * numpy.exp(x[size + 1 + i]))
        result.values[name] = value, float(value * sigma[size + 1 + i])
    result.pixels = len(boxes.data)
    result.chi2 = float(fit.squares(boxes.data).mean())
    result.log_likelihood = -0.5 * float(numpy.sum(numpy.log(2 * numpy.pi * fit.variance) + fit.squares(boxes.data)))
    result.evaluations = model.evaluations


def _picture(boxes, i, model):
    """Data and model of a box as two images; not finite where there is no pixel."""
    span = boxes.spans[i]
    rows = boxes.rows[span][:, 1:]
    low, high = rows.min(axis=0), rows.max(axis=0) + 1
    pair = numpy.full((2, *(high - low)), numpy.nan)
    pair[0][tuple((rows - low).T)] = boxes.data[span]
    pair[1][tuple((rows - low).T)] = model[span]
    return pair[0], pair[1]
