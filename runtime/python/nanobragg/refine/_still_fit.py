"""The pixels of a still, explained by its lattices on the panels of its detector."""

import dataclasses

import numpy

from .. import experiment as nb
from ._blocks import Crystals, Measurement
from ._explain import Fit, explain, simulators_of_still, telling
from ._panels import BEAM
from ._response import Response
from ._still import boxes_of, used

# Numbers of a fit to pixels, and what restraints of them are given in: how many of the fit's units
# that is.
UNITS = {"orientation": numpy.radians(1), "mosaicity": 1, "scale": 1, "divergence": 1, "size": 1, "bandwidth": 1, "distance": 1,
          "centre": 1, "tilt": 1e3 * numpy.radians(1), "wavelength": 1, "cell": 1e3, "B": 1, "dead_time": 1e6, "gain": 1, "psf": 1}

# Sigma, in units of 0.1 %, by which the distance of one still differs from the shared one: only
# narrow spots of millions of photons determine it as well.
_SHARED = 3e-4


def in_units(held, restrain, units=UNITS, response=Response()):
    """Sigmas of restraints in the units of the fit."""
    if response.psf is None and "psf" in restrain:
        raise ValueError("there is no point spread to restrain; give --psf=gauss:80, its shape and the width to start from (um)")
    for name in (*held, *restrain):
        if name not in units:
            raise ValueError(f"{name} is not a number of this fit; there are {', '.join(units)}")
        if name in restrain and not restrain[name] > 0:
            raise ValueError(f"the restraint of {name} is {restrain[name]}; a sigma has to be greater than 0")
    return {name: sigma * units[name] for name, sigma in restrain.items()}


def fit_still(still, model, freedom, response):
    """The Explained of a still whose spots are indexed. freedom: a Freedom. response: where the fit
    of the detector's begins."""
    use, detector, seconds = used(still, model), still.fitted.detector, still.header.seconds
    still.explained_spots = use
    response = response.of_neighbours(still.header.core, still.header.pixel)
    response.check(seconds, "dead_time" in freedom.restrain)
    if still.shared:
        freedom = dataclasses.replace(freedom, restrain={"distance": _SHARED, **freedom.restrain})
    crystals = Crystals(model.system, tuple(one.matrix for one in still.lattices[1:]), still.shared)
    measurement = Measurement(detector.modules.origins(), exposures_of(detector), _faces(detector), seconds, response)
    sims, boxes = simulators(still, model, response), boxes_of(still)
    most = telling(boxes, still.found.light[use], boxes.squares([one.matrix for one in still.lattices]), still.header.wavelength)
    fit = Fit(sims, boxes, most, crystals, measurement, freedom, still.explained)
    result = explain(fit, None if still.explained else _seen(still, response), still.boxes.joined(still.dark), detector, boxes_of(still, True))
    result.integrated = result.integrated.in_photons(still.header.spread)
    result.integrated.panel = detector.panels.number(result.integrated.at)
    corner, fast, slow = result.panels
    normal = numpy.cross(fast, slow)
    normal *= (numpy.sign((normal * corner).sum(axis=1)) / numpy.linalg.norm(normal, axis=1))[:, None]
    result.panels = corner - 1e-3 * _depth(detector) * normal, fast, slow
    return result


def distance_of(still):
    """mm, along the normal of a detector of one panel, and along the beam of others."""
    corner, fast, slow = still.explained.panels
    if len(corner) > 1:
        return still.fitted.detector.distance + float(((1e3 * corner - still.fitted.detector.placed()[0]) @ BEAM).mean())
    normal = numpy.cross(fast[0], slow[0])
    return 1e3 * abs(float(corner[0] @ normal)) / float(numpy.linalg.norm(normal))


