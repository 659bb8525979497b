#!/usr/bin/env python3
"""bad_input_test.py NB_SIM FAKE_COMPILER: bad input is refused, by name, and costs nothing."""

import gzip
import json
import struct

import nb_sim
from nb_sim import EARLIER, NbSimTest

# A complete command line; each case appends to it, and the last of a flag counts.
GOOD = "-cell 40 -default_F 10 -N 3 -detpixels 8 -oversample 1 -noprogress -seed 1"
EXPT = "-default_F 10 -N 3 -gauss_xtal -oversample 1 -noprogress -seed 1 --expt=bad"
HKL = "-cell 40 -N 3 -detpixels 8 -oversample 1 -noprogress -seed 1 -hkl bad"


def smv(*lines, pixels=4, padding=512):
    keys = ["BYTE_ORDER=little_endian", "TYPE=unsigned_short", "SIZE1=2", "SIZE2=2"]
    replaced = {line.split("=")[0] for line in lines}
    text = "{\nHEADER_BYTES=512;\nDIM=2;\n"
    text += "".join(key + ";\n" for key in keys if key.split("=")[0] not in replaced)
    text += "".join(line + ";\n" for line in lines if line.split("=")[1]) + "}\f"
    return text.ljust(padding).encode() + b"\1\0" * pixels


def dump(bounds=(0, 1, 0, 1, 0, 1), values=27):
    header = "%d %d %d %d %d %d\n\f" % bounds
    return header.encode() + struct.pack("=%dd" % values, *range(values))


def experiment(nanobragg=None, **beam):
    one = {"beam": 0, "detector": 0, "crystal": 0}
    if nanobragg:
        one["nanobragg"] = nanobragg
    panel = {"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [-1, 1, -90], "image_size": [8, 8],
             "pixel_size": [0.2, 0.2]}
    return json.dumps({"experiment": [one], "beam": [{"direction": [0, 0, 1], "wavelength": 1, **beam}],
                       "detector": [{"panels": [panel]}],
                       "crystal": [{"real_space_" + name: [40 * (name == x) for x in "abc"] for name in "abc"}]})


