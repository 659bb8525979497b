"""The refinement of one shot."""

import dataclasses
import time
import warnings

import numpy
from scipy import optimize

from .._errors import DATA_ERRORS, FlagError, Rejected, reason
from ..simulator import Simulator
from ._crystal import OrientedCell, cell_of
from ._positions import Panels, fit_positions, predict
from ._likelihood import GaussianLikelihood, variance_of as _variance
from ._shoeboxes import Planes, Shoeboxes, check_pixels

METRES = 1e10  # from 1/A to 1/m


@dataclasses.dataclass
class Result:
    """The result of a shot. Lengths in A, angles in degrees; sigmas from the curvature of the
    likelihood."""

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
    values: dict = dataclasses.field(default_factory=dict)  # further parameters, SI: (value, sigma)
    pixels: int = 0
    chi2: float = 0.0  # per pixel
    chi2_start: float = 0.0
    log_likelihood: float = 0.0
    evaluations: int = 0
    history: list = dataclasses.field(default_factory=list, repr=False)  # chi2 per pixel at each step of the optimizer
    seconds: float = 0.0
    # Columns of each shoebox: miller index, panel, where it is predicted and was observed (pixels,
    # fast and slow), its resolution (A), chi2 per pixel, photons of the model and of the data above
    # the background, and the variance of these, with that of the background and of the read-out.
    spots: dict = dataclasses.field(default_factory=dict, repr=False)
    # The brightest shoeboxes: data, model with background.
    pictures: list = dataclasses.field(default_factory=list, repr=False)


METHODS = ("trust-region", "L-BFGS-B")


class _Model:
    """Photons of the listed pixels and their derivatives with respect to x = (orientation, strains,
    log scale, log further factors)."""

    def __init__(self, sim, cell, further):
        self.cell = cell
        self.further = [sim._members(name) for name in further]
        names = [name for group in self.further for name in group]
        self.function = sim.function("reciprocal_matrix", "fluence", "fudge", *names)
        self.start = self.function.unpack(self.function.theta)
        self.size = cell.size + 1 + len(further)
        self.fudge = 1.0
        self.evaluations = 0
        self._images, self._jacobians = [], []  # the last ones

    def _theta(self, x):
        crystal, scale, further = x[:self.cell.size], x[self.cell.size], x[self.cell.size + 1:]
        values = {"reciprocal_matrix": self.cell.matrix(crystal) * METRES,
                  "fluence": self.start["fluence"] * numpy.exp(scale),
                  "fudge": self.start["fudge"] * self.fudge}
        for names, factor in zip(self.further, further):
            values |= {name: self.start[name] * numpy.exp(factor) for name in names}
        return self.function.pack(**values), values

    def image(self, x):
        def made():
            self.evaluations += 1
            return self.function.image(self._theta(x)[0])

        return self._kept(self._images, x, made)

    def jacobian(self, x):
        """(size, pixels)."""
        def made():
            theta, values = self._theta(x)
            zero = {name: numpy.zeros_like(value) for name, value in values.items()}
            directions = [zero | {"reciprocal_matrix": d * METRES} for d in self.cell.derivatives(x[:self.cell.size])]
            directions.append(zero | {"fluence": values["fluence"]})
            directions += [zero | {name: values[name] for name in names} for names in self.further]
            return self.function.jvp(theta, numpy.array([self.function.pack(**d) for d in directions]))

        return self._kept(self._jacobians, x, made)

    def _kept(self, last, x, made):
        """The image that was made for these numbers before, times the change of the scale. Fits
        begin where others ended."""
        shape = (self.fudge, *numpy.delete(x, self.cell.size))
        if last and last[0] == shape:
            return last[2] * numpy.exp(x[self.cell.size] - last[1])
        last[:] = shape, x[self.cell.size], made()
        return last[2]

    def gradient(self, x, by_photons):
        """The derivative with respect to x of what has this derivative with respect to the photons,
        (size,)."""
        theta, values = self._theta(x)
        by = self.function.unpack(self.function.vjp(theta, by_photons))
        crystal = numpy.einsum("kij,ij->k", self.cell.derivatives(x[:self.cell.size]), by["reciprocal_matrix"]) * METRES
        factors = [("fluence",), *self.further]
        return numpy.concatenate([crystal, [sum(by[name] * values[name] for name in names) for names in factors]])

    def bounds(self, x, positioned):
        """Around x; narrower where the positions of spots have put it there."""
        angle, strain = (0.25, 0.005) if positioned else (2.0, 0.05)
        reach = numpy.concatenate([numpy.full(3, numpy.radians(angle)), numpy.full(self.cell.size - 3, strain),
                                   [numpy.log(1e9)], numpy.full(len(self.further), numpy.log(10))])
        return x - reach, x + reach


