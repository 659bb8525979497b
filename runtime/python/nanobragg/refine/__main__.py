"""nb-refine: refines the crystals of stills."""

import argparse
import sys

from .._errors import FileError, FlagError
from . import CELL_SYSTEMS, METHODS, shots


def _shard(text):
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is no part of the shots; write 0/4 for the first of four")
    return int(part), int(parts)


def _restraint(text):
    name, equals, sigma = text.partition("=")
    try:
        return name, float(sigma)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no restraint; write cell=0.01") from None


def main(words=None):
    parser = argparse.ArgumentParser(
        prog="nb-refine", description="Refines orientation, cell and scale of stills against the pixels of their "
        "shoeboxes. Flags of nb-sim that the files do not say follow after --.",
        epilog="example: nb-refine indexed.expt indexed.refl --out=refined -- -hkl 1abc.mtz -N 40 -mosaic 0.05 "
        "-mosaic_dom 25 -gauss_xtal")
    parser.add_argument("experiments", help="experiment list of DIALS (.expt), one experiment an image")
    parser.add_argument("reflections", help="its reflection table (.refl)")
    parser.add_argument("--out", default="refined", help="folder of the results (default: refined)")
    parser.add_argument("--parameters", default="orientation,cell,scale",
                        help="and such as mosaic_spread, ncells, which get a factor")
    parser.add_argument("--system", default="triclinic", choices=CELL_SYSTEMS, help="which cell the crystal keeps")
    parser.add_argument("--gain", type=float, default=1.0, help="the image's unit per photon")
    parser.add_argument("--offset", type=float, default=0.0, help="the image's value without photons")
    parser.add_argument("--readout", type=float, default=0.0, help="sigma of the read-out noise, in the image's unit")
    parser.add_argument("--margin", type=int, default=2, help="pixels by which boxes are enlarged")
    parser.add_argument("--restrain", type=_restraint, action="append", default=[], metavar="NAME=SIGMA",
                        help="about the start: orientation (degrees), cell (fraction), scale or a parameter (logarithm)")
    parser.add_argument("--workers", type=int, help="processes (default: one for each processor)")
    parser.add_argument("--shard", type=_shard, default=(0, 1), metavar="I/N",
                        help="only every N-th shot from I on: jobs of an array have one each")
    parser.add_argument("--method", default="trust-region", choices=METHODS,
                        help="least squares with weights that are renewed, or the greatest likelihood")
    parser.add_argument("--resume", action="store_true", help="go on in --out: shots that are finished are kept")
    words = list(sys.argv[1:] if words is None else words)
    cut = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:cut])
    done = []

    def show(result):
        done.append(result)
        text = (f"rotated by {result.rotation:.4f} degrees, chi-square {result.chi2:.3g} per pixel"
                if result.status == "refined" else f"rejected: {result.why}")
        print(f"shot {result.index}: {text} ({result.seconds:.2f} s, {len(done)} done)", flush=True)

    try:
        results = shots(words[cut + 1:], given.experiments, given.reflections, parameters=given.parameters,
                        system=given.system, gain=given.gain, offset=given.offset, readout=given.readout,
                        margin=given.margin, restrain=dict(given.restrain), workers=given.workers, shard=given.shard,
                        method=given.method, resume=given.resume, out=given.out, progress=show)
    except (FileError, FlagError, ValueError, ImportError) as error:
        print(f"nb-refine: error: {error}", file=sys.stderr)
        return 1
    good = sum(r.status == "refined" for r in results)
    print(f"{good} of {len(results)} shots refined; {given.out}/report.html shows them")
    return 0 if good or not results else 1


if __name__ == "__main__":
    sys.exit(main())
