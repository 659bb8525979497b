"""The refinement of parameters that many shots share."""

import dataclasses
import os
import time

import numpy

from .. import _core
from .._arrays import distinct
from .._errors import DATA_ERRORS, Rejected, reason
from . import _files, _report
from ._amplitudes import AmplitudeRestraints, Amplitudes
from ._claim import Claim
from ._common import Common, Factors, PanelGroups, groups_of
from ._crystal import OrientedCell, strains_of
from ._dealing import check_run
from ._descent import Descent
from ._joint import Joint
from ._ranks import Ranks
from ._files import digest
from ._kept import Kept, key_of
from ._shot import METRES, Result, ShotFit, first_simulator, shoeboxes_of, sigmas, wavelength_of
from ._listed_stills import ListedStills
from ._term import Point, Shared, Term, give_memory_back
from ._threads import one_blas_thread
from .shots import write as write_shots

_WELL_KNOWN = 100  # curvature of log F: to 0.1
_KEPT_FUNCTIONS = 1 << 28  # bytes of the compiled functions of a rank that are kept between steps; others are made again


@dataclasses.dataclass
class SharedResult:
    """The result of shared(). On ranks other than the first, ``shots`` and ``steps`` are empty.

    Structure factors have a row each: ``hkl`` in the asymmetric unit, ``mate`` (1 for F-, otherwise
    0), ``F``, its ``sigma`` and its ``start`` (electrons), and ``seen``, the number of shots that
    contribute to it.
    """

    hkl: numpy.ndarray = None
    mate: numpy.ndarray = None
    F: numpy.ndarray = None
    sigma: numpy.ndarray = None
    start: numpy.ndarray = None
    seen: numpy.ndarray = None
    structure_factors: tuple = None  # as Simulator.structure_factors takes them
    # Factors of parameters, and motions of panel groups (rad, m), by name: (value, sigma).
    values: dict = dataclasses.field(default_factory=dict)
    panels: tuple = None  # corners (m) and axes of all panels
    shots: list = dataclasses.field(default_factory=list, repr=False)
    steps: list = dataclasses.field(default_factory=list, repr=False)  # dictionaries


@one_blas_thread
def shared(flags, experiments, reflections, *, parameters=("structure_factors",), images=None, system="triclinic",
           space_group=None, anomalous=False, panel_groups="each", gain=1.0, offset=0.0, readout=0.0, restrain=None,
           margin=2, rounds=3, steps=20, tolerance=1e-6, comm=None, out=None, resume=False, progress=None, say=None):
    """Refines parameters that the shots of an experiment list share, together with orientation,
    cell and scale of each shot.

    The shots should have been refined by ``shots``: pass its refined.expt and refined.refl.

    ``flags``, ``experiments``, ``reflections``, ``images``, ``system``, ``gain``, ``offset``, ``readout``, ``margin``
        As in ``shots``.
    ``parameters``
        "structure_factors", of the grid that -hkl gives; "panels", rigid motions of groups of
        panels; "spectrum", a factor for each source; and names that are refined by one factor,
        such as "mosaic_spread".
    ``space_group``
        Reflections that it makes equivalent share a structure factor; None: that of the experiment
        list.
    ``anomalous``
        Whether Friedel mates are refined separately.
    ``panel_groups``
        "each", "all", "hierarchy", or a file of lines "panel group".
    ``restrain``
        {name: sigma}, restraints to the start: "structure_factors": log F (0.5); "panels":
        (degrees (0.2), mm (0.2)); "spectrum" and other names: logarithm (1); "orientation":
        degrees; "cell": fraction; "scale": logarithm. Two names restrain structure factors to each
        other: "friedel": log F+ - log F-; "shells": log F from the mean of its shell of resolution.
    ``rounds``, ``steps``, ``tolerance``
        Number of rounds. Each computes weights and units anew, and takes at most ``steps`` steps
        of L-BFGS. It ends when the mean change of the value in two steps is below ``tolerance``
        times the value.
    ``comm``
        An mpi4py communicator: all ranks call this, and each has some of the shots; None: one
        process.
    ``out``
        A folder for tables, structure_factors.mtz, refined.expt and refined.refl; its subfolder
        finished/ stores the state after each step.
    ``resume``
        Continues from the last step of a run with the same files and arguments, if there is one,
        on any number of ranks.
    ``progress``, ``say``
        Are called on the first rank: ``progress`` after each step with a dictionary, ``say`` with
        messages.

    Returns a SharedResult. Results are the same to the last bit for any number of ranks on machines
    of one kind.
    """
    check_run(out, resume)
    wanted = [p.strip() for p in (parameters.split(",") if isinstance(parameters, str) else parameters)]
    if not wanted or len(set(wanted)) != len(wanted):
        raise ValueError("parameters names what is refined, each once: structure_factors, panels, spectrum, "
                         "mosaic_spread ...")
    if rounds < 1 or steps < 1:
        raise ValueError(f"rounds is {rounds} and steps {steps}; both have to be 1 at least")
    restrain = dict(restrain or {})
    stills = ListedStills(flags, experiments, reflections, images, gain, offset, system)
    how = ShotFit(system=system, readout=readout / gain, margin=margin, restrain=restrain)
    ranks = Ranks(comm, stills.counts() + 1e-3)
    model, restraints = _shared_numbers(stills, wanted, restrain, space_group, anomalous, panel_groups,
                                        say if ranks.first else None)
    key = key_of(experiments=digest(experiments), reflections=digest(reflections), flags=stills.words, parameters=wanted, space_group=space_group,
                 anomalous=anomalous, panel_groups=panel_groups, gain=gain, offset=offset, how=how)
    run = _Run(stills, model, restraints, ranks, how)
    run.load()
    checkpoint = _Checkpoint(out, key, ranks, resume) if out is not None else None
    run.refine(rounds, steps, tolerance, checkpoint, checkpoint.read() if resume else None, progress)
    result = run.result()
    if out is not None and ranks.first:
        _write(out, result, run, stills)
        checkpoint.claim.release()
    return result


