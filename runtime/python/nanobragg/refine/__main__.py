"""nb-refine: refines the crystals of stills, and what they share."""

import argparse
import collections
import difflib
import os
import sys
import time
import warnings

from .. import _core
from .._errors import FileError, FlagError, Warning, printable
from ..simulate import launched, world


def _shard(text):
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a part of the shots; write 0/4 for the first of four")
    return int(part), int(parts)


def _energies(text):
    try:
        low, high = map(float, text.split(","))
        return low, high
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range of energies; write 5,27 (keV)") from None


def _restraint(text):
    name, equals, sigma = text.partition("=")
    try:
        if name == "panels":
            degrees, millimetres = sigma.split(":")
            return name, (float(degrees), float(millimetres))
        return name, float(sigma)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a restraint; write cell=0.01, or panels=0.1:0.2 (degrees:mm)"
                                         ) from None


class _Parser(argparse.ArgumentParser):
    def parse_args(self, words):
        """Refuses an unknown flag with the closest one, as nb-sim does."""
        given, unknown = self.parse_known_args(words)
        if unknown:
            flag = unknown[0].partition("=")[0]
            closest = difflib.get_close_matches(flag, self._option_string_actions, 1, 0.0)[0]
            self.error(f"unknown flag '{flag}'; the closest is '{closest}'")
        return given

    def error(self, sentence):
        self.exit(2, f"nb-refine: error: {printable(sentence)}\nnb-refine --help lists its flags\n")


