"""The commands of nb-refine and their options."""

import argparse
import dataclasses
import difflib
import os

from .. import _core
from .._errors import FileError, printable
from . import CELL_SYSTEMS, METHODS


def _shard(text):
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit() and int(part) < int(parts)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a part of the images; write 0/4 for the first of four")
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


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text):
    try:
        return [int(word) for word in _names(text)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of image numbers; write 0,10,20") from None


_OPTIONS = {
    "--model": dict(metavar="FILE", required=True,
                    help="a PDB, mmCIF or MTZ file of this crystal form. Its cell indexes the spots, and its structure factors explain "
                    "the pixels. With --positions-only, cell and space group suffice: '48.5 48.5 63.5 90 90 90 P 41'"),
    "--energies": dict(metavar="FROM,TO", type=_energies, required=True, help="the ends of the spectrum in keV, such as 5,27"),
    "--out": dict(metavar="FOLDER", default="refined", help="folder of the results (default: refined)"),
    "--parameters": dict(metavar="NAMES", type=_names),
    "--system": dict(default="triclinic", choices=CELL_SYSTEMS,
                     help="crystal system, which determines the numbers of the cell that are refined: triclinic, all six; monoclinic, "
                     "edges and beta; orthorhombic, edges; tetragonal and hexagonal, a = b and c; cubic, one edge "
                     "(default: triclinic)"),
    "--gain": dict(type=float, help="image units per photon"),
    "--offset": dict(type=float, default=0.0, help="the image's value without photons (default: 0)"),
    "--readout": dict(type=float, default=0.0, help="standard deviation of the read-out noise, in image units (default: 0)"),
    "--margin": dict(type=int, default=2, help="pixels by which boxes are enlarged (default: 2)"),
    "--restrain": dict(type=_restraint, action="append", default=[], metavar="NAME=SIGMA"),
    "--fix": dict(metavar="NAMES", type=_names, default=[]),
    "--workers": dict(type=int, help="processes (default: one for each processor)"),
    "--shard": dict(type=_shard, default=(0, 1), metavar="I/N"),
    "--method": dict(default="trust-region", choices=METHODS,
                     help="trust-region: least squares whose weights are renewed; L-BFGS-B: maximum likelihood"),
    "--resume": dict(action="store_true", help="continue a run in --out; finished images are kept"),
    "--space-group": dict(help="space group: reflections that it makes equivalent share a structure factor (default: the "
                          "experiment list's)"),
    "--anomalous": dict(action="store_true", help="refine Friedel mates separately"),
    "--panel-groups": dict(default="each", metavar="each|all|hierarchy|FILE",
                           help="panels that move together: each, every panel by itself; all, the detector as a whole; hierarchy, the "
                           "groups of the experiment list; FILE, lines of a panel's number and its group's (default: each)"),
    "--rounds": dict(type=int, default=3, help="rounds of refinement; weights and units are renewed in each (default: 3)"),
    "--steps": dict(type=int, default=20, help="largest number of steps in each round (default: 20)"),
    "--psf": dict(metavar="SHAPE:UM", help="point spread of the detector: gauss or fiber, and the full width at half maximum (um) to start "
                  "from (default: none)"),
    "--dead-time": dict(type=float, default=0.0, metavar="SECONDS", help="dead time of a counter whose counts are not corrected "
                        "(default: 0); fitted with --restrain dead_time=SIGMA"),
    "--sets": dict(type=int, help="largest number of sets of mosaic blocks of a crystal"),
    "--lattices": dict(type=int, help="largest number of crystals on an image (default: 3); each further one is searched among the "
                       "remaining spots"),
    "--geometry": dict(metavar="FILE.expt", help="detector and wavelength of all images, instead of those in the images"),
    "--chain": dict(action="store_true", help="the images are, in this order, stills of one crystal that was turned between them. "
                    "They share cell and detector; the angles between them are printed"),
    "--positions-only": dict(action="store_true", help="index the spots and fit their positions, not their pixels"),
    "--full-intensities": dict(action="store_true", help="write intensities divided by the partiality and multiplied by lp, for programs that do "
                               "neither; reflections with a partiality below 0.4 are left out"),
    "--shared": dict(choices=["structure_factors"], help="refine structure factors, too, by the merged intensities of all images"),
    "--test": dict(default=[], metavar="NUMBERS", type=_numbers, help="with --shared=structure_factors, comma-separated zero-based indices of "
                   "images held out of the refinement of F to test it"),
}

_IMAGES = "images (CBF and SMV, also .gz and .bz2, NXmx, and what fabio and dxtbx read)"
_PIXELS = "orientation, mosaicity, scale, divergence, size, bandwidth, distance, centre, tilt, halo, cell, B, psf"


@dataclasses.dataclass
class Command:
    """A command. options: names of its options; help: what they mean here, where _OPTIONS does not
    say it."""

    summary: str
    description: str
    files: str
    options: str
    help: dict
    flags: bool = False  # whether flags of nb-sim follow after --

    @property
    def names(self):
        return self.options.split()


COMMANDS = {
    "index": Command(
        "images of stills, with the structure of the crystal",
        "Finds the spots of each image, indexes them with the model's cell, fits orientation and detector, explains the pixels by the model's "
        "structure factors, integrates all reflections and merges them.",
        _IMAGES, "--model --out --positions-only --geometry --gain --offset --readout --lattices --sets --fix --restrain --psf --dead-time "
        "--chain --shared --test --full-intensities --workers --shard --resume", {
            "--gain": "image units per photon (default: 1; for detectors that do not count photons, measured from the noise)",
            "--fix": f"comma-separated parameters to hold at their start: {_PIXELS}",
            "--restrain": "restrain a parameter to its start with this sigma: orientation, tilt (degrees), distance, centre (mm), cell (fraction), "
            "B (A^2) or another one (logarithm)",
            "--sets": "largest number of sets of mosaic blocks of a crystal (default: 4)",
            "--shard": "work on every N-th image, from image I on; all shards share --out. Run all shards twice: first they index images, then they "
            "fit the pixels, with the detector that all images share. The same command without --shard and with --resume then writes the results"}),
    "laue": Command(
        "white-beam or pink-beam images, with the crystal's cell",
        "Indexes stills of a white or pink beam, and fits camera, orientation, strain and flux curve to the spots.",
        _IMAGES, "--model --energies --out --geometry --gain --offset --readout --lattices --fix --restrain --workers", {
            "--model": "a PDB, mmCIF, CIF or MTZ file of this crystal form, or cell and space group: '5.66 5.66 5.66 90 90 90 F d -3 m'",
            "--gain": "image units per photon (default: measured from the noise)",
            "--geometry": "detector of all images: an experiment list (.expt), a .det of LaueTools, or its numbers 'distance_mm xcen ycen xbet "
            "xgam pixel_mm'",
            "--fix": "comma-separated parameters to hold at their start: orientation, strain, distance, centre, tilt, flux",
            "--restrain": "restrain a parameter to its start with this sigma: orientation, tilt (degrees), strain (fraction), distance, centre "
            "(mm)"}),
    "stills": Command(
        "indexed stills of DIALS, each by itself",
        "Refines orientation, cell and scale of each still against the pixels of its shoeboxes.",
        "an experiment list (.expt) with an experiment per image, and its reflection table (.refl)",
        "--parameters --system --out --gain --offset --readout --margin --restrain --method --workers --shard --resume", {
            "--parameters": "comma-separated parameters to refine (default: orientation,cell,scale). Other parameters of nb-sim, such as "
            "mosaic_spread or ncells, are refined by a factor",
            "--gain": "image units per photon (default: 1)",
            "--restrain": "restrain a parameter to its start with this sigma: orientation (degrees), cell (fraction), scale or a parameter "
            "(logarithm)",
            "--shard": "refine only every N-th still, from still I on; each task of a job array has its own I"}, flags=True),
    "shared": Command(
        "indexed stills of DIALS, with parameters that all share",
        "Refines structure factors, panels, spectrum and other parameters that all stills share, together with each still; under mpirun or "
        "srun on all ranks.",
        "an experiment list (.expt) with an experiment per image, and its reflection table (.refl)",
        "--parameters --system --space-group --anomalous --panel-groups --out --gain --offset --readout --margin --restrain --rounds --steps "
        "--resume", {
            "--parameters": "comma-separated parameters that all stills share: structure_factors, panels, spectrum, mosaic_spread and others",
            "--gain": "image units per photon (default: 1)",
            "--restrain": "restrain a parameter to its start with this sigma: orientation (degrees), cell (fraction), scale or a parameter "
            "(logarithm), panels=DEGREES:MM"}, flags=True),
    "sweep": Command(
        "rotation sweeps that DIALS has integrated",
        "Refines the crystal of a rotation sweep against its pixels, over all frames together.",
        "an experiment list (.expt) of rotation scans, and its reflection table (.refl)",
        "--system --out --gain --offset --margin --fix --restrain --sets --psf --dead-time", {
            "--gain": "image units per photon (default: 1)",
            "--fix": f"comma-separated parameters to hold at their start: {_PIXELS}, axis",
            "--restrain": "restrain a parameter to its start with this sigma: orientation, tilt, axis (degrees), distance, centre (mm), cell "
            "(fraction), B (A^2) or another one (logarithm)",
            "--sets": "largest number of sets of mosaic blocks of a crystal (default: 8)"}),
}


class _Parser(argparse.ArgumentParser):
    def parse_known_args(self, args=None, namespace=None):
        """Refuses an unknown flag with the commands that have it, or with the closest one."""
        given, unknown = super().parse_known_args(args, namespace)
        if unknown:
            flag = unknown[0].partition("=")[0]
            where = [f"nb-refine {name}" for name, command in COMMANDS.items() if flag in command.names]
            closest = difflib.get_close_matches(flag, self._option_string_actions, 1, 0.0)[0]
            self.error(f"'{flag}' is an option of {' and '.join(where)}, not of {self.prog}" if where else
                       f"unknown flag '{flag}'; the closest is '{closest}'")
        return given, unknown

    def error(self, sentence):
        self.exit(2, f"nb-refine: error: {printable(sentence)}\n{self.prog} --help lists its options\n")


def parser():
    """The parser of all commands."""
    parser = _Parser(prog="nb-refine", allow_abbrev=False, description="Refines models of diffraction images against their pixels.",
                     epilog="'nb-refine COMMAND --help' lists the options of a command. Examples: nb-refine index still_*.cbf.bz2 "
                     "--model=1abc.pdb; nb-refine stills indexed.expt indexed.refl -- -hkl 1abc.mtz -N 40 -mosaic 0.05 -gauss_xtal")
    parser.add_argument("--version", action="version", version=f"nb-refine {_core.version}", help="the version of the program")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands, by what they read")
    for name, command in COMMANDS.items():
        more = "; flags of nb-sim for everything that the files do not contain follow after --" if command.flags else ""
        one = commands.add_parser(name, help=command.summary, description=command.description, allow_abbrev=False)
        one.add_argument("files", nargs="+", metavar="FILE", help=command.files + more)
        for option in command.names:
            one.add_argument(option, **_OPTIONS[option] | ({"help": command.help[option]} if option in command.help else {}))
    return parser


def named(words):
    """Words that begin with a command; of words without one, the command that nb-refine took them
    for before it had commands."""
    if not words or words[0] in COMMANDS or words[0] in ("-h", "--help", "--version"):
        return words, None
    given = {word.partition("=")[0] for word in words[:words.index("--") if "--" in words else len(words)]}
    if "--model" in given or "--energies" in given:
        command = "laue" if "--energies" in given else "index"
    elif "--shared" in given:
        command, words = "shared", [f"--parameters{word[8:]}" if word.startswith("--shared") else word for word in words]
    else:
        command = "sweep" if _is_sweep(words) else "stills"
    return [command, *words], command


def _is_sweep(words):
    from .sweeps import are_sweeps
    lists = [word for word in words if word.endswith(".expt") and os.path.exists(word)]
    try:
        return bool(lists) and are_sweeps(lists[0])
    except FileError:
        return False