def _shared_numbers(stills, wanted, restrain, space_group, anomalous, panel_groups, say=None):
    """The Shared numbers, and the restraints of structure factors or None."""
    sim = first_simulator(stills, say)
    parts, part_sigmas, amplitudes, restraints = [], [], None, None
    for name in wanted:
        if name == "structure_factors":
            if sim.structure_factors is None:
                raise ValueError("structure factors are refined from a grid of them, and the flags give none: "
                                 "add -hkl FILE")
            group = space_group or _group_of(stills)
            amplitudes = Amplitudes(*sim.structure_factors, group, anomalous)
            if not amplitudes.size:
                raise ValueError("there is no structure factor above 0 to refine; add -hkl FILE with some")
            restraints = AmplitudeRestraints(amplitudes, restrain.get("structure_factors", 0.5),
                                             restrain.get("friedel", numpy.inf), restrain.get("shells", numpy.inf),
                                             amplitudes.lengths(sim["reciprocal_matrix"] / METRES))
        elif name == "panels":
            detectors = {e["detector"] for e in stills.listed["experiment"]}
            if len(detectors) > 1:
                raise ValueError(f"{stills.path}: has {len(detectors)} detectors, and panels are refined of one; split the "
                                 "list by detector")
            parts.append(PanelGroups(sim, groups_of(panel_groups, stills.detector(0))))
            try:
                degrees, millimetres = restrain.get("panels", (0.2, 0.2))
            except TypeError:
                raise ValueError("panels are restrained by two sigmas, (degrees, mm)") from None
            motion = numpy.repeat([numpy.radians(degrees), millimetres * 1e-3], 3)
            part_sigmas.append(numpy.tile(motion, len(parts[-1].groups)))
        else:
            parts.append(Factors(sim, name))
            part_sigmas.append(restrain.get(name, 1.0))
    known = {"structure_factors", "friedel", "shells", "orientation", "cell", "scale", *wanted}
    if unknown := set(restrain) - known:
        raise ValueError(f"restraints are of {', '.join(sorted(known))}, not of {', '.join(sorted(unknown))}")
    return Shared(Common(parts, part_sigmas), amplitudes), restraints


def _group_of(stills):
    experiment = stills.listed["experiment"][0]
    try:
        return stills.listed["crystal"][experiment["crystal"]]["space_group_hall_symbol"]
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"{stills.path}: its crystal has no space group; give space_group=, P1 if there is none") from None