def main(words=None):
    try:
        from . import CELL_SYSTEMS, METHODS
    except ImportError as error:
        print(f"nb-refine: error: {error}", file=sys.stderr)
        return 1
    parser = _Parser(
        prog="nb-refine", allow_abbrev=False, description="Refines orientation, cell and scale of stills against the pixels of their "
        "shoeboxes. Flags of nb-sim for everything that the files do not contain follow after --. With --model it reads raw "
        "images of stills. Rotation sweeps are refined over all frames together.",
        epilog="examples: nb-refine indexed.expt indexed.refl --out=refined -- -hkl 1abc.mtz -N 40 -mosaic 0.05 "
        "-mosaic_dom 25 -gauss_xtal; nb-refine still_*.cbf.bz2 --model=1abc.pdb --out=indexed")
    parser.add_argument("files", nargs="+", metavar="FILE",
                        help="an experiment list of DIALS (.expt) with one experiment per image or rotation scan, "
                        "and its reflection table (.refl); with --model, images (CBF and SMV, also .gz and .bz2, NXmx, and what fabio and dxtbx read)")
    parser.add_argument("--version", action="version", version=f"nb-refine {_core.version}", help="the version of the program")
    parser.add_argument("--model", metavar="FILE",
                        help="a PDB, mmCIF or MTZ file of this crystal form: nb-refine then finds the spots of each image, "
                        "indexes them with its cell, and fits orientation and detector, then the pixels; with --positions-only "
                        "also cell and space group alone: '48.5 48.5 63.5 90 90 90 P 41'")
    parser.add_argument("--out", default="refined", help="folder of the results (default: refined)")
    parser.add_argument("--parameters", default="orientation,cell,scale",
                        help="parameters of each still to refine (default: orientation,cell,scale). Other parameters of "
                        "nb-sim, such as mosaic_spread or ncells, are refined by a factor")
    parser.add_argument("--system", default="triclinic", choices=CELL_SYSTEMS, help="crystal system, which says what of the cell is refined: triclinic, all six numbers; "
                        "monoclinic, edges and beta; orthorhombic, edges; tetragonal and hexagonal, a = b and c; cubic, one edge "
                        "(default: triclinic)")
    parser.add_argument("--gain", type=float, help="image units per photon (default: 1; with --model, for detectors that do not "
                        "count photons, measured from the noise)")
    parser.add_argument("--offset", type=float, default=0.0, help="the image's value without photons")
    parser.add_argument("--readout", type=float, default=0.0, help="standard deviation of the read-out noise, in image units")
    parser.add_argument("--margin", type=int, default=2, help="pixels by which boxes are enlarged")
    parser.add_argument("--restrain", type=_restraint, action="append", default=[], metavar="NAME=SIGMA",
                        help="restrain a parameter to its start with this sigma: orientation (degrees), cell (fraction), scale or "
                        "a parameter (logarithm); with --model and for sweeps also distance, centre (mm), tilt, axis "
                        "(degrees), B (A^2)")
    parser.add_argument("--workers", type=int, help="processes (default: one for each processor)")
    parser.add_argument("--shard", type=_shard, default=(0, 1), metavar="I/N",
                        help="refine only every N-th shot, from shot I on; each task of a job array has its own I")
    parser.add_argument("--method", default="trust-region", choices=METHODS,
                        help="trust-region: least squares whose weights are renewed; L-BFGS-B: maximum likelihood")
    parser.add_argument("--resume", action="store_true", help="continue in --out: finished shots and images are kept, --shared continues from its checkpoint")
    together = parser.add_argument_group("shared parameters")
    together.add_argument("--shared", metavar="NAMES",
                          help="comma-separated parameters that all shots share, refined together with each shot: structure_factors, panels, "
                          "spectrum, mosaic_spread and others; under mpirun or srun on all ranks")
    together.add_argument("--space-group",
                          help="space group: reflections that it makes equivalent share a structure factor (default: the "
                          "experiment list's)")
    together.add_argument("--anomalous", action="store_true", help="refine Friedel mates separately")
    together.add_argument("--panel-groups", default="each", metavar="each|all|hierarchy|FILE",
                          help="panels that move together: each, every panel by itself; all, the detector as a whole; hierarchy, the "
                          "groups of the experiment list; FILE, lines of a panel's number and its group's (default: each)")
    together.add_argument("--rounds", type=int, default=3, help="rounds of refinement; weights and units are renewed in each (default: 3)")
    together.add_argument("--steps", type=int, default=20, help="largest number of steps in each round (default: 20)")
    photographs = parser.add_argument_group("raw images, with --model, and rotation sweeps")
    photographs.add_argument("--fix", default="", metavar="NAMES",
                             help="comma-separated parameters to hold at their start: orientation, mosaicity, scale, "
                             "divergence, size, bandwidth, distance, centre, tilt, axis, halo, cell, B, psf")
    photographs.add_argument("--psf", metavar="SHAPE:UM",
                             help="point spread of the detector: gauss or fiber, and the full width at half maximum (um) to start from "
                             "(default: none)")
    photographs.add_argument("--dead-time", type=float, default=0.0, metavar="SECONDS",
                             help="dead time of a counter whose counts are not corrected (default: 0); fitted with "
                             "--restrain dead_time=SIGMA")
    photographs.add_argument("--sets", type=int,
                             help="largest number of sets of mosaic blocks of a crystal (default: 4, for sweeps 8)")
    photographs.add_argument("--lattices", type=int,
                             help="largest number of crystals on an image, with --model (default: 3); each further one is searched "
                             "among the remaining spots")
    photographs.add_argument("--geometry", metavar="FILE.expt",
                             help="detector and wavelength of all images, instead of those in the images; of white-beam stills also a .det of "
                             "LaueTools, or its numbers: 'distance_mm xcen ycen xbet xgam pixel_mm'")
    photographs.add_argument("--energies", metavar="FROM,TO", type=_energies,
                             help="white or pink beam: the ends of its spectrum in keV, such as 5,27. Fits camera, orientation, strain and "
                             "flux curve to the spots; --fix and --restrain take orientation, strain, distance, centre, tilt, flux")
    photographs.add_argument("--chain", action="store_true",
                             help="the images are stills of one crystal that was turned from each to the next, in their order: they "
                             "share cell and detector, and the angles between them are printed")
    photographs.add_argument("--positions-only", action="store_true",
                             help="index the spots and fit their positions, not their pixels")
    photographs.add_argument("--test", default="", metavar="NUMBERS",
                             help="with --shared=structure_factors, comma-separated zero-based indices of images held out of the "
                             "refinement of F to test it")
    words = list(sys.argv[1:] if words is None else words)
    cut = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:cut])
    flags = words[cut + 1:]
    given.noise = given.gain is not None or given.offset != 0 or given.readout != 0
    given.gain = 1.0 if given.gain is None else given.gain
    warnings.showwarning = lambda message, *_, **__: print(f"nb-refine: warning: {printable(message)}", file=sys.stderr)
    warnings.simplefilter("always", Warning)
    comm = _communicator(given.shard != parser.get_default("shard"))
    try:
        if given.model is not None:
            _refuse(given, parser, ("parameters", "system", "margin", "shard", "method",
                                    "space_group", "anomalous", "panel_groups", "rounds", "steps"), "has no effect with --model")
            if given.energies is not None:
                _refuse(given, parser, ("shared", "test", "psf", "dead_time", "sets", "positions_only", "resume", "chain"),
                        "has no effect on white-beam stills (--energies)")
                if flags:
                    raise ValueError(f"flags of nb-sim ({flags[0]} ...) have no effect on white-beam stills; leave them out")
                return _laue(given)
            if given.shared not in (None, "structure_factors"):
                raise ValueError(f"with --model, --shared can only be structure_factors, not {given.shared}")
            if given.test and given.shared is None:
                raise ValueError("--test needs --shared=structure_factors")
            if flags:
                raise ValueError(f"flags of nb-sim ({flags[0]} ...) have no effect with --model; give them with what it "
                                 "writes: nb-refine OUT/indexed.expt OUT/indexed.refl -- ...")
            return _photographs(given)
        _refuse(given, parser, ("positions_only", "test", "geometry", "lattices", "energies", "chain"), "needs --model")
        if len(given.files) != 2:
            raise ValueError("give an experiment list (.expt) and its reflection table (.refl), or images and --model=FILE")
        given.experiments, given.reflections = given.files
        from .sweeps import are_sweeps
        if are_sweeps(given.experiments):
            _refuse(given, parser, ("parameters", "readout", "workers", "shard", "method", "resume", "shared", "space_group", "anomalous",
                                    "panel_groups", "rounds", "steps"), "has no effect on rotation sweeps")
            if flags:
                raise ValueError(f"flags of nb-sim ({flags[0]} ...) have no effect on rotation sweeps; leave them out")
            return _sweeps(given)
        _refuse(given, parser, ("fix", "sets", "psf", "dead_time"), "needs --model, or a rotation sweep")
        if given.shared is not None:
            _refuse(given, parser, ("parameters", "workers", "shard", "method"), "has no effect with --shared")
            return _shared(given, flags, comm)
        _refuse(given, parser, ("space_group", "anomalous", "panel_groups", "rounds", "steps"), "needs --shared")
        if comm is not None:
            _refuse(given, parser, ("workers", "shard"), "has no effect under mpirun or srun: each rank is a worker")
        return _shots(given, flags, comm)
    except (FileError, FlagError, ValueError, ImportError, OSError, RuntimeError, MemoryError) as error:
        if comm is not None and comm.Get_rank():
            time.sleep(1)  # an error on all ranks the first one tells, and ends them
        plain = isinstance(error, OSError) and not isinstance(error, FileError) and error.filename
        print(f"nb-refine: error: {printable(f'{error.filename}: {error.strerror}' if plain else error)}", file=sys.stderr,
              flush=True)
        if comm is not None:
            comm.Abort(1)  # the other ranks would wait for this one
        return 1


