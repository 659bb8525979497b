"""Pulls of a fit to a photograph: copies of it, with photons and intensities drawn anew, are fitted from where the
photograph's fit ended: python pulls.py IMAGE MODEL COPIES
"""

import sys
import time

import numpy
from nanobragg.refine import photographs
from nanobragg.refine._explain import _DETECTOR, Fit
from nanobragg.refine.photographs import Model, _exposures, _simulators, boxes_of

image, path, copies = sys.argv[1], sys.argv[2], int(sys.argv[3])
DOUBT = 0.25  # part of an intensity by which the fit lets it differ
still, = photographs.index([image], path, workers=1, sets=1)
model = Model.read(path, 0.97 / still.fitted.detector.finest(still.shape), still.photograph.wavelength)
truth = still.explained


class Copy(Fit):
    """Restraints are about the truth: they pull nowhere."""

    def known(self):
        about, sigma, reach = super().known()
        return truth.x, sigma, reach


sims = _simulators(still, model)
boxes = boxes_of(still)
expected, background = truth.image, boxes.background
pulls, begin = [], time.time()
for seed in range(copies):
    random = numpy.random.default_rng(seed)
    d = numpy.maximum(1 + DOUBT * random.normal(size=len(boxes.hkl)), 0)
    boxes.data = random.poisson(background + d[boxes.reflection] * expected).astype(float)
    fit = Copy(sims, boxes, still.found.light[still.explained_spots], model.system, begin=truth, sets=1,
               exposures=_exposures(still.fitted.detector))
    fit.run(DOUBT, 8, *_DETECTOR, enough=1e-5)
    free = fit.free(*_DETECTOR)
    sigma = numpy.sqrt(numpy.diag(numpy.linalg.inv(fit.fit.curvature)))
    prior = fit.known()[1][free]
    pulls.append((fit.x - truth.x)[free] / sigma)
    names = numpy.array(fit.model.names)[free]
    table = numpy.array(pulls)
    print(seed, f"{time.time() - begin:.0f} s, rms of all", numpy.sqrt((table**2).mean()).round(3), flush=True)
    if seed in (7, copies - 1):
        for name, p, s, q in zip(names, table.T, sigma, prior):
            print(f"{name:28} mean {p.mean():6.2f} std {p.std(ddof=1):5.2f} sigma {s:.3g} restraint {q:.3g}", flush=True)
