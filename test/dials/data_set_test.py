#!/usr/bin/env python3
"""data_set_test.py NB_SIM PDB: from a model to merged intensities. The intensities that DIALS finds, indexes and scales
in frames of the command of docs/first-image.md are the squared structure factors of the model. Skipped, with the reason, where
DIALS is not installed. KEEP=FOLDER leaves the files there."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

NB_SIM, PDB = (os.path.abspath(path) for path in sys.argv[1:3])
CRYSTAL = ("-N 30 -gauss_xtal -mosaic 0.05 --bandwidth-sigma=0.02 --average=closed --k-sol=0.35 -xds -lambda 1 -polar 0.99 "
           "-distance 150 -detpixels 768 -pixel 0.25").split()
SERIES = ("-misset 10 70 0 -fluence 3e27 -water 0.07 --frames=90 --osc-per-frame=1 -seed 1 -noprogress "
          "--cbf=a.cbf").split()
RESOLUTION = 2.0

try:
    from cctbx import crystal, miller
    from dials.array_family import flex
    from dxtbx.model.experiment_list import ExperimentListFactory
    REASON = None if shutil.which("dials.scale") else "dials.scale is not in PATH"
except ImportError as error:
    REASON = f"DIALS cannot be imported ({error})"


def amplitudes(path):
    """Bounds of a dump of structure factors, and F by h, k, l."""
    with open(path, "rb") as file:
        head, values = file.read().split(b"\n\f", 1)
    bounds = [int(word) for word in head.split()]
    sizes = [bounds[2 * i + 1] - bounds[2 * i] + 2 for i in range(3)]  # one more than there are nodes
    return bounds[::2], np.frombuffer(values, "<f8").reshape(sizes)


def scaled_intensities(table, experiments, space_group):
    """As cctbx has them, unmerged."""
    table = table.select(table.get_flags(table.flags.scaled) & ~table.get_flags(table.flags.bad_for_scaling, all=False))
    scale = table["inverse_scale_factor"]
    symmetry = crystal.symmetry(unit_cell=experiments[0].crystal.get_unit_cell(), space_group=space_group)
    indices = miller.set(symmetry, table["miller_index"], anomalous_flag=False)
    return miller.array(indices, table["intensity.scale.value"] / scale,
                        flex.sqrt(table["intensity.scale.variance"]) / scale).set_observation_type_xray_intensity()


@unittest.skipIf(REASON, REASON)
class DataSet(unittest.TestCase):
    def setUp(self):
        self.folder = os.environ.get("KEEP") or tempfile.mkdtemp(prefix="nb-data-set-")
        os.makedirs(self.folder, exist_ok=True)
        if not os.environ.get("KEEP"):
            self.addCleanup(shutil.rmtree, self.folder)

    def run_in(self, words):
        start = time.monotonic()
        done = subprocess.run(words, cwd=self.folder, text=True, capture_output=True, timeout=1500,
                              stdin=subprocess.DEVNULL)
        print(f"{os.path.basename(words[0])}: {time.monotonic() - start:.1f} s", flush=True)
        self.assertEqual(done.returncode, 0, " ".join(words[:3]) + "\n" + done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout + done.stderr

    def test_merged_intensities_are_the_models(self):
        self.run_in([NB_SIM, "-hkl", PDB, *CRYSTAL, *SERIES, "-dump", "truth.bin"])
        frames = sorted(name for name in os.listdir(self.folder) if re.fullmatch(r"a_\d+\.cbf", name))
        self.run_in(["dials.import", *frames])
        self.run_in(["dials.find_spots", "imported.expt", "nproc=1"])
        self.run_in(["dials.index", "imported.expt", "strong.refl"])
        self.run_in(["dials.refine", "indexed.expt", "indexed.refl"])
        self.run_in(["dials.integrate", "refined.expt", "refined.refl", "nproc=1", f"prediction.d_min={RESOLUTION}"])
        self.run_in(["dials.symmetry", "integrated.expt", "integrated.refl"])
        self.run_in(["dials.scale", "symmetrized.expt", "symmetrized.refl"])
        experiments = ExperimentListFactory.from_json_file(os.path.join(self.folder, "scaled.expt"), check_format=False)
        table = flex.reflection_table.from_file(os.path.join(self.folder, "scaled.refl"))
        space_group = experiments[0].crystal.get_space_group()
        print("space group", space_group.type().lookup_symbol(), experiments[0].crystal.get_unit_cell())
        unmerged = scaled_intensities(table, experiments, space_group)
        half = unmerged.cc_one_half()
        merged = unmerged.merge_equivalents().array().resolution_filter(d_min=RESOLUTION)
        low, truth = amplitudes(os.path.join(self.folder, "truth.bin"))
        # Friedel mates are merged, and so is the truth. The axes have one order only, by their lengths.
        squares = np.array([np.mean([truth[tuple(sign * index - bound for index, bound in zip(hkl, low))]**2
                                     for sign in (1, -1)]) for hkl in merged.indices()])
        found = merged.data().as_numpy_array()
        cc = np.corrcoef(squares, found)[0, 1]
        f, wanted = np.sqrt(np.maximum(found, 0)), np.sqrt(squares)
        f *= (f * wanted).sum() / (f * f).sum()
        r = np.abs(f - wanted).sum() / wanted.sum()
        print(f"{len(found)} reflections of {merged.completeness():.3f}, CC1/2 {half:.4f}, CC {cc:.5f}, R(F) {r:.4f}")
        self.assertEqual(space_group.type().lookup_symbol(), "P 21 21 21")
        self.assertGreater(half, 0.99)
        self.assertGreater(cc, 0.999)
        self.assertLess(r, 0.04)


if __name__ == "__main__":
    if REASON:
        print(f"skipped: {REASON}; install Debian's dials to run these tests")
        sys.exit(77)
    if os.environ.get("NB_TEST_DATA_SET") != "1":
        print("skipped: DIALS takes many minutes for 90 frames; set NB_TEST_DATA_SET=1 to run this test")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