def _refuse(given, parser, names, why):
    """A flag that would be ignored is an error."""
    for name in names:
        if getattr(given, name) != parser.get_default(name):
            raise ValueError(f"--{name.replace('_', '-')} {why}")


def _communicator(sharded):
    """The communicator of mpi4py under a launcher of several ranks, else None. sharded: they may do without."""
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
    """Prints how many results have a status, and where none has, what to do. The exit status. spots: whether any were found."""
    good = sum(one.status == status for one in results)
    _print(f"{good} of {len(results)} images {status}; {given.out}/report.html shows them")
    if good:
        return 0
    reasons = collections.Counter(one.why for one in results)
    why, count = reasons.most_common(1)[0]
    _print(f"no image is {status}{f', {count} of them because' if len(results) > 1 else ', because'} {why}{f'; {_INDEXING}' if spots else ''}")
    return 1


def _say(sentence):
    _print(f"nb-refine: {sentence}")


def _shared(given, flags, comm):
    def show(step):
        if step["seconds"]:
            _print(f"step {step['step']}: {step['value']:.9g}, {step['seconds']:.2f} s")
        else:
            _print(f"round {step['round']}: {step['value']:.9g}")

    from . import shared
    result = shared(flags, given.experiments, given.reflections, parameters=given.shared, system=given.system,
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


def _photographs(given):
    done = []

    said = set()

    def show(still):
        done.append(still.index)
        if (lines := still.described(given.noise)) and lines[0] not in said:
            said.add(lines[0])
            for line in (f"{still.image}:", *(f"  {line}" for line in lines)):
                _print(line)
        counts = [str(one.indexed.sum()) for one in still.lattices]
        several = f" by {len(counts)} lattices ({', '.join(counts)})" if len(counts) > 1 else ""
        explained = f", chi-square {still.explained.chi2:.3g} per pixel" if still.explained else ""
        text = (f"{still.indexed} of {still.spots} spots indexed{several}, {still.rms_px:.2f} pixels from their reflections, distance "
                f"{still.distance_mm:.2f} mm{explained}" if still.status == "indexed" else f"rejected: {still.why}")
        _print(f"{still.image}: {text} ({still.seconds:.2f} s, {len(done)} of {len(given.files)} images)")

    from . import photographs
    from ._explain import MOST_SETS
    from ._lattices import MOST_LATTICES
    stills = photographs.index(given.files, given.model, workers=given.workers, out=given.out, progress=show,
                                pixels=not given.positions_only, held=[name for name in given.fix.split(",") if name],
                                restrain=dict(given.restrain), sets=MOST_SETS if given.sets is None else given.sets,
                                lattices=MOST_LATTICES if given.lattices is None else given.lattices,
                                factors=given.shared is not None,
                                tested=[int(word) for word in given.test.split(",") if word],
                                geometry=given.geometry, noise=_noise(given),
                                response=_response(given), resume=given.resume, chain=given.chain)
    turns = [still.turn for still in stills if still.turn]
    for still in stills:
        if still.turn:
            x, y, z = still.turn.axis
            _print(f"{still.image}: turned by {still.turn.angle:.4f} +- {still.turn.sigma:.4f} degrees about {x:.4f} {y:.4f} {z:.4f}")
    if turns:
        angles = [turn.angle for turn in turns]
        _print(f"turned from each still to the next by {sum(angles) / len(angles):.4f} degrees in the mean, {min(angles):.4f} to {max(angles):.4f}")
    return _counted(stills, "indexed", given, any(still.spots for still in stills))


def _noise(given):
    """Gain and zero where they are given."""
    gain, offset, readout = given.gain, given.offset, given.readout
    if not 0 < gain < float("inf"):
        raise ValueError(f"--gain is {gain}; it has to be greater than 0, and finite")
    return (gain, offset - readout**2 / gain) if given.noise else None


def _laue(given):
    done = []

    def show(still):
        done.append(still.index)
        counts = [str(len(crystal.spot)) for crystal in still.crystals]
        several = f" by {len(counts)} crystals ({', '.join(counts)})" if len(counts) > 1 else ""
        text = (f"{still.indexed} of {len(still.at)} spots indexed{several}, {still.rms_px:.2f} pixels from their reflections, distance "
                f"{still.fit.camera.distance:.2f} mm" if still.status == "indexed" else f"rejected: {still.why}")
        _print(f"{still.image}: {text} ({still.seconds:.2f} s, {len(done)} of {len(given.files)} images)")

    from ._lattices import MOST_LATTICES
    from .laue import laue
    stills = laue(given.files, given.model, given.energies, geometry=given.geometry,
                  lattices=MOST_LATTICES if given.lattices is None else given.lattices,
                  held=[name for name in given.fix.split(",") if name], restrain=dict(given.restrain), noise=_noise(given),
                  workers=given.workers, out=given.out, progress=show)
    return _counted(stills, "indexed", given, any(still.at is not None for still in stills))


def _sweeps(given):
    def show(sweep):
        axis = "its axis held" if sweep.axis_unsure else f"its axis by {sweep.axis_turned:.4f}"
        sums = f", {sweep.sums:.3f} of the table's photons" if sweep.sums == sweep.sums else ""
        text = (f"rotated by {sweep.turned:.4f} degrees, {axis}, chi-square {sweep.chi2_poisson:.3g} per pixel of {sweep.bright} "
                f"reflections above 10 sigmas ({sweep.chi2:.3g} where no variance is below one photon){sums}"
                if sweep.status == "refined" else f"rejected: {sweep.why}")
        _print(f"sweep {sweep.index}: {text} ({sweep.seconds:.2f} s)")

    from .sweeps import MOST_SETS, sweeps
    found = sweeps(given.experiments, given.reflections, system=given.system, margin=given.margin, gain=given.gain,
                   offset=given.offset, held=[name for name in given.fix.split(",") if name], restrain=dict(given.restrain),
                   sets=MOST_SETS if given.sets is None else given.sets, response=_response(given), out=given.out, progress=show)
    good = sum(sweep.status == "refined" for sweep in found)
    _print(f"{good} of {len(found)} sweeps refined; {given.out}/report.html shows them")
    return 0 if good else 1


def _shots(given, flags, comm):
    done = []

    def show(result):
        done.append(result)
        text = (f"rotated by {result.rotation:.4f} degrees, chi-square {result.chi2:.3g} per pixel"
                if result.status == "refined" else f"rejected: {result.why}")
        _print(f"shot {result.index}: {text} ({result.seconds:.2f} s, {len(done)} done)")

    from . import shots
    results = shots(flags, given.experiments, given.reflections, parameters=given.parameters, system=given.system,
                    gain=given.gain, offset=given.offset, readout=given.readout, margin=given.margin,
                    restrain=dict(given.restrain), workers=given.workers, shard=given.shard, method=given.method,
                    comm=comm, resume=given.resume, out=given.out, progress=show, say=_say)
    if comm is not None and comm.Get_rank():
        return 0  # the first rank says what became of them
    good = sum(r.status == "refined" for r in results)
    _print(f"{good} of {len(results)} shots refined; {given.out}/report.html shows them")
    return 0 if good or not results else 1


if __name__ == "__main__":
    sys.exit(main())