@dataclasses.dataclass
class _Fit:
    """Where a fit ended: x, scipy's result, photons of the model, planes, variance of the pixels.
    """

    x: numpy.ndarray
    result: optimize.OptimizeResult
    photons: numpy.ndarray
    background: numpy.ndarray
    variance: numpy.ndarray

    def squares(self, data):
        return (data - self.photons - self.background)**2 / self.variance


@dataclasses.dataclass
class _Ended:
    """Where an optimizer ended, as scipy's results say it: x, the weighted Jacobian there,
    evaluations."""

    x: numpy.ndarray
    jac: numpy.ndarray
    nfev: int


class _Problem:
    """Pixels of a shot with weights and planes, and what restrains the parameters."""

    def __init__(self, model, boxes, readout, restraints, history):
        self.model, self.boxes, self.readout, self.restraints, self.history = model, boxes, readout, restraints, history
        self.weigh(boxes.data)

    def weigh(self, photons):
        """With the variance of these photons."""
        self.variance = _variance(photons, self.readout)
        self.planes = Planes(self.boxes, 1 / numpy.sqrt(self.variance))

    def residuals(self, x):
        left = self.planes.without((self.model.image(x) - self.boxes.data) * self.planes.weights)
        return numpy.concatenate([left, x / self.restraints])

    def jacobian(self, x):
        """(size, residuals)."""
        left = self.planes.without(self.model.jacobian(x) * self.planes.weights)
        return numpy.concatenate([left, numpy.diag(1 / self.restraints)], axis=1)

    def _length(self, x):
        left = self.residuals(x)
        pixels = left[:len(self.boxes.data)]
        self.history.append(float(pixels @ pixels) / len(pixels))
        return numpy.append(numpy.linalg.norm(left), numpy.zeros(len(x)))

    def _turned(self, x):
        """The Jacobian in axes of which the first is along the residuals, and with the same
        products: as many rows as parameters, and one more, in place of one for each pixel.
        """
        left, jacobian = self.residuals(x), self.jacobian(x)
        first = jacobian @ left / max(numpy.linalg.norm(left), 1e-300)
        gram = jacobian @ jacobian.T - numpy.outer(first, first)
        unit = numpy.sqrt(numpy.maximum(numpy.diag(gram), 1e-300))
        values, vectors = numpy.linalg.eigh(gram / unit / unit[:, None])
        return numpy.vstack([first, numpy.sqrt(numpy.maximum(values, 0))[:, None] * vectors.T * unit])

    def scale_at(self, x):
        """By which the model fits best."""
        image = self.planes.without(self.model.image(x) * self.planes.weights)
        return image @ self.planes.without(self.boxes.data * self.planes.weights) / max(image @ image, 1e-300)

    def trust_region(self, x, bounds, evaluations):
        return optimize.least_squares(self._length, x, self._turned, bounds=bounds, x_scale="jac", method="trf",
                                      max_nfev=evaluations, ftol=1e-6, xtol=1e-9, gtol=1e-9)

    def likelihood(self, x, bounds):
        """The greatest likelihood, with its log V, by L-BFGS-B; steps in units of the curvature at
        the start."""
        unit = 1 / numpy.sqrt(numpy.maximum(numpy.einsum("ij,ij->i", *[self.jacobian(x)] * 2), 1e-12))
        inner = GaussianLikelihood(self.boxes, self.readout, self.planes.of(self.boxes.data - self.model.image(x)))

        def value(u):
            x = unit * u
            likelihood, by_photons, photons = inner.at(self.model.image(x))
            self.history.append(float(numpy.mean((self.boxes.data - photons)**2 / _variance(photons, self.readout))))
            gradient = self.model.gradient(x, by_photons) + x / self.restraints**2
            return likelihood + 0.5 * numpy.sum((x / self.restraints)**2), unit * gradient

        found = optimize.minimize(value, x / unit, jac=True, method="L-BFGS-B", bounds=list(zip(*(b / unit for b in bounds))),
                                  options={"maxiter": 60, "ftol": 1e-12, "gtol": 1e-3})
        x = unit * found.x
        self.weigh(inner.at(self.model.image(x))[2])
        return _Ended(x, self.jacobian(x).T, found.nfev), inner.planes