# Name, command line, every part that the message must have.
FLAGS = [
    ("no arguments", "", ["no unit cell", "-mat", "-cell"]),
    ("no cell", "-default_F 10", ["no unit cell", "-mat", "-cell"]),
    ("no structure factors", "-cell 40", ["no structure factors", "-hkl", "-default_F"]),
    ("unknown flag", GOOD + " -distnace 80", ["-distnace", "'-distance'"]),
    ("unknown long flag", GOOD + " --thread=2", ["--thread=2", "'--threads'"]),
    ("abbreviation of a step", GOOD + " -dispstep 3", ["-dispstep", "'-dispsteps'"]),
    ("undocumented suffix", GOOD + " -detector_thickness 5", ["-detector_thickness"]),
    ("equals sign after one dash", GOOD + " -distance=80", ["-distance=80", "-distance 80"]),
    ("stray word", GOOD + " surplus", ["stray word 'surplus'"]),
    ("stray word in front", "a.hkl " + GOOD, ["stray word 'a.hkl'", "such as -hkl for a file"]),
    ("stray program", GOOD + " p.mlir", ["stray word 'p.mlir'", "ahead of all flags"]),
    ("stray value", GOOD + " -N 5 6", ["stray word '6'", "-N"]),
    ("value of a switch", GOOD + " -curved_det 1", ["stray word '1'", "-curved_det"]),
    ("missing value at the end", GOOD + " -distance", ["-distance needs a value", "mm"]),
    ("missing value before a flag", GOOD + " -hkl -nopgm", ["-hkl needs a value"]),
    ("too few values", GOOD + " -roi 1 2 3", ["-roi needs 4 values", "only 3"]),
    ("too few angles", GOOD + " -misset 10 20 -nopgm", ["-misset needs 3 values", "only 2"]),
    ("no number", GOOD + " -distance far", ["-distance: 'far' is not a number", "mm"]),
    ("unit after the number", GOOD + " -distance 80mm", ["-distance: '80mm' is not a number"]),
    ("comma as decimal point", GOOD + " -lambda 1,5", ["-lambda: '1,5' is not a number"]),
    ("not-a-number", GOOD + " -fluence nan", ["-fluence: 'nan' is not a number"]),
    ("infinite", GOOD + " -fluence inf", ["-fluence: 'inf' is not a number"]),
    ("overflow", GOOD + " -fluence 1e999", ["-fluence: '1e999' is not a number"]),
    ("fraction of a cell", GOOD + " -N 5.9", ["-N: 5.9 is not a whole number"]),
    ("fraction of a pixel", GOOD + " -detpixels 8.5", ["-detpixels: 8.5 is not a whole number"]),
    ("negative count", GOOD + " -N -4", ["-N: -4", "out of range"]),
    ("no wavelength", GOOD + " -lambda 0", ["-lambda: 0 A is out of range", "greater than 0"]),
    ("no energy", GOOD + " -energy 0", ["-energy: 0 eV is out of range"]),
    ("negative distance", GOOD + " -distance -80", ["-distance: -80 mm is out of range"]),
    ("no pixel size", GOOD + " -pixel 0", ["-pixel: 0 mm is out of range"]),
    ("too many pixels", GOOD + " -detpixels 1e9", ["-detpixels: 1e9 pixels is out of range"]),
    ("image too large", GOOD + " -detpixels 900000", ["-detpixels", "too large"]),
    ("Kahn factor above 1", GOOD + " -polar 1.5", ["-polar: 1.5 is out of range", "from -1 to 1"]),
    ("negative spread", GOOD + " -mosaic -1", ["-mosaic: -1 degrees is out of range"]),
    ("spectrum through zero", GOOD + " -dispersion 250", ["-dispersion: 250 percent"]),
    ("region turned around", GOOD + " -roi 5 2 0 5", ["-roi: the range 5 to 2 is empty"]),
    ("zero vector", GOOD + " -beam_vector 0 0 0", ["-beam_vector", "not a direction"]),
    ("parallel axes", GOOD + " -fdet_vector 0 1 0 -sdet_vector 0 2 0", ["-fdet_vector"]),
    ("angles that do not close", GOOD + " -cell 40 40 40 30 30 100", ["-cell", "angle"]),
    ("straight angle", GOOD + " -cell 40 40 40 90 90 180", ["-cell: 180 degrees"]),
    ("unknown pivot", GOOD + " -pivot middle", ["-pivot: 'middle'", "sample or beam"]),
    ("unknown culling", GOOD + " --cull=2", ["--cull", "exact, off or a number between 0 and 1"]),
    ("unknown precision", GOOD + " --precision=f8", ["--precision: 'f8'", "f64"]),
    ("unknown form", GOOD + " --emit=ptx", ["--emit: 'ptx'", "asm"]),
    ("unknown semantics", GOOD + " -compat fortran", ["-compat: 'fortran'", "c, right or noisify"]),
    ("value of a long switch", GOOD + " --quiet=yes", ["--quiet takes no value"]),
    ("empty value", GOOD + " --png=", ["--png="]),
    ("widths of a shape without", GOOD + " -Ncells_def 1 0 0", ["-Ncells_def", "-gauss_xtal"]),
    ("widths in the C program's metric", GOOD + " -gauss_xtal -Ncells_def 1 0 0 -compat c",
     ["-Ncells_def", "-compat c"]),
    ("widths that are no widths", GOOD + " -gauss_xtal -Ncells_def 3 0 0",
     ["-Ncells_def: the widths [[3, 3, 0], [3, 3, 0], [0, 0, 3]] are not positive"]),
    ("bent from where no beam is", GOOD + " -curved_det -twotheta 90 -pivot sample",
     ["the detector is parallel to the beam", "-curved_det"]),
    ("no gain", GOOD + " -gain 0", ["-gain: 0 ADU/photon is out of range", "greater than 0"]),
    ("two outputs in one file", GOOD + " -floatfile a -intfile a", ["-floatfile", "-intfile"]),
    ("floats named as a picture", GOOD + " -floatfile x.png", ["'x.png'", "--png", "x.bin"]),
    ("floats named as SMV", GOOD + " -floatfile x.IMG", ["'x.IMG'", "-intfile", "x.bin"]),
    ("SMV named as CBF", GOOD + " -intfile x.cbf", ["-intfile", "'x.cbf'", "SMV", "x.img"]),
    ("SMV named as NumPy", GOOD + " -intfile x.npy", ["'x.npy'", "-floatfile", "x.img"]),
    ("noise named as HDF5", GOOD + " -noisefile d/x.h5", ["-noisefile", "d/x.img"]),
    ("PNG named as TIFF", GOOD + " --png=x.tif", ["--png", "'x.tif'", "x.png"]),
    ("nothing to find in the help", "--help=xyzzy", ["'xyzzy'", "closest flag"]),
]