class _Run:
    """The refinement of the shots of a rank."""

    def __init__(self, stills, model, restraints, ranks, how):
        """how: a ShotFit."""
        self.stills, self.model, self.ranks, self.restraints, self.how = stills, model, ranks, restraints, how
        self.rejected, self.steps = {}, []

    def load(self):
        """Reads shots and their scales; those that cannot be refined are left out, with the reason.
        """
        start = numpy.zeros(self.model.size)
        point = Point(self.model, start)
        terms, own, squares, kept = [], [], [], 0
        for index in range(self.ranks.begin, self.ranks.end):
            give_memory_back()
            try:
                term = self._term(index)
                x = term.start_scale(numpy.zeros(term.size), point)
                term.weigh(x, point, cautious=True)
                chi2 = 2 * term.value_and_gradient(x, point)[0] / len(term.boxes.data)
            except DATA_ERRORS as error:
                self.rejected[index] = reason(error)
                terms.append(None)
                own.append(None)
                squares.append(numpy.nan)
                continue
            kept += term.function_bytes(point)
            if kept <= _KEPT_FUNCTIONS:
                term.keep_function(point)
            terms.append(term)
            own.append(x)
            squares.append(chi2)
        self._reject_those_far_off(terms, squares)
        size = 4 + len(strains_of(self.how.system))
        own = numpy.array([numpy.zeros(size) if term is None else x for term, x in zip(terms, own)])
        own = own.reshape(len(terms), size)
        refused = self.ranks.collected(self.rejected.items())
        if self.ranks.given(numpy.array([float(self.ranks.first and len(refused) == len(self.stills))]))[0]:
            why = next(iter(self.rejected.values()), "see the first rank")
            raise ValueError(f"none of the {len(self.stills)} shots can be refined; the first: {why}")
        self.joint = Joint(self.ranks, terms, self.model, self.restraints, start, own)

    def _reject_those_far_off(self, terms, squares):
        """Rejects shots with a chi-square far above that of the others. (At the start it may be
        large for all.)"""
        collected = self.ranks.collected(squares)
        limit = None
        if self.ranks.first:
            known = [s for s in collected if numpy.isfinite(s)]
            limit = numpy.array([max(100.0, 20 * numpy.median(known)) if known else numpy.inf])
        limit = float(self.ranks.given(limit)[0])
        for i, chi2 in enumerate(squares):
            if chi2 > limit:
                terms[i] = None
                self.rejected[self.ranks.begin + i] = (f"the model does not explain the pixels: chi-square is {chi2:.3g} for "
                                                       f"each, and {limit:.3g} is the limit among these shots")

    def _term(self, index):
        hkl, panel, boxes = self.stills.reflections(index)
        if len(hkl) == 0:
            raise Rejected("it has no reflections; index it first")
        self.stills.check(index)
        whole = self.stills.simulator(index)
        shoeboxes = shoeboxes_of(whole, self.stills.image(index), boxes, panel, self.stills.trusted(index), self.how.margin)
        own = {k: v for k, v in self.how.restrain.items() if k in ("orientation", "cell", "scale")}
        cell = OrientedCell(whole["reciprocal_matrix"] / METRES, self.how.system)
        return Term(index, whole, shoeboxes, (hkl, panel), (cell, sigmas(own, cell, ())), self.model, self.how.readout)

    def refine(self, rounds, steps, tolerance, checkpoint, before, progress):
        first = 0
        if before is not None:
            first, self.steps = before["round"], before["steps"]
            self.joint.start, self.joint.own = before["start"], before["own"]
        for number in range(first, max(rounds, first + 1)):
            if before is None:
                self.joint.start = self._without_lost(self.joint.start)
            self.joint.turn(cautious=number < 2)
            if before is not None:
                descent = Descent.restored(self.ranks, self.joint, before["shared"], before["descent"])
                before = None
            else:
                descent = Descent(self.ranks, self.joint, numpy.zeros(self.model.size), numpy.zeros_like(self.joint.own))
                self._note(number, descent, 0.0, 0.0, progress)
                if checkpoint:
                    checkpoint.write(number, self, descent)
            while descent.steps < steps and not self._settled(number, tolerance):
                begin, busy = time.perf_counter(), self._busy()
                moved = descent.step()
                self._note(number, descent, time.perf_counter() - begin, self._busy() - busy, progress)
                if checkpoint:
                    checkpoint.write(number, self, descent)
                if not moved:
                    break
            self.joint.own = self.joint.own_at(descent.shared, descent.own)
            self.joint.start = self.joint.shared_at(descent.shared)

    def _without_lost(self, shared):
        """Sets structure factors that fell below 1/4 of their start to this value. Where F is
        almost 0, the gradient with respect to log F is, too, so one that a long step has made too
        small would not recover."""
        p, factors = self.model.split(shared)
        if self.model.amplitudes:
            factors = numpy.maximum(factors, self.model.amplitudes.numbers(-numpy.log(4)))
        return numpy.concatenate([p, factors])

    def _busy(self):
        """Seconds in images and gradients on this rank."""
        return sum(term.seconds for term in self.joint.terms if term)

    def _note(self, number, descent, seconds, busy, progress):
        self.steps.append({"step": len(self.steps), "round": number, "value": descent.value,
                           "gradient": float(numpy.sqrt(max(descent.squared, 0))), "evaluations": descent.evaluations,
                           "seconds": seconds, "seconds_in_gradients": busy})
        if progress and self.ranks.first:
            progress(self.steps[-1])

    def _settled(self, number, tolerance):
        values = [s["value"] for s in self.steps if s["round"] == number][-3:]
        return len(values) == 3 and abs(values[0] - values[2]) < 2 * tolerance * abs(values[2])

    def result(self):
        joint, model = self.joint, self.model
        metrics, curvature, amplitudes, seen = joint.curvature(projected=True)
        if model.amplitudes and "scale" not in self.how.restrain:
            joint.rescale(seen > 0, (seen > 0) & (amplitudes > _WELL_KNOWN))
        point = Point(model, joint.start)
        covariance = numpy.linalg.pinv(curvature)
        result = SharedResult()
        sigma = numpy.sqrt(numpy.maximum(numpy.diag(covariance), 0))
        result.values = {label: (float(v), float(s)) if label.startswith("panels ") else
                         (float(numpy.exp(v)), float(numpy.exp(v) * s))
                         for label, v, s in zip(model.common.labels, point.p, sigma)}
        places = None
        for part, span in zip(model.common.parts, model.common.spans):
            if part.name == "panels":
                result.panels = places = part.placed(point.p[span])
        if model.amplitudes:
            units = model.amplitudes
            result.hkl, result.mate, result.start, result.seen = units.hkl, units.mate, units.start, seen.astype(int)
            result.F = units.start * numpy.exp(point.logarithms)
            result.sigma = result.F / numpy.sqrt(numpy.maximum(amplitudes, 1e-30))
            result.structure_factors = point.grid, tuple(int(v) for v in units.lowest)
        for term, x, metric in zip(joint.terms, joint.own, metrics):
            if term:
                metric.own = term.own_curvature(x, point, metric, amplitudes)
        shots = [Result(term_index, "rejected", why) for term_index, why in self.rejected.items()]
        shots += [term.result(x, point, metric, covariance, places)
                  for term, x, metric in zip(joint.terms, joint.own, metrics) if term]
        collected = self.ranks.collected(shots)
        if self.ranks.first:
            result.shots = sorted(collected, key=lambda r: r.index)
            result.steps = self.steps
        return result


