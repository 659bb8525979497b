#!/usr/bin/env python3
"""warnings_test.py NB_SIM FAKE_COMPILER: a flag that changes nothing in this run is mentioned."""

import nb_sim
from nb_sim import NbSimTest

GOOD = "-cell 40 -default_F 10 -N 3 -detpixels 8 -oversample 1 -noprogress -nonoise -nopgm"

# Words that are appended to GOOD, and the flag that the warning must name.
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
    ("-compat c -stol table", "-stol"),
    ("-compat c -4stol table", "-4stol"),
    ("-compat c -Q table", "-Q"),
    ("-stolout out", "-stolout"),
    ("-coherent", "-coherent"),
    ("-density 1.2", "-density"),
    ("-MW 40000", "-MW"),
    ("-thickness 3", "-thickness"),
    ("-mosaic 1 -mosaic_abc 1 1 1", "-mosaic"),
    ("-laue_group 3", "-laue_group"),
    ("-lambda_scale 1.1", "-lambda_scale"),
    ("-seed 5", "-seed"),
    ("-noisefile n.img -nonoise", "-noisefile"),
    ("-pgmscale 2 -nopgm", "-pgmscale"),
    ("--list-parameters -floatfile f.bin", "-floatfile"),
    ("--list-parameters --png p.png", "--png"),
]


# A slip of units and the parts of the error.
SLIPS = [
    ("-cell 40 40 40 1.57 1.57 1.57", ["-cell: 1.57 degrees", "1.57 rad would be -cell 89.9544"]),
    ("-lambda 1e-10", ["-lambda: 1e-10 A", "1e-10 m would be -lambda 1"]),
    ("-lambda 12398", ["-lambda: 12398 A", "12398 eV would be -energy 12398"]),
    ("-lambda 500", ["500 pm would be -lambda 5"]),
    ("-energy 12.4", ["-energy: 12.4 eV", "12.4 keV would be -energy 12400"]),
    ("-distance 0.28", ["-distance: 0.28 mm", "0.28 m would be -distance 280"]),
    ("-distance 280000", ["280000 um would be -distance 280"]),
    ("-close_distance 0.1", ["0.1 m would be -close_distance 100"]),
    ("-pixel 200", ["-pixel: 200 mm", "200 um would be -pixel 0.2"]),
    ("-pixel 1.72e-4", ["0.000172 m would be -pixel 0.172"]),
    ("-detector_thick 0.45", ["0.45 mm would be -detector_thick 450"]),
    ("-dmin 2e-10", ["2e-10 m would be -dmin 2"]),
    ("-cell 4e-9", ["-cell: 4e-09 A", "4e-09 m would be -cell 40"]),
    ("-detsize 0.4 -pixel 0.1", ["0.4 m would be -detsize 400"]),
    ("-xtalsize 20 -beamsize 30", ["20 um would be -xtalsize 0.02"]),
    ("-mosaic 300 -mosaic_dom 5", ["-mosaic: 300 degrees", "up to 180 degrees"]),
    ("-divergence 2000", ["2000 urad would be -divergence 2"]),
    ("-fluence 1e37", ["-fluence: 1e+37 photons/m^2", "check the unit"]),
    ("-exposure 1e8 -flux 1e12", ["-exposure: 1e+08 s"]),
]

