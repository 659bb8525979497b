"""The refinement of many shots."""

import functools
import os

import numpy

from .._errors import reason
from . import _files, _report
from ._claim import Claim
from ._crystal import OrientedCell
from ._dealing import check_run, dealt, work_for_first
from ._files import digest
from ._kept import Kept, key_of
from ._shot import METRES, Result, ShotFit, first_simulator, refine_shot, sigmas
from ._listed_stills import ListedStills
from ._threads import one_blas_thread
from ._workers import each


@one_blas_thread
def shots(flags, experiments, reflections, *, images=None, parameters=("orientation", "cell", "scale"), system="triclinic",
          gain=1.0, offset=0.0, readout=0.0, restrain=None, margin=2, method="trust-region", workers=None,
          shard=(0, 1), comm=None, out=None, resume=False, progress=None, say=None):
    """Refines the crystal of each still of an experiment list against the pixels of its shoeboxes.

    ``flags``
        Options of nb-sim, a string or a list, for everything that the files do not contain: -hkl,
        -N, -mosaic, --spectrum, -gauss_xtal ...
    ``experiments``
        An experiment list of DIALS (.expt), one experiment for each image.
    ``reflections``
        A reflection table (.refl) with miller_index, panel, bbox and id; xyzobs.px.value, if
        present, is the observed position of each spot.
    ``images``
        A function from the number of a shot to its image; None: the images that the experiment
        list names.
    ``parameters``
        Orientation, cell and scale, and parameters that are refined by a factor: "mosaic_spread",
        "ncells".
    ``system``
        The crystal system, which determines the refined numbers of the cell: one of
        refine.CELL_SYSTEMS.
    ``gain``, ``offset``, ``readout``
        An image contains photons * gain + offset with Poisson noise, and read-out noise of this
        sigma (all in the image's unit).
    ``restrain``, ``margin``, ``method``
        See _shot.ShotFit.
    ``workers``
        Number of processes; None: one for each processor.
    ``shard``
        (i, n): every n-th shot, from shot i on.
    ``comm``
        An mpi4py communicator, in place of workers: all ranks call this, and each takes the next
        shot whenever it is free; the first returns the results, the others an empty list.
    ``out``
        A folder for refined.expt, refined.refl, shots.csv and report.html; its subfolder finished/
        stores each shot when it is finished.
    ``resume``
        Uses the shots in finished/ that were made from the same files and arguments.
    ``progress``
        Is called with the Result of each finished shot and the number of shots that are left.
    ``say``
        Is called with messages, on all ranks.

    Returns the results, in the order of the shots. Shots that cannot be refined are included, with
    the reason.
    """
    wanted = [p.strip() for p in (parameters.split(",") if isinstance(parameters, str) else parameters)]
    if missing := {"orientation", "cell", "scale"} - set(wanted):
        raise ValueError(f"orientation, cell and scale are always refined, and {', '.join(sorted(missing))} is not among "
                         "the parameters; restrain= keeps one where it is")
    check_run(out, resume, shard)
    part, parts = shard
    ranks = comm if comm is not None and comm.Get_size() > 1 else None
    if ranks and workers is not None:
        raise ValueError("ranks work in one process each; leave out workers=")
    further = [p for p in wanted if p not in ("orientation", "cell", "scale")]
    stills = ListedStills(flags, experiments, reflections, images, gain, offset, system)
    how = {"further": further, "system": system, "readout": readout / gain, "restrain": dict(restrain or {}), "margin": margin, "method": method}
    ShotFit(**how)  # refuses what cannot be
    whole = first_simulator(stills, say)
    sigmas(restrain or {}, OrientedCell(whole["reciprocal_matrix"] / METRES, system), further)
    for name in further:
        whole._members(name)
    shot = functools.partial(_one, stills=stills, how=how)
    numbers = range(part, len(stills), parts)
    if ranks and ranks.Get_rank():
        work_for_first(shot, ranks)
        return []
    claim = None if out is None else Claim(out, together=resume)
    kept = Kept(None if out is None else os.path.join(out, "finished"), resume)
    if claim:
        claim.share()  # with shards that resume
    of_all = key_of(experiments=digest(experiments), reflections=digest(reflections), flags=stills.words, gain=gain, offset=offset, how=how)
    keys = [key_of(all=of_all, index=i) for i in range(len(stills))]
    results = [result for i in numbers if (result := kept.get(keys[i])) is not None]
    known = {result.index for result in results}
    left = [i for i in numbers if i not in known]
    if workers != 1:  # shots of most pixels first: a long one that begins last would keep the others waiting
        cost = stills.counts()
        left.sort(key=lambda i: -cost[i])
    for done, result in enumerate(dealt(shot, left, ranks) if ranks else each(shot, left, workers, lambda index, why: Result(index, "rejected", why)), 1):
        results.append(result)
        kept.put(keys[result.index], result)
        if progress:
            progress(result, len(left) - done)
    results.sort(key=lambda r: r.index)
    if out is not None:
        write(out, results, stills)
        claim.release()
    return results


def _one(index, *, stills, how):
    try:
        stills.check(index)
        return refine_shot(index, functools.partial(stills.simulator, index), stills.image(index), *stills.reflections(index),
                           observed=stills.observed(index), trusted=stills.trusted(index), **how)
    except Exception as error:  # whatever it is, it costs this shot alone
        return Result(index, "rejected", reason(error))


def write(out, results, stills, panels=None, title=None, before=()):
    """Writes refined.expt and refined.refl with the refined shots, and shots.csv and report.html
    with all.

    panels: corners (m) and axes of the refined panels, or None. title: of the report; before: parts
    of it, as HTML, that come first.
    """
    os.makedirs(out, exist_ok=True)
    good = [r for r in results if r.status == "refined"]
    if good:
        _files.write_experiments(os.path.join(out, "refined.expt"), stills.listed, {r.index: r.matrix for r in good},
                                 panels, stills.path)
        _files.write_reflections(os.path.join(out, "refined.refl"), _refined_table(good, stills))
    _report.write_table(os.path.join(out, "shots.csv"), _report.rows(results))
    _report.write(os.path.join(out, "report.html"), results, title, before)


def _refined_table(good, stills):
    """The reflection table of the refined shots, with predicted positions, and photons of data and
    model."""
    table = stills.table
    rows = numpy.concatenate([stills.rows(result.index)[result.spots["box"]] for result in good])
    columns = {name: column[rows] for name, column in table.items()}
    z = numpy.zeros(len(rows)) if "xyzcal.px" not in columns else columns["xyzcal.px"][:, 2]
    predicted = numpy.concatenate([r.spots["predicted"] for r in good])
    columns["xyzcal.px"] = numpy.column_stack([predicted, z])
    columns.pop("xyzcal.mm", None)  # it is that of the crystal before
    columns.pop("delpsical.rad", None)
    columns.pop("s1", None)
    columns["intensity.sum.value"] = numpy.concatenate([r.spots["data"] for r in good])
    columns["intensity.sum.variance"] = numpy.concatenate([r.spots["variance"] for r in good])
    columns["intensity.model"] = numpy.concatenate([r.spots["model"] for r in good])
    return columns