class _Checkpoint:
    """The state of a refinement after a step, in out/finished. It can be read on another number of
    ranks."""

    def __init__(self, out, key, ranks, resume):
        self.key, self.ranks = key, ranks
        self.claim = Claim(out) if ranks.first else None
        self.kept = Kept(os.path.join(out, "finished"), resume or not ranks.first)

    def write(self, number, run, descent):
        shared, own = descent.state()
        own = self.ranks.collected(zip(own, run.joint.own))
        if self.ranks.first:
            self.kept.put(self.key, {"round": number, "start": run.joint.start, "own": numpy.array([x for _, x in own]),
                                     "descent": numpy.array([rows for rows, _ in own]), "steps": run.steps, "shared": shared})

    def read(self):
        """The state that was written last, for the shots of this rank, or None."""
        state, here = self.kept.get(self.key), slice(self.ranks.begin, self.ranks.end)
        return state and state | {"own": state["own"][here], "descent": state["descent"][here]}


def _write(out, result, run, stills):
    refined = [r for r in result.shots if r.status == "refined"]
    steps = result.steps
    _report.write_table(os.path.join(out, "steps.csv"), [list(steps[0]), *(list(s.values()) for s in steps)])
    before = ["<h2>Convergence</h2>", _report.curve([(s["step"], numpy.log10(1 + s["gradient"])) for s in steps],
                                                    label="log10(1 + gradient), in units of the curvature; step")]
    lines = [["name", "value", "sigma"], *([name, f"{v:.9g}", f"{s:.3g}"] for name, (v, s) in result.values.items())]
    if result.values:
        _report.write_table(os.path.join(out, "common.csv"), lines)
        before += ["<h2>Shared by all shots</h2><p>Factors of what the flags say; motions of panels in rad and m.</p>",
                   _report.table(*_head(lines))]
    if result.hkl is not None:
        head = ["h", "k", "l", "mate", "F", "sigma", "start", "shots"]
        rows = zip(*result.hkl.T, result.mate, result.F, result.sigma, result.start, result.seen)
        rows = ([h, k, l, m, f"{F:.6g}", f"{s:.3g}", f"{a:.6g}", n] for h, k, l, m, F, s, a, n in rows)
        _report.write_table(os.path.join(out, "structure_factors.csv"), [head, *rows])
        sim = first_simulator(stills)
        cell = numpy.median([r.cell for r in refined], axis=0)
        _files.write_file(os.path.join(out, "structure_factors.mtz"), _mtz(result, run.model.amplitudes, cell,
                                                                           wavelength_of(sim) * 1e10))
        resolution = run.model.amplitudes.lengths(refined[0].matrix)
        change = abs(numpy.log(result.F / result.start))
        before += ["<h2>Structure factors</h2><p>Sigmas and changes are those of reflections that a shot has seen.</p>",
                   _report.table(["d (Å)", "reflections", "seen", "shots for each, mean", "sigma of log F, median",
                                  "change of log F, mean"],
                                 _by_resolution(resolution**2, result.seen, result.sigma / result.F, change))]
    write_shots(out, result.shots, stills, result.panels,
                f"{len(refined)} of {len(result.shots)} shots refined together, in {steps[-1]['step']} steps", before)