# An unusual value that another unit explains, and the parts of the warning.
UNUSUAL = [
    ("-fluence 1e12", ["-fluence: 1e+12 photons/m^2 is unusual; most are from 1e+14 to 1e+31 photons/m^2",
                       "1e+12 photons/um^2 would be -fluence 1e+24"]),
    ("-distance 15000", ["-distance: 15000 mm is unusual; most are from 10 to 5000 mm",
                         "15000 um would be -distance 15"]),
    ("-distance 5", ["5 m would be -distance 5000"]),
    ("-lambda 12.4", ["-lambda: 12.4 A is unusual", "12.4 keV would be -energy 12400"]),
    ("-lambda 0.1", ["0.1 nm would be -lambda 1"]),
    ("-energy 100", ["100 keV would be -energy 100000"]),
    ("-cell 1.8", ["1.8 nm would be -cell 18"]),
    ("-dmin 0.15", ["0.15 nm would be -dmin 1.5"]),
    ("-pixel 8", ["8 um would be -pixel 0.008"]),
    ("-detector_thick 5 -detector_abs 500", ["5 mm would be -detector_thick 5000"]),
    ("-mosaic 20 -mosaic_dom 5", ["20 mrad would be -mosaic 1.14592"]),
    ("-divergence 200", ["200 urad would be -divergence 0.2"]),
    ("-water 0.05", ["0.05 mm would be -water 50"]),
    ("-beamsize 5 -flux 1e12", ["5 um would be -beamsize 0.005"]),
    ("-exposure 1e5 -flux 1e12", ["100000 ms would be -exposure 100"]),
    ("-Xbeam 5000", ["5000 um would be -Xbeam 5"]),
    ("-detpixels 100 -pixel 1 -Xbeam 0.05", ["-Xbeam: 0.05 mm is at the edge of a detector of 100 mm; "
                                           "0.05 m would be 50 mm"]),
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

    def test_values_in_another_unit(self):
        for words, parts in SLIPS:
            with self.subTest(words):
                done = self.run_nb_sim((GOOD + " " + words).split())
                self.assertNotEqual(done.returncode, 0)
                for part in [*parts, "is beyond any experiment; values "]:
                    self.assertIn(part, done.stderr)

    def test_unusual_values(self):
        for words, parts in UNUSUAL:
            with self.subTest(words):
                found = [line for line in self.warnings_of(words) if parts[-1] in line]
                self.assertTrue(found, self.warnings_of(words))
                for part in parts:
                    self.assertIn(part, found[0])

    def test_materials(self):
        for words, part in (("-stol table -density 1000", "more than that of any material"),
                            ("-stol table -MW 0.018", "less than that of hydrogen"),
                            ("-stol table -thickness 1e9", "beyond any experiment")):
            with self.subTest(words):
                done = self.run_nb_sim((GOOD + " " + words).split())
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(part, done.stderr)

    def test_values_in_their_unit(self):
        for words in ("-lambda 0.3", "-lambda 5", "-energy 500", "-energy 80000", "-distance 20",
                      "-distance 4000", "-pixel 0.01", "-pixel 2", "-detector_thick 10", "-dmin 0.4",
                      "-detsize 900 -pixel 4", "-fluence 1e20", "-fluence 1e30", "-phi 3600",
                      "-mosaic 90 -mosaic_dom 5", "-osc 90", "-misset 0 400 0", "-divergence 0.001", "-xtalsize 0.00001", "-cell 2.5", "-beamsize 0.0001"):
            with self.subTest(words):
                self.assertEqual([line for line in self.warnings_of(words) if "usual" in line], [])

    def test_places_that_are_numbers_of_pixels(self):
        for words, found in (("-detpixels 100 -pixel 0.1 -Xbeam 50", "-Xbeam: 50 mm is far off a detector of 10 mm; "
                              "50 pixels would be 5 mm"),
                             ("-detpixels 100 -pixel 0.1 --beam-center 51 5", "--beam-center: 51 mm is far off"),
                             ("-detpixels_x 20 -detpixels_y 10 -roi 0 9 0 19", "beyond the detector of 20 x 10 pixels")):
            with self.subTest(words):
                lines = self.warnings_of(words)
                self.assertTrue(any(found in line for line in lines), lines)
        for words in ("-detpixels 100 -pixel 0.1 -Xbeam 15", "-detpixels 100 -pixel 0.1 -Xbeam 500", "-detpixels 20 -roi 0 20 0 20"):
            with self.subTest(words):
                self.assertEqual(self.warnings_of(words), [])

    def test_an_image_without_a_photon(self):
        self.assertEqual(self.warnings_of(""), [])
        done = self.run_nb_sim(GOOD.split(), NB_FAKE_BLACK="1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("WARNING: no pixel of this image has a photon", done.stderr)
        quiet = self.run_nb_sim([*GOOD.split(), "--quiet"], NB_FAKE_BLACK="1")
        self.assertEqual(quiet.stderr, "")

    def test_a_list_of_five_columns(self):
        self.add("five.hkl", "0 0 1 10\n0 0 2 10 0.5\n0 0 3 10 0.5 # sigma\n")
        self.add("four.hkl", "0 0 1 10\n0 0 2 10 # sigma 0.5\n")
        found = self.warnings_of("-hkl five.hkl")
        self.assertTrue(any("five.hkl: line 2 has more than the four columns" in line
                            for line in found), found)
        self.assertEqual(self.warnings_of("-hkl four.hkl"), [])

    def test_sources_that_shine_from_elsewhere(self):
        self.add("spectrum", "9500 0.3 1\n9501 0.5 1\n")
        found = self.warnings_of("-sourcefile spectrum")
        self.assertEqual(len([line for line in found if "source 1 lies 180 degrees off" in line]), 1)
        self.assertEqual(len(found), 1)

    @staticmethod
    def switched_on(line):
        """GOOD switches the noise image off and a case may switch it on again."""
        return line.startswith("WARNING: -nonoise ")


if __name__ == "__main__":
    nb_sim.main()
