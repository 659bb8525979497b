#!/usr/bin/env python3
"""exclusions_test.py NB_SIM FAKE_COMPILER: every pair of flags that the reference says exclude each
other is refused with one sentence before anything is written."""

import re

import nb_sim
from nb_sim import EARLIER, NbSimTest

GOOD = "-cell 40 -default_F 10 -N 3 -detpixels 8 -oversample 1".split()
VALUES = {"--emit": ["nb"], "--timing": ["t.json"], "--dump-ir": ["d"], "--grad": ["cell"],
          "--jacobian": ["cell_a"], "--probe": ["F_*"], "--kernel": ["k.so"],
          "--trace-pixel": ["1,2"], "-printout_pixel": ["1", "2"], "--until-before": ["fuse"],
          "--until-after": ["fuse"], "--pipeline": ["builtin.module()"], "--plugin": ["p.so"],
          "--schedule": ["s.txt"], "--patterns": ["p.pdll"], "--frames": ["3"], "--spectrum": ["s.txt"],
          "--sensor-material": ["Si"], "-detector_absorb": ["9"],
          "-hkl": ["a.hkl"], "-dump": ["f.bin"], "--hkl-channels": ["c.txt"], "--anomalous-atoms": ["a.txt"],
          "--anomalous-table": ["t.txt"],
          "-sourcefile": ["s.txt"], "--geom": ["g.geom"], "--expt": ["a.expt"], "--shots": ["s.txt"], "--pixels": ["p.txt"],
          "-intfile": ["a.img"], "-noisefile": ["b.img"], "-pgmfile": ["a.pgm"], "--png": ["a.png"],
          "-psf": ["gauss"], "-dead_time": ["1e-7"], "--cbf": ["a.cbf"], "--nexus": ["a.nxs"], "--write-expt": ["b.expt"],
          "--write-refl": ["b.refl"], "--reflections": ["t.csv"], "--write-stream": ["b.stream"], "--write-map": ["m.npy"], "--lattices": ["l.txt"],
          "--beam-center": ["1", "2"], **{name: ["1"] for name in ("-Xbeam", "-Ybeam", "-Xclose", "-Yclose", "-ORGX", "-ORGY")}}


class Exclusions(NbSimTest):
    def pairs(self):
        """From the reference: (flag, values), (flag, values), reason."""
        page = self.run_nb_sim(["--list-flags"]).stdout
        section = page.split("## Flags that exclude each other")[1].split("\n## ")[0]
        for first, others, reason in re.findall(r"^\| `(.*?)` \| (.*?) \| (.*?) \|$", section, re.M):
            names, _, values = others.partition(" of ")
            for second in re.findall("`(.*?)`", names):
                for value in values.split(" and ") if values else [None]:
                    yield (first, [first, *VALUES.get(first, [])],
                           second, [second, *([value] if value else VALUES.get(second, []))], reason)

    def test_every_pair_is_refused(self):
        for name, content in EARLIER.items():
            self.add(name, content)
        before = self.snapshot()
        count = 0
        for first, one, second, other, reason in self.pairs():
            with self.subTest(f"{first} {second}"):
                count += 1
                done = self.run_nb_sim(GOOD + other + one)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(f"error: {first} and {second} exclude each other: {reason}",
                              done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertGreater(count, 50)
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    nb_sim.main()