def _head(lines):
    return lines[0], lines[1:]


def _by_resolution(x, seen, sigma, change, bins=15):
    for part in numpy.array_split(numpy.argsort(x), min(bins, len(x))):
        known = part[seen[part] > 0]
        means = (f"{numpy.median(sigma[known]):.3g}", f"{change[known].mean():.3g}") if len(known) else ("", "")
        yield f"{x[part].mean()**-0.5:.3f}", len(part), len(known), f"{seen[part].mean():.2f}", *means


def _mtz(result, amplitudes, cell, wavelength):
    """An MTZ file: F, its sigma and start, and the number of shots; or F+, F- and their sigmas."""
    columns = [("F", "F"), ("SIGF", "Q"), ("F_start", "F"), ("shots", "I")]
    numbers = numpy.column_stack([result.F, result.sigma, result.start, result.seen])
    hkl = result.hkl
    if amplitudes.anomalous:
        columns = [("F(+)", "G"), ("SIGF(+)", "L"), ("F(-)", "G"), ("SIGF(-)", "L")]
        hkl, _, row = distinct(result.hkl)
        both = numpy.full((len(hkl), 4), numpy.nan)
        both[row[result.mate == 0], :2] = numbers[result.mate == 0, :2]
        both[row[result.mate == 1], 2:] = numbers[result.mate == 1, :2]
        centric = numpy.zeros(len(hkl), bool)
        centric[row] = amplitudes.centric
        both[centric, 2:] = both[centric, :2]
        numbers = both
    return _core.mtz(amplitudes.space_group, [float(v) for v in cell], float(wavelength), columns,
                     numpy.column_stack([hkl, numbers]))