def _fit_pixels(model, boxes, x, bounds, fudges, restraints, how, history):
    """Fits the pixels, with reflections of these widths one after another."""
    problem = _Problem(model, boxes, how.readout, restraints, history)
    lower, upper = bounds
    for i, fudge in enumerate(fudges):
        model.fudge = fudge
        last = fudge == fudges[-1]
        for _ in range(how.rounds if last and how.method == "trust-region" else 1):
            # The scale is linear: it starts where it fits the rest.
            best = problem.scale_at(x)
            if best <= 0:
                if i == 0:
                    raise Rejected("no reflection of the model is near the light in the shoeboxes; the orientation is "
                                   "too far off, or the reflections are those of another crystal")
                best = 1.0
            x[model.cell.size] += numpy.log(best)
            x = numpy.clip(x, lower + 1e-9, upper - 1e-9)
            if last and how.method == "L-BFGS-B":
                fit, background = problem.likelihood(x, bounds)
                return _Fit(fit.x, fit, model.image(fit.x), background, problem.variance)
            fit = problem.trust_region(x, bounds, 12 if last else 6)
            x = fit.x
            image = model.image(x)
            background = problem.planes.of(boxes.data - image)
            problem.weigh(image + background)
            if last and fit.nfev <= 2:
                break
    return _Fit(x, fit, image, background, problem.variance)


# Factors of -fudge, one fit after another, each from where the one before ended; what is tried
# first explains most shots. Spots that are wider than they are reach over from farther away, and
# more of them are wrong.
_FUDGES_TO_TRY = ((1.0,), (0.5, 1.0), (0.2, 0.5, 1.0))


def _best_fit(model, boxes, x, bounds, restraints, how, history):
    """The first fit that explains the pixels, or the best of those that do not."""
    fits, why = [], None
    for fudges in _FUDGES_TO_TRY:
        try:
            fit = _fit_pixels(model, boxes, x.copy(), bounds, fudges, restraints, how, history)
        except Rejected as error:
            why = error
            continue
        fits.append(fit)
        if fit.squares(boxes.data).mean() < 3:
            break
    if not fits:
        raise why
    return min(fits, key=lambda fit: fit.squares(boxes.data).mean())


@dataclasses.dataclass(frozen=True)
class ShotFit:
    """How a shot is refined.

    further: parameters beside orientation, cell and scale, each of which gets a factor:
    "mosaic_spread", "ncells". system: see OrientedCell. readout: photons, sigma of the read-out
    noise. margin: pixels by which boxes are enlarged. rounds: of weights. restrain: {"orientation":
    degrees, "cell": fraction, "scale": log, name: log}: sigmas about the start. pictures: of spots,
    in the result. method: "trust-region", least squares with weights that are renewed, or
    "L-BFGS-B", the greatest likelihood.
    """

    further: tuple = ()
    system: str = "triclinic"
    readout: float = 0.0
    margin: int = 2
    rounds: int = 3
    restrain: dict = None
    pictures: int = 4
    method: str = "trust-region"

    def __post_init__(self):
        if self.method not in METHODS:
            raise ValueError(f"there is no method '{self.method}'; methods are {', '.join(METHODS)}")
        _check_numbers(self.readout, self.margin, self.restrain)


