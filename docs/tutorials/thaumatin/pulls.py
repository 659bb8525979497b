"""Prints the pulls of a fit: copies of a still or a sweep are simulated from its fit, with new noise (and for a
still new intensities), and fitted from the true values: errors divided by sigmas should have a standard deviation of 1.

python pulls.py IMAGE MODEL COPIES, or python pulls.py LIST.expt TABLE.refl COPIES SYSTEM
"""

import sys
import time

import numpy
from nanobragg.refine import _files, index
from nanobragg.refine._blocks import Crystals, Measurement
from nanobragg.refine._explain import DETECTOR, Fit, Freedom, telling
from nanobragg.refine._model import Model
from nanobragg.refine._scan import Scan, with_boxes
from nanobragg.refine._spot_fit import Known
from nanobragg.refine._still import boxes_of
from nanobragg.refine._still_fit import exposures_of, simulators
from nanobragg.refine.sweeps import Sweep, Wanted, begin_fit

DOUBT = 0.25  # fraction by which the fit of a still lets an intensity differ from the model


def restrained(fit, about, sigma):
    """The fit, with its numbers restrained to `about`."""
    known = Known(about, sigma, fit.known().reach)
    fit.known = lambda: known
    return fit


def of_still(image, path):
    """A function that simulates a copy of a still from random numbers and returns its fit, ready for the last
    run; and the arguments of that run."""
    still, = index([image], path, workers=1, sets=1)
    model = Model.read(path, 0.97 / still.fitted.detector.finest(still.shape), still.header.wavelength)
    truth, sims, boxes = still.explained, simulators(still, model), boxes_of(still)
    measurement = Measurement(exposures=exposures_of(still.fitted.detector))

    def copy(random):
        d = numpy.maximum(1 + DOUBT * random.normal(size=len(boxes.hkl)), 0)
        boxes.data = random.poisson(boxes.background + d[boxes.reflection] * truth.image).astype(float)
        most = telling(sims[0], boxes, still.found.light[still.explained_spots], measurement)
        fit = Fit(sims, boxes, most, Crystals(model.system), measurement, Freedom(sets=1), truth)
        return restrained(fit, truth.x, fit.known().sigma)

    return copy, (DOUBT, 8, *DETECTOR), 1e-5


def of_sweep(path, table, system):
    """The same for a sweep. Reflections keep their fitted intensities; the restraints of each copy are drawn, too."""
    listed, table = _files.read_experiments(path), _files.read_reflections(table)
    scan = Scan(listed, 0, path).only_present()
    fit, *_ = begin_fit(Sweep(0), scan, listed, with_boxes(table, scan), Wanted(system))
    fit.positions_and_rocking()
    print(f"{fit.model.sets} sets, chi-square {fit.misfit:.3f} per pixel that is fitted", flush=True)
    expected, truth = fit.used.background + fit.fit.own * fit.image, fit.x
    # If intensities are free, pixels do not determine the scale that all sets share.
    sigma = numpy.where(numpy.array(fit.model.groups()) == "scale", 1.0, fit.known().sigma)

    def copy(random):
        fit.used.data = random.poisson(expected).astype(float)
        fit.fit, fit.x = fit._problem(fit.model), truth.copy()
        return restrained(fit, truth + numpy.where(numpy.isfinite(sigma), sigma, 0) * random.normal(size=len(truth)), sigma)

    return copy, (100.0, 8, "B"), 3e-7


copies = int(sys.argv[3])
copy, how, enough = of_sweep(*sys.argv[1:3], sys.argv[4]) if len(sys.argv) > 4 else of_still(*sys.argv[1:3])
pulls, begin = [], time.time()
for seed in range(copies):
    fit = copy(numpy.random.default_rng(seed))
    truth = fit.x.copy()
    fit.run(*how, enough=enough)
    free = fit.free(*how[2:])
    sigma = numpy.sqrt(numpy.diag(numpy.linalg.inv(fit.fit.curvature)))
    prior = fit.known().sigma[free]
    pulls.append((fit.x - truth)[free] / sigma)
    table = numpy.array(pulls)
    print(seed, f"{time.time() - begin:.0f} s, chi-square {fit.cost / len(fit.used.data):.3f}, rms of all",
          numpy.sqrt((table**2).mean()).round(3), flush=True)
    if seed in (7, copies - 1):
        for name, p, s, q in zip(numpy.array(fit.model.names)[free], table.T, sigma, prior):
            print(f"{name:28} mean {p.mean():6.2f} std {p.std(ddof=1):5.2f} sigma {s:.3g} restraint {q:.3g}", flush=True)
