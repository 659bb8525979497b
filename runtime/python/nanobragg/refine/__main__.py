"""nb-refine: refines the crystals of stills and sweeps, and what they share."""

import collections
import math
import os
import sys
import time
import warnings

from .._errors import FileError, FlagError, Warning, printable
from ..simulate import launched, world


def main(words=None):
    try:
        from ._commands import named, parser
    except ImportError as error:
        print(f"nb-refine: error: {error}", file=sys.stderr)
        return 1
    words = list(sys.argv[1:] if words is None else words)
    warnings.showwarning = lambda message, *_, **__: print(f"nb-refine: warning: {printable(message)}", file=sys.stderr)
    warnings.simplefilter("always", Warning, append=True)  # after the package's own filter
    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, about numbers that a fit tries
    words, meant = named(words)
    if meant:
        warnings.warn(f"nb-refine without a command is deprecated; write nb-refine {meant} ... (nb-refine --help lists the commands)", Warning,
                      stacklevel=2)
    cut = words.index("--") if "--" in words else len(words)
    given, flags = parser().parse_args(words[:cut]), words[cut + 1:]
    if flags and given.command not in ("stills", "shared"):
        print(f"nb-refine: error: flags of nb-sim ({printable(flags[0])} ...) have no effect on nb-refine {given.command}; leave them out",
              file=sys.stderr)
        return 1
    comm = _communicator(getattr(given, "shard", (0, 1)) != (0, 1))
    try:
        given.noise = given.gain is not None or given.offset != 0 or getattr(given, "readout", 0) != 0
        given.gain = 1.0 if given.gain is None else given.gain
        if given.command in ("stills", "shared", "sweep"):
            return _of_dials(given, flags, comm)
        if comm is not None and (given.command == "laue" or given.workers is not None):
            raise ValueError("under mpirun or srun each rank of nb-refine index is a worker; leave out --workers" if given.command == "index"
                             else "nb-refine laue does not run on ranks; start it without mpirun or srun, and give --workers")
        return _index(given, comm) if given.command == "index" else _laue(given)
    except (FileError, FlagError, ValueError, ImportError, OSError, RuntimeError, MemoryError) as error:
        if comm is not None and comm.Get_rank():
            time.sleep(1)  # an error on all ranks the first one tells, and ends them
        plain = isinstance(error, OSError) and not isinstance(error, FileError) and error.filename
        print(f"nb-refine: error: {printable(f'{error.filename}: {error.strerror}' if plain else error)}", file=sys.stderr,
              flush=True)
        if comm is not None:
            comm.Abort(1)  # the other ranks would wait for this one
        return 1


def _of_dials(given, flags, comm):
    if len(given.files) != 2:
        raise ValueError("give an experiment list (.expt) and its reflection table (.refl); images are read by nb-refine index")
    given.experiments, given.reflections = given.files
    if given.command == "shared":
        return _shared(given, flags, comm)
    from .sweeps import are_sweeps
    if are_sweeps(given.experiments) != (given.command == "sweep"):
        raise ValueError(f"{given.experiments}: " + ("has no rotation scan; write nb-refine stills" if given.command == "sweep" else
                                                     "has rotation scans; write nb-refine sweep"))
    if given.command == "sweep":
        return _sweeps(given)
    if comm is not None and (given.workers is not None or given.shard != (0, 1)):
        raise ValueError("--workers and --shard have no effect under mpirun or srun: each rank is a worker")
    return _stills(given, flags, comm)


def _communicator(sharded):
    """The communicator of mpi4py under a launcher of several ranks, else None. sharded: they may do
    without."""
    if not launched():
        return None
    try:
        return world()
    except (ImportError, RuntimeError) as error:
        if sharded:
            return None
        if isinstance(error, ImportError):
            error = "several ranks need mpi4py: pip install mpi4py, with the MPI of the launcher"
        raise SystemExit(f"nb-refine: error: {error}") from None


def _print(sentence):
    """Prints a line. Whoever stops to read does not stop the work."""
    try:
        print(printable(sentence), flush=True)
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")


_INDEXING = ("look whether wavelength, distance and beam centre of the images are right (--geometry=FILE.expt replaces them), and whether "
             "the cell of --model is this crystal's")


def _counted(results, status, given, spots):
    """Prints how many results have a status, and where none has, what to do. The exit status.
    spots: whether any were found."""
    good = sum(one.status == status for one in results)
    _print(f"{good} of {len(results)} images {status}; {given.out}/report.html shows them")
    if good:
        return 0
    reasons = collections.Counter(one.why for one in results)
    why, count = reasons.most_common(1)[0]
    _print(f"no image is {status}{f', {count} of them because' if len(results) > 1 else ', because'} {why}{f'; {_INDEXING}' if spots else ''}")
    return 1


def _unless_good(result):
    """The verdict on a result for the end of a line."""
    word, why = result.verdict
    return "" if word == "good" else f"; {word}: {why}"