# Name, content of the file "bad" (None: no such file), command line, parts of the message.
FILES = [
    ("hkl missing", None, HKL, ["bad", "No such file"]),
    ("hkl empty", "", HKL, ["bad"]),
    ("hkl with comments only", "# nothing\n", HKL, ["bad"]),
    ("hkl with a word", "0 0 0 5\n1 0 0 x\n", HKL, ["bad:2"]),
    ("hkl with a short line", "0 0 0 5\n\n1 0 0\n", HKL, ["bad:3"]),
    ("hkl with a broken index", "0 0 0 5\n1.5 0 0 5\n", HKL, ["bad:2"]),
    ("hkl with a not-a-number", "0 0 0 nan\n", HKL, ["bad:1"]),
    ("hkl with an enormous index", "0 0 0 1\n900000 900000 900000 1\n", HKL, ["bad"]),
    ("hkl of bytes", bytes(range(1, 256)), HKL, ["bad:1"]),
    ("hkl cut off inside gzip", gzip.compress(b"0 0 0 5\n" * 5000)[:40], HKL, ["bad"]),
    ("matrix missing", None, GOOD + " -mat bad", ["bad", "No such file"]),
    ("matrix too short", "1 0 0\n0 1 0\n0 0\n", GOOD + " -mat bad", ["bad", "nine"]),
    ("matrix with a word", "1 0 0\n0 one 0\n0 0 1\n", GOOD + " -mat bad", ["bad:2"]),
    ("matrix of zeros", "0 0 0 " * 3, "-default_F 1 -detpixels 8 -mat bad", ["bad", "singular"]),
    ("sources missing", None, GOOD + " -sourcefile bad", ["bad", "No such file"]),
    ("sources empty", "", GOOD + " -sourcefile bad", ["bad"]),
    ("source at the sample", "1e-320 0 0\n", GOOD + " -sourcefile bad",
     ["-sourcefile bad: source 1 is at the sample"]),
    ("sources with a word", "-10 0 0\n-10 0 left\n", GOOD + " -sourcefile bad", ["bad:2"]),
    ("sources with a negative weight", "-10 0 0 -1\n", GOOD + " -sourcefile bad", ["bad:1"]),
    ("sources with no wavelength", "-10 0 0 1 0\n", GOOD + " -sourcefile bad", ["1"]),
    ("background missing", None, GOOD + " -stol bad", ["bad", "No such file"]),
    ("background with a word", "0 1\n0.1 z\n", GOOD + " -4stol bad", ["bad:2"]),
    ("background with an angle twice", "0.1 1\n0 1\n0.1 2\n", GOOD + " -Q bad", ["bad:3", "line 1"]),
    ("gain map missing", None, GOOD + " -gain_map bad", ["bad", "No such file"]),
    ("gain map of another size", b"\0" * 16, GOOD + " -gain_map bad", ["-gain_map bad", "2 x 2", "8 x 8"]),
    ("image missing", None, GOOD + " -img bad", ["bad", "No such file"]),
    ("image of another kind", "P5\n2 2\n255\n", GOOD + " -img bad", ["bad", "SMV"]),
    ("image cut off in its header", smv()[:300], GOOD + " -img bad", ["bad", "300"]),
    ("image cut off in its pixels", smv(pixels=3), GOOD + " -img bad", ["bad", "6 bytes"]),
    ("image without byte order", smv("BYTE_ORDER="), GOOD + " -img bad", ["bad", "BYTE_ORDER"]),
    ("image without size", smv("SIZE1=0"), GOOD + " -img bad", ["bad", "SIZE1"]),
    ("image with an impossible pixel", smv("PIXEL_SIZE=0"), GOOD + " -img bad",
     ["bad", "PIXEL_SIZE=0"]),
    ("mask of another size", smv(), GOOD + " -mask bad", ["-mask bad", "2 x 2", "8 x 8"]),
    ("mask cut off", smv(pixels=0), GOOD + " -mask bad", ["bad"]),
    ("dump missing", None, "-cell 40 -dump bad", ["bad", "No such file"]),
    ("dump cut off", dump(values=26), "-cell 40 -dump bad", ["bad"]),
    ("dump without bounds", b"hello\n\f", "-cell 40 -dump bad", ["bad"]),
    ("dump with bounds turned around", dump((1, 0, 0, 1, 0, 1)), "-cell 40 -dump bad", ["bad"]),
    ("dump that was not named", None, "-cell 40", ["Fdump.bin", "-dump"]),
    ("bandwidth of an experiment", experiment(nanobragg={"average": "closed", "bandwidth_sigma": 30}),
     EXPT, ["bad", "--bandwidth-sigma: 30 percent", "from 0 to 20"]),
    ("polarization of an experiment", experiment(polarization_fraction=3), EXPT,
     ["bad", "-polar: 5", "from -1 to 1"]),
    ("panels with parallel axes", '[{"offset_mm": [0,0,0], "fast": [0,0,1], "slow": [0,0,-2]}]',
     GOOD + " --panels=bad", ["bad", "panel 0", "parallel"]),
    ("bent panel that holds the sample",
     '[{"offset_mm": [-100,0,0], "fast": [0,0,1], "slow": [0,-1,0]}]',
     GOOD + " -curved_det --panels=bad", ["bad: panel 0", "in a plane with the sample"]),
    ("panels that are no JSON", "[\n{]", GOOD + " --panels=bad", ["bad:2", "JSON"]),
    ("panels without an axis", '[{"offset_mm": [0,0,0], "fast": [0,0,1]}]',
     GOOD + " --panels=bad", ["bad", "panel 0", "slow"]),
    ("output over the input", "0 0 0 5\n", HKL + " -floatfile bad", ["-floatfile", "-hkl"]),
    ("output over the input, other name", "0 0 0 5\n", HKL + " -intfile ./bad",
     ["-intfile", "-hkl"]),
    ("output into a missing folder", None, GOOD + " -noisefile none/n.img", ["none/n.img"]),
    ("output onto a folder", None, GOOD + " -intfile .", ["."]),
    ("picture into a missing folder", None, GOOD + " --png=none/p.png", ["none/p.png"]),
    ("timing into a missing folder", None, GOOD + " --timing=none/t.json", ["none/t.json"]),
    ("folder as reflections", None, "-cell 40 -hkl .", ["."]),
]