def refine_shot(index, flags, image, hkl, panel, boxes, *, observed=None, trusted=(-numpy.inf, numpy.inf), **how):
    """Refines the crystal of one shot against the pixels of its shoeboxes. Returns a Result.

    flags: those of nb-sim, as a list, with the crystal by --expt or -mat: where it starts. Or a
    function that makes
        its simulator.
    image: photons, (slow, fast) or (panel, slow, fast); not finite where there are none.
    hkl, panel, boxes: (n, 3), (n,), (n, 4) of the reflections; boxes as fast from, to, slow from,
    to.
    observed: (n, 2) pixels (fast, slow), or None for the centroids of the shoeboxes. trusted: least
    and largest photons of a pixel
    that is used. how: fields of ShotFit.
    """
    how, begin, result = ShotFit(**how), time.perf_counter(), Result(index)
    try:
        sim = flags() if callable(flags) else simulator_of(list(flags))
        hkl, panel, image = numpy.asarray(hkl), numpy.asarray(panel), numpy.asarray(image, dtype=float)
        if len(hkl) == 0:
            raise Rejected("it has no reflections; index it first")
        shoeboxes = shoeboxes_of(sim, image, boxes, panel, trusted, how.margin)
        kept = shoeboxes.kept
        _refine(result, sim, shoeboxes, hkl[kept], panel[kept], None if observed is None else numpy.asarray(observed)[kept], how)
    except Rejected as error:
        result.status, result.why = "rejected", str(error)
    result.seconds = time.perf_counter() - begin
    return result


def shoeboxes_of(whole, image, boxes, panel, trusted, margin):
    """The Shoeboxes of an image of the simulator ``whole``; Rejected where they cannot be had."""
    if image.shape != whole.shape:
        raise Rejected(f"its image has the shape {image.shape} and the detector of the experiment {whole.shape}")
    rendered = whole.rendered.reshape(image.shape)
    if not rendered.all():  # masked, or outside of the region of interest
        image = numpy.where(rendered, image, numpy.nan)
    shoeboxes = Shoeboxes(image, boxes, panel, trusted, margin)
    if len(shoeboxes.data) < 20:
        raise Rejected(f"its shoeboxes have {len(shoeboxes.data)} pixels that can be used; 20 at least are needed")
    return shoeboxes