def _say(sentence):
    _print(f"nb-refine: {sentence}")


class _Progress:
    """How many of a number of images or shots are done, and in what time the others may be."""

    _SOON, _PAUSE = 20.0, 10.0  # seconds left that are not said, and between lines

    def __init__(self, count=0, of="images"):
        self.count, self.of, self.done = count, of, 0
        self.begin = self.said = time.monotonic()

    def step(self):
        """Counts one more. Returns '3 of 7 images, 2 min left'."""
        self.done += 1
        left = (time.monotonic() - self.begin) / self.done * (self.count - self.done)
        text = f"{left / 3600:.1f} h" if left > 5400 else f"{left / 60:.0f} min" if left > 90 else f"{left:.0f} s"
        return f"{self.done} of {self.count} {self.of}{f', {text} left' if left > self._SOON else ''}"

    def due(self):
        """Whether a line is due, where not each has one of its own."""
        late = time.monotonic() - self.said > self._PAUSE
        if late:
            self.said = time.monotonic()
        return late


def _shared(given, flags, comm):
    def show(step):
        if step["seconds"]:
            _print(f"step {step['step']}: {step['value']:.9g}, {step['seconds']:.2f} s")
        else:
            _print(f"round {step['round']}: {step['value']:.9g}")

    from . import shared
    if not given.parameters:
        raise ValueError("--parameters names none that all stills share; write --parameters=structure_factors, for example")
    result = shared(flags, given.experiments, given.reflections, parameters=given.parameters, system=given.system,
                    space_group=given.space_group, anomalous=given.anomalous, panel_groups=given.panel_groups,
                    gain=given.gain, offset=given.offset, readout=given.readout, margin=given.margin,
                    restrain=dict(given.restrain), rounds=given.rounds, steps=given.steps, comm=comm, out=given.out,
                    resume=given.resume, progress=show, say=_say)
    if result.shots:
        good = sum(r.status == "refined" for r in result.shots)
        for r in result.shots:
            if r.status != "refined":
                _print(f"shot {r.index}: rejected: {r.why}")
        _print(f"{good} of {len(result.shots)} shots refined together; {given.out}/report.html shows them")
    return 0


def _response(given):
    from ._response import Response
    return Response(None if given.psf is None else Response.psf_of(given.psf), given.dead_time)


def _index(given, comm):
    from . import index
    from ._explain import MOST_SETS
    from ._lattices import MOST_LATTICES
    if given.test and given.shared is None:
        raise ValueError("--test needs --shared=structure_factors")
    part, parts = given.shard
    count = len(range(part, len(given.files), parts))
    if comm is None or not comm.Get_rank():
        _print(f"searching spots in {count} image{'s' * (count != 1)}")
    stills = index(given.files, given.model, workers=given.workers, out=given.out, resume=given.resume, shard=given.shard, comm=comm,
                               watch=_watch(given, count),
                               pixels=not given.positions_only, held=given.fix, restrain=dict(given.restrain),
                               sets=MOST_SETS if given.sets is None else given.sets,
                               lattices=MOST_LATTICES if given.lattices is None else given.lattices,
                               factors=given.shared is not None, tested=given.test, geometry=given.geometry, noise=_noise(given),
                               response=_response(given), chain=given.chain, full=given.full_intensities)
    if comm is not None and comm.Get_rank():
        return 0  # the first rank says what became of them
    if parts > 1:
        indexed = [still for still in stills if still.status == "indexed"]
        _print(f"{len(indexed)} of {len(stills)} images of shard {part}/{parts} indexed, the pixels of {sum(s.explained is not None for s in indexed)} "
               f"explained; when all shards have them, the same command with --resume and without --shard writes the results to {given.out}")
        return 0
    turns = [still.turn for still in stills if still.turn]
    for still in stills:
        if still.turn:
            x, y, z = still.turn.axis
            _print(f"{still.image}: turned by {still.turn.angle:.4f} +- {still.turn.sigma:.4f} degrees about {x:.4f} {y:.4f} {z:.4f}")
    if turns:
        angles = [turn.angle for turn in turns]
        _print(f"turned from each still to the next by {sum(angles) / len(angles):.4f} degrees in the mean, {min(angles):.4f} to {max(angles):.4f}")
    return _counted(stills, "indexed", given, any(still.spots for still in stills))