class BadInput(NbSimTest):
    def refuse(self, words, parts):
        for name, content in EARLIER.items():
            self.add(name, content)
        before = self.snapshot()
        done = self.run_nb_sim(words.split())
        self.assertGreater(done.returncode, 0, "killed" if done.returncode < 0 else "accepted")
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, done.stderr)
        for part in parts:
            self.assertIn(part, errors[0])
        self.assertEqual(self.snapshot(), before)


def flag_test(words, parts):
    return lambda self: self.refuse(words, parts)


def file_test(name, content, words, parts):
    def test(self):
        if content is not None:
            self.add("bad", content)
        if name == "dump that was not named":
            self.add("Fdump.bin", dump())
        self.refuse(words, parts)
    return test


for title, line, expected in FLAGS:
    setattr(BadInput, "test " + title, flag_test(line, expected))
for title, data, line, expected in FILES:
    setattr(BadInput, "test " + title, file_test(title, data, line, expected))


class GoodInput(NbSimTest):
    """The refusals are judged against these: the same lines run without their fault."""

    def test_complete_line_runs(self):
        done = self.run_nb_sim(GOOD.split())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(self.snapshot()), set(EARLIER))

    def test_good_files_are_accepted(self):
        self.add("bad", "# h k l F\n0 0 0 5\n1 0 0 7.5 0.1\n")
        self.add("image", smv("DISTANCE=90"))
        done = self.run_nb_sim((HKL + " -img image -detpixels 8").split())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_named_dump_is_written_and_read(self):
        self.add("bad", "0 0 0 5\n1 1 1 7.5\n")
        self.assertEqual(self.run_nb_sim(HKL.split()).returncode, 0)
        self.assertNotIn("Fdump.bin", self.snapshot())
        self.assertEqual(self.run_nb_sim((HKL + " -dump my.bin").split()).returncode, 0)
        self.assertEqual(self.snapshot()["my.bin"][:13], b"0 1 0 1 0 1\n\f")
        done = self.run_nb_sim("-cell 40 -N 3 -detpixels 8 -dump my.bin".split())
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    assert len(FLAGS) + len(FILES) >= 40
    nb_sim.main()