def simulator_of(flags, *parts):
    """The simulator of a shot, in one thread; Rejected where its flags and parts make none.

    A Gaussian crystal is averaged in closed form where no flag counts samples. Samples are left out
    that give no light, where no flag says how many.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sim = Simulator(*parts, flags=flags, threads=1)
            options = sim._core.options()
            if options["average"] != "sampled" or options["settings"]["cull"] is not None:
                return sim
            return Simulator(*parts, flags=flags, threads=1, cull=1e-9)
        except (FlagError, ValueError) as error:
            raise Rejected(str(error)) from None


def first_simulator(stills, say=None):
    """The simulator of the first shot that has one. Flags that no shot takes are an error at once,
    not why all shots are rejected.

    say: is called with a sentence on what pixels are.
    """
    for index in range(len(stills)):
        try:
            stills.check(index)
            sim = stills.simulator(index)
            if say and sim._core.options()["average"] == "closed":
                say("the crystals are Gaussian, and pixels are averages in closed form (--average=closed); give "
                    "--average=sampled to take samples")
            return sim
        except DATA_ERRORS as error:
            why = reason(error)
    raise ValueError(why)


def _check_numbers(readout, margin, restrain):
    """ValueError where they cannot be."""
    if not 0 <= readout < numpy.inf:
        raise ValueError(f"readout is {readout}; it has to be 0 or greater, and finite")
    check_pixels(margin=margin)
    for name, sigma in (restrain or {}).items():
        if not numpy.all(numpy.asarray(sigma, dtype=float) > 0):
            raise ValueError(f"the restraint of {name} is {sigma}; a sigma has to be greater than 0")


def sigmas(restrain, cell, further):
    """How strongly x is restrained to 0: infinite sigmas are none."""
    known = {"orientation", "cell", "scale", *further}
    if unknown := set(restrain) - known:
        raise ValueError(f"restraints are of {', '.join(sorted(known))}, not of {', '.join(sorted(unknown))}")
    sigma = numpy.concatenate([numpy.full(3, numpy.radians(restrain.get("orientation", numpy.inf))),
                               numpy.full(cell.size - 3, restrain.get("cell", numpy.inf)),
                               [restrain.get("scale", numpy.inf)],
                               [restrain.get(name, numpy.inf) for name in further]])
    return sigma


def _refine(result, whole, shoeboxes, hkl, panel, observed, how):
    """Fills the Result in. hkl, panel, observed: of each shoebox, as refine_shot has them."""
    sim, further, count = whole.at_pixels(shoeboxes.rows), list(how.further), len(shoeboxes.kept)
    start = sim["reciprocal_matrix"] / METRES
    cell = OrientedCell(start, how.system)
    panels = Panels(whole)
    beam = whole["beam_direction"]
    wavelength = wavelength_of(whole) * 1e10
    centroids, light, sigma = shoeboxes.centroids()
    places = centroids if observed is None else observed
    strong = light > 5 * sigma
    restraints = sigmas(how.restrain or {}, cell, further)  # about 0
    free = int(numpy.isinf(restraints).sum())
    if 3 * count < free:  # a place on the panel and a distance from the sphere
        raise Rejected(f"the pixels of its shoeboxes ({count}) do not determine the {free} numbers that are free, three for "
                       "each box at most; restrain some, or give more reflections")
    x = numpy.zeros(cell.size)
    positioned = strong.sum() >= 2 * cell.size
    if positioned:
        x = fit_positions(cell, hkl[strong], panel[strong], places[strong], panels, beam, wavelength,
                          3 * restraints[:cell.size])
    model = _Model(sim, cell, further)
    x = numpy.concatenate([x, numpy.zeros(1 + len(further))])
    result.chi2_start = float(numpy.mean((model.image(numpy.zeros(model.size)) - shoeboxes.data)**2
                                         / _variance(shoeboxes.data, how.readout)))
    fit = _best_fit(model, shoeboxes, x, model.bounds(x, positioned), restraints, how, result.history)
    _report(result, model, shoeboxes, fit, further)
    at, _ = predict(result.matrix, hkl, panel, panels, beam, wavelength)
    chi2 = fit.squares(shoeboxes.data)
    result.spots = {"hkl": hkl, "panel": panel, "predicted": at, "observed": places, "box": shoeboxes.kept,
                    "resolution": 1 / numpy.linalg.norm(hkl @ result.matrix.T, axis=1),
                    "chi2": numpy.array([chi2[s].mean() for s in shoeboxes.spans]),
                    "model": numpy.array([fit.photons[s].sum() for s in shoeboxes.spans]),
                    "data": numpy.array([(shoeboxes.data - fit.background)[s].sum() for s in shoeboxes.spans]),
                    "variance": numpy.array([fit.variance[s].sum() for s in shoeboxes.spans])}
    for i in numpy.argsort(-light)[:how.pictures]:
        result.pictures.append((tuple(int(h) for h in hkl[i]), *picture(shoeboxes, i, fit.photons + fit.background)))
    if result.orientation_sigma.max() > 1 or (result.cell_sigma[:3] > 0.1 * result.cell[:3]).any():
        raise Rejected(f"the pixels of its shoeboxes ({count}) do not determine the crystal: sigma of the orientation is "
                       f"{result.orientation_sigma.max():.2g} degrees, of the cell {result.cell_sigma[:3].max():.2g} A; "
                       "restrain it, or give more reflections")
    if result.chi2 > 100:
        raise Rejected(f"the model does not explain the pixels: chi-square is {result.chi2:.3g} for each")


def wavelength_of(sim):
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


def picture(boxes, i, model):
    """Data and model of a box as two images; not finite where there is no pixel."""
    span = boxes.spans[i]
    rows = boxes.rows[span][:, 1:]
    low, high = rows.min(axis=0), rows.max(axis=0) + 1
    pair = numpy.full((2, *(high - low)), numpy.nan)
    pair[0][tuple((rows - low).T)] = boxes.data[span]
    pair[1][tuple((rows - low).T)] = model[span]
    return pair[0], pair[1]