def _watch(given, count):
    """Prints how far nb-refine index is with so many images."""
    from .index import Watch

    class Lines(Watch):
        def __init__(self):
            self.searched, self.explained, self.described, self.good = _Progress(count), _Progress(count), set(), 0

        def found(self, still):
            if (lines := still.described(given.noise)) and lines[0] not in self.described:
                self.described.add(lines[0])
                for line in (f"{still.image}:", *(f"  {line}" for line in lines)):
                    _print(line)
            self.good += still.status == "indexed"
            how_far = self.searched.step()
            if given.positions_only:
                return
            fitted = self.searched.done == count and self.good and given.shard[1] == 1
            if fitted or self.searched.due():
                _print(f"spots of {how_far} were searched; {self.good} are indexed"
                       f"{'; now pixels are fitted (a first run compiles kernels for half a minute)' if fitted else ''}")

        def done(self, still):
            counts = [str(one.indexed.sum()) for one in still.lattices]
            several = f" by {len(counts)} lattices ({', '.join(counts)})" if len(counts) > 1 else ""
            chi2 = f", chi-square {still.explained.chi2:.3g} per pixel" if still.explained else ""
            text = (f"{still.indexed} of {still.spots} spots indexed{several}, {still.rms_px:.2f} pixels from their reflections, distance "
                    f"{still.distance_mm:.2f} mm{chi2}" if still.status == "indexed" else f"rejected: {still.why}")
            _print(f"{still.image}: {text} ({still.seconds:.2f} s, {self.explained.step()})")

        def say(self, sentence):
            _say(sentence)

    return Lines()


def _noise(given):
    """Gain and zero where they are given."""
    gain, offset, readout = given.gain, given.offset, given.readout
    if not 0 < gain < float("inf"):
        raise ValueError(f"--gain is {gain}; it has to be greater than 0, and finite")
    if not math.isfinite(offset):
        raise ValueError(f"--offset is {offset}; it has to be finite")
    return (gain, offset - readout**2 / gain) if given.noise else None


def _laue(given):
    progress = _Progress(len(given.files))

    def show(still):
        counts = [str(len(crystal.spot)) for crystal in still.crystals]
        several = f" by {len(counts)} crystals ({', '.join(counts)})" if len(counts) > 1 else ""
        text = (f"{still.indexed} of {len(still.at)} spots indexed{several}, {still.rms_px:.2f} pixels from their reflections, distance "
                f"{still.fit.camera.distance:.2f} mm{_unless_good(still)}" if still.status == "indexed" else f"rejected: {still.why}")
        _print(f"{still.image}: {text} ({still.seconds:.2f} s, {progress.step()})")

    from ._lattices import MOST_LATTICES
    from .laue import laue
    stills = laue(given.files, given.model, given.energies, geometry=given.geometry,
                  lattices=MOST_LATTICES if given.lattices is None else given.lattices, held=given.fix, restrain=dict(given.restrain),
                  noise=_noise(given), workers=given.workers, out=given.out, progress=show)
    return _counted(stills, "indexed", given, any(still.at is not None for still in stills))


def _sweeps(given):
    def show(sweep):
        axis = "its axis held" if sweep.axis_unsure else f"its axis by {sweep.axis_turned:.4f}"
        sums = f", {sweep.sums:.3f} of the table's photons" if sweep.sums == sweep.sums else ""
        text = (f"rotated by {sweep.turned:.4f} degrees, {axis}, chi-square {sweep.chi2_poisson:.3g} per pixel of {sweep.bright} "
                f"reflections above 10 sigmas ({sweep.chi2:.3g} where no variance is below one photon){sums}{_unless_good(sweep)}"
                if sweep.status == "refined" else f"rejected: {sweep.why}")
        _print(f"sweep {sweep.index}: {text} ({sweep.seconds:.2f} s)")

    from .sweeps import MOST_SETS, sweeps
    found = sweeps(given.experiments, given.reflections, system=given.system, margin=given.margin, gain=given.gain,
                   offset=given.offset, held=given.fix, restrain=dict(given.restrain),
                   sets=MOST_SETS if given.sets is None else given.sets, response=_response(given), out=given.out, progress=show)
    good = sum(sweep.status == "refined" for sweep in found)
    _print(f"{good} of {len(found)} sweeps refined; {given.out}/report.html shows them")
    return 0 if good else 1


def _stills(given, flags, comm):
    progress = _Progress(of="shots")

    def show(result, left):
        progress.count = progress.done + 1 + left
        text = (f"rotated by {result.rotation:.4f} degrees, chi-square {result.chi2:.3g} per pixel"
                if result.status == "refined" else f"rejected: {result.why}")
        _print(f"shot {result.index}: {text} ({result.seconds:.2f} s, {progress.step()})")

    from . import shots
    more = {"parameters": given.parameters} if given.parameters else {}
    results = shots(flags, given.experiments, given.reflections, system=given.system,
                    gain=given.gain, offset=given.offset, readout=given.readout, margin=given.margin,
                    restrain=dict(given.restrain), workers=given.workers, shard=given.shard, method=given.method,
                    comm=comm, resume=given.resume, out=given.out, progress=show, say=_say, **more)
    if comm is not None and comm.Get_rank():
        return 0  # the first rank says what became of them
    good = sum(r.status == "refined" for r in results)
    _print(f"{good} of {len(results)} shots refined; {given.out}/report.html shows them")
    return 0 if good or not results else 1


if __name__ == "__main__":
    sys.exit(main())