def _seen(still, response):
    """Spots that are explained, as MomentFit takes them: on the grid of each module."""
    detector, which = still.fitted.detector, still.explained_spots & still.moments.known
    seen = still.moments.chosen(which)
    seen.at, module = detector.modules.on_panels(seen.at)
    width = 1e-3 * response.psf[1] / numpy.sqrt(8 * numpy.log(2)) / detector.pixel if response.psf else 0.0
    return seen, still.of_spots("hkl")[which], still.of[which], module, width**2


def simulators(still, model, response=Response()):
    """The simulators of a still, whose panels are its modules."""
    header, detector = still.header, still.fitted.detector
    fast, slow, _ = detector.axes()
    corner = detector.corner() + _depth(detector) * detector.axes()[2]
    shape = still.shape if detector.panels.size is None else detector.panels.size.max(axis=0)
    beam = {"wavelength": header.wavelength * 1e-10, "polarization": 2 * header.polarization - 1}
    fields = {"beam_direction": BEAM, "gain": header.gain if header.gain != 1 else None, **response.of_detector(detector.pixel)}
    plane = nb.Detector.plane(corner * 1e-3, fast, slow, tuple(map(int, shape)), detector.pixel * 1e-3, **fields)
    modules = plane if detector.modules.distortion else nb.Detector(panels=standing_modules(detector, still.shape), pixel_size=detector.pixel * 1e-3, **fields)
    parts = (nb.Crystal(real_space=1e-10 * numpy.linalg.inv(still.fitted.matrix)), nb.Beam(**beam), modules, nb.Goniometer(axis=(0, 0, 1)))
    return simulators_of_still(parts, plane, still.fitted.missing[still.fitted.indexed], model.grid, model.lowest)


def _depth(detector):
    """mm behind the detector's face at which photons are absorbed, in the mean."""
    if not detector.attenuation or not detector.thickness:
        return 0.0
    path = min(detector.thickness / detector.attenuation, 500.0)
    return detector.attenuation * (1 - path / numpy.expm1(path))


def _standing(detector, panel, off=(0.0, 0.0)):
    """Parameters of a simulator of the detector's plane by which it is panel ``panel`` where light
    is absorbed, moved by ``off`` (pixels, fast and slow) against what is seen."""
    corner, fast, slow, normal = (axis[panel] for axis in detector.placed())
    corner = 1e-3 * (corner + _depth(detector) * normal - detector.pixel * (off[0] * fast + off[1] * slow))
    axes = {} if len(detector.panels) == 1 else {"fast_axis": fast, "slow_axis": slow, "normal_axis": normal}
    return axes | {"beam_center_fast": float(-corner @ fast), "beam_center_slow": float(-corner @ slow), "close_distance": float(corner @ normal)}


def exposures_of(detector):
    """Where the panel stands for pixels of each displacement; of panels that stand where their
    light is seen, nothing."""
    if not detector.modules.distortion:
        return ({},)
    return [_standing(detector, 0, shift) for shift in detector.modules.steps()]


def standing_modules(detector, shape):
    """Each module as a panel, where its light is absorbed. shape: of the image."""
    begin = detector.modules.begins()
    number = detector.panels.number(begin[:, ::-1])
    corner, fast, slow, normal = (axis[number] for axis in detector.placed())
    off = detector.pixel * ((begin - detector.panels.begin[number])[:, ::-1] - detector.modules.shifts)
    corner = corner + _depth(detector) * normal + off[:, :1] * fast + off[:, 1:] * slow
    # Rows between panels of the image are of no panel.
    ends = numpy.array([[part.stop for part in parts] for parts in detector.panels.parts(shape)])
    sizes = numpy.minimum(detector.modules.sizes(shape), ends[number] - begin)
    if detector.panels.size is None:  # no pixel beyond the image is looked at, and panels of one size need no mask
        sizes = numpy.where(begin + sizes == shape, sizes.max(axis=0), sizes)
    return [nb.Panel(*one) for one in zip(1e-3 * corner, fast, slow, sizes.tolist())]


def _faces(detector):
    """Where each panel stands."""
    return [_standing(detector, panel) for panel in range(len(detector.panels))]
