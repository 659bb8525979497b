"""Detector, indices and cell that stills have together."""

import dataclasses

import numpy

from .._errors import Rejected
from ._chain import alike, fit_chain, next_matrix
from ._indices import Candidates, Light, by_each_other, by_model, chosen, in_setting, shifted, shifts
from ._lattices import assigned, at_distance, lattices_of, refit
from ._model import Model
from ._still import Still, take
from ._still_search import search_still

_SEVERAL = 3  # stills that know more of a detector than each alone
_REFITS = 3  # fits of the stills of a detector, each with the displacements of the one before
_STANDING = 0.02  # pixels by which these change at least, for another fit


def bring_together(stills, path, search, wanted):
    """Finds what stills share: their detector, and the choice of indices. Returns the Model with
    structure factors to their resolution."""
    if wanted.chain:
        _found_again(stills, search)
    _share_detector(stills, search.model, "distance" not in (wanted.restrain or {}) and "cell" not in wanted.held)
    good = [still for still in stills if still.status == "indexed"]
    if not good:
        return search.model
    finest = max(still.fitted.detector.finest(still.shape) for still in good)
    wavelength = float(numpy.median([still.header.wavelength for still in good]))
    crystal = Model.read(path, 0.97 / finest, wavelength)
    _by_intensities(good, crystal, wanted.lattices, wanted.chain)
    _compare_light(good, crystal)
    if wanted.chain:
        _chain(good, crystal)
    return crystal


def _share_detector(stills, model, distances):
    """Stills whose headers name the same detector have the same tilts, the medians of all, and the
    same modules. distances: whether they have the same distance, too. Fewer than three have a
    distortion in common, where there are no modules."""
    groups = {}
    for still in stills:
        if still.status == "indexed":
            p = still.header
            groups.setdefault((p.distance, p.centre, p.pixel, still.shape), []).append(still)
    for group in groups.values():
        several = len(group) >= _SEVERAL
        if not several and len(group[0].fitted.detector.modules) > 1:
            continue
        tilts = {"tilts": tuple(numpy.median([s.fitted.detector.tilts for s in group], axis=0).tolist())} if several else {}
        free = {"mosaic": 0.5, "shape": 3e-3}
        for number in range(_REFITS):
            before, modules = group[0].fitted.detector.modules, _modules(group)
            if not several and not modules.distortion:
                break
            if number and max(numpy.abs(modules.off(still.found.at) - before.off(still.found.at)).max() for still in group) < _STANDING:
                break
            for still in group:
                detector = dataclasses.replace(still.fitted.detector, modules=modules, **tilts)
                take(still, refit([dataclasses.replace(one, detector=detector) for one in still.lattices], still.found,
                                   model.system, ((numpy.inf, 3.0, 1.0, free), (numpy.inf, 2.5, 1.0, free))))
        distance = float(numpy.median([s.fitted.detector.distance for s in group]))
        for still in group if several and distances else ():
            still.shared = True
            take(still, refit(at_distance(still.lattices, distance), still.found, model.system, ((numpy.inf, 3.0, 1.0, free),), held=True))


def _modules(group):
    """Where the modules of the detector of these stills are; of few stills, parts of their spots
    stand for stills."""
    spots = [(still.found.at[use], -still.of_spots("off")[use], still.found.light[use],
              numpy.full(use.sum(), number) if len(group) >= _SEVERAL else numpy.arange(use.sum()))
             for number, still in enumerate(group) for use in [still.of >= 0]]
    detector = group[0].fitted.detector
    return detector.modules.fitted(*map(numpy.concatenate, zip(*spots)), len(detector.panels) == 1)


def _found_again(stills, search):
    """Stills of one crystal, those that are rejected looked for where the ones before them lead."""
    for number, still in enumerate(stills):
        before = [one for one in stills[:number] if one.status == "indexed"]
        if still.status == "rejected" and still.found is not None and before:
            again = Still(still.index, still.image, key=still.key)
            matrices = [one.matrix for one in alike([one.fitted for one in before], [one.found for one in before], search.model)]
            try:
                search_still(again, search, dataclasses.replace(before[-1].fitted, matrix=next_matrix(matrices)))
            except Rejected:
                continue
            stills[number] = again


def _chain(stills, model):
    """Fits stills of one crystal, whose indices go together, by one cell and one detector."""
    known = None if model.grid is None else by_model(model)
    for last in (False, True):
        first, turns = fit_chain([still.fitted for still in stills], [still.found for still in stills], model.system, known)
        for still, one in zip(stills, first):
            others = [dataclasses.replace(other, detector=one.detector) for other in still.lattices[1:]]
            still.shared = True
            take(still, assigned([one, *others], still.found))
        if not last:
            modules = _modules(stills)
            for still in stills:
                still.lattices = [dataclasses.replace(one, detector=dataclasses.replace(one.detector, modules=modules)) for one in still.lattices]
    for still, turn in zip(stills[1:], turns):
        still.turn = turn


def _by_intensities(stills, model, most, together=False):
    """Takes indices by which the light of spots is like that of the model's structure factors, or
    without them that of the other stills, where places allow several. together: whether the stills
    are of one crystal, so that their first lattices have one choice."""
    choices, known = model.choices(), None if model.grid is None else by_model(model)
    for still in stills if known else ():
        one, possible = still.fitted, shifts(still.fitted.matrix, still.fitted.detector)
        if best := shifted(Light.of_spots(one, still.found.light), choices, possible, known):
            try:
                found = lattices_of(still.found, [one.detector.shifted(-one.matrix @ possible[best])], model, most)
                take(still, [in_setting(lattice, still.found, model) for lattice in found])
                still.shared = False
            except Rejected:
                pass
    every = [(still, k) for still in stills for k in range(len(still.lattices))]
    if together:
        for still, one in zip(stills, alike([still.fitted for still in stills], [still.found for still in stills], model)):
            take(still, assigned([one, *still.lattices[1:]], still.found))
    if len(choices) == 1 or known is None and (together or len(every) == 1):
        return
    candidates = [Candidates(still.lattices[k], choices, still.found, model.system) for still, k in every]
    likelihoods = [] if known is None else [one.likelihoods(map(known, one.hkl)) for one in candidates]
    if together:
        total = sum(one for (_, k), one in zip(every, likelihoods) if k == 0)
        likelihoods = [one if k else total for (_, k), one in zip(every, likelihoods)]
    found = by_each_other(candidates, model.hall) if known is None else list(map(chosen, likelihoods))
    for still in stills:
        mine = [(one.lattices[best], margin) for (of, _), one, (best, margin) in zip(every, candidates, found) if of is still]
        lattices, still.margins = map(list, zip(*mine))
        take(still, lattices)


def _compare_light(stills, model):
    """How much more the light of each still's spots is like the model's intensities than by chance,
    where that can be told."""
    for still in stills if model.grid is not None else ():
        light, known = Light.of_spots(still.fitted, still.found.light), by_model(model)(still.fitted.hkl[still.fitted.indexed])
        still.alike = light.agreement(known) if light.tells(known) else numpy.nan


def compare_fit(still, model):
    """The same by the fit to pixels, which knows partialities, where it tells more."""
    known = by_model(model)
    light = Light.of_pixels(still.explained, known)
    still.alike = float(numpy.fmax(still.alike, light.agreement(known(light.hkl))))
