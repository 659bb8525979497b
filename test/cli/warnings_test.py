#!/usr/bin/env python3
"""warnings_test.py NB_SIM FAKE_COMPILER: a flag that changes nothing in this run is mentioned."""

import nb_sim
from nb_sim import NbSimTest

GOOD = "-cell 40 -default_F 10 -N 3 -detpixels 8 -oversample 1 -noprogress -nonoise -nopgm"

# What is appended to GOOD, and the flag that the warning must name.
NO_EFFECT = [
    ("-fudge 2", "-fudge"),
    ("-xds -Xbeam 5", "-Xbeam"),
    ("-xds -Ybeam 5", "-Ybeam"),
    ("-dials -Xbeam 5", "-Xbeam"),
    ("-mosflm -ORGX 5", "-ORGX"),
    ("-adxv -ORGY 5", "-ORGY"),
    ("-mosflm -Xclose 5", "-Xclose"),
    ("-xds -Yclose 5", "-Yclose"),
    ("-fdet_vector 0 0 1 -Xbeam 3 -Xclose 5", "-Xclose"),
    ("-fdet_vector 0 0 1 -Xbeam 3 -ORGX 5", "-ORGX"),
    ("-pix0_vector 0 0 1", "-pix0_vector"),
    ("-fdet_vector 0 0 1 -xds", "vectors"),
    ("-mosflm -pivot sample", "pivot"),
    ("-twotheta_axis 0 1 0", "-twotheta_axis"),
    ("-close_distance 80 -distance 90", "-distance"),
    ("-detsize 50", "-detsize"),
    ("-thicksteps 4", "-thicksteps"),
    ("-detector_abs 500", "-detector_abs"),
    ("-oversample_thick", "-oversample_thick"),
    ("-nopolar -oversample_polar", "-nopolar"),
    ("-polar 0.5 -nopolar", "-polar"),
    ("-nopolar -polar 0.5", "-nopolar"),
    ("-mosaic_dom 5", "mosaic"),
    ("-mosaic 0 -mosaic_dom 5", "mosaic"),
    ("-mosaic_seed 5", "-mosaic_seed"),
    ("-misset_seed 5", "-misset_seed"),
    ("-interpolate", "-interpolate"),
    ("-xtalsize 0.001", "-N"),
    ("-flux 1e9 -fluence 1e20", "-fluence"),
    ("-exposure 2", "-exposure"),
    ("-beamsize 0.2", "-beamsize"),
    ("-dispsteps 3", "-dispsteps"),
    ("-square_div", "-square_div"),
    ("-phistep 1 -phisteps 4", "-phisteps"),
    ("-sourcefile sources -divergence 2", "divergence"),
    ("-sourcefile sources -dispersion 2", "dispersion"),
    ("-stol table", "-stol"),
    ("-4stol table", "-4stol"),
    ("-Q table", "-Q"),
    ("-stolout out", "-stolout"),
    ("-coherent", "-coherent"),
    ("-density 1.2", "-density"),
    ("-MW 40000", "-MW"),
    ("-seed 5", "-seed"),
    ("-noisefile n.img -nonoise", "-noisefile"),
    ("-pgmscale 2 -nopgm", "-pgmscale"),
    ("--list-parameters -floatfile f.bin", "-floatfile"),
    ("--list-parameters --png p.png", "--png"),
]


class Warnings(NbSimTest):
    def warnings_of(self, words):
        done = self.run_nb_sim((GOOD + " " + words).split())
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stderr.splitlines() if line.startswith("WARNING: ")]

    def setUp(self):
        super().setUp()
        self.add("sources", "-10 0 0 1 1e-10\n-10 0.01 0 1 1e-10\n")
        self.add("table", "0 10\n0.1 8\n")

    def test_flags_without_effect(self):
        for words, flag in NO_EFFECT:
            with self.subTest(words):
                found = self.warnings_of(words)
                self.assertTrue(any(flag in line for line in found), found)

    def test_flags_with_effect(self):
        for words in ("", "-round_xtal -fudge 2", "-Xbeam 3", "-xds -ORGX 5", "-misset random "
                      "-misset_seed 5", "-mosaic 1 -mosaic_dom 3 -mosaic_seed 4",
                      "-detector_thick 300 -detector_abs 500 -thicksteps 3 -oversample_thick",
                      "-osc 1 -phisteps 3", "-noisefile n.img -seed 5"):
            with self.subTest(words):
                self.assertEqual([line for line in self.warnings_of(words)
                                  if "no effect" in line and not self.switched_on(line)], [])

    @staticmethod
    def switched_on(line):
        """GOOD switches the noise image off and a case may switch it on again."""
        return line.startswith("WARNING: -nonoise ")


if __name__ == "__main__":
    nb_sim.main()
