#!/usr/bin/env python3
"""outputs_test.py NB_SIM FAKE_COMPILER: what is in the files, whatever the kernel computes."""

import os
import re
import struct
import time

import nb_sim
from nb_sim import NbSimTest

GOOD = "-cell 40 -default_F 10 -N 3 -detpixels 8 -oversample 1 -noprogress -nopgm"
PANELS = """[{"offset_mm": [0, 0, 0], "fast": [0, 0, 1], "slow": [0, -1, 0], "pixels": [6, 4]},
             {"offset_mm": [0, 30, 5], "fast": [0, 0, 1], "slow": [0, -1, 0], "pixels": [5, 8]}]"""
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../docs/examples/panels/two_sizes.json")


class Outputs(NbSimTest):
    def run_well(self, words):
        done = self.run_nb_sim(words.split())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def smv(self, name):
        """Header entries and pixels."""
        data = self.read(name)
        header = dict(re.findall(r"(\w+)=([^;\n]*)", data[:1024].split(b"}")[0].decode()))
        pixels = data[int(header["HEADER_BYTES"]):]
        return header, struct.unpack(f"={len(pixels) // 2}H", pixels)

    def test_floats_as_an_array_of_numpy(self):
        self.run_well(GOOD + " -nonoise -floatfile x.npy")
        self.run_well(GOOD + " -nonoise -floatfile x.bin")
        npy = self.read("x.npy")
        self.assertTrue(npy.startswith(b"\x93NUMPY"))
        self.assertIn(b"'shape': (8,8,)", npy[:128])
        self.assertEqual(npy[-256:], self.read("x.bin"))

    def test_names_do_not_matter_in_the_c_program(self):
        self.run_well(GOOD + " -nonoise -compat c -floatfile x.npy -intfile x.cbf")
        self.assertEqual(len(self.read("x.npy")), 256)
        self.assertTrue(self.read("x.cbf").startswith(b"{\nHEADER_BYTES"))

    def seed(self, words):
        return int(re.search(r"seed: -(\d+)", self.run_well(words).stdout)[1])

    def test_every_run_has_noise_of_its_own(self):
        seeds = {self.seed(GOOD) for _ in range(4)}
        self.assertEqual(len(seeds), 4)
        self.assertTrue(all(0 < seed < 2**31 - 1 for seed in seeds), seeds)

    def test_a_printed_seed_gives_the_same_noise(self):
        seed = self.seed(GOOD)
        first = self.read("noiseimage.img")
        for flag in (f"--noise-seed={seed}", f"--noise-seed {seed}", f"-seed {seed}"):
            self.assertEqual(self.seed(f"{GOOD} {flag}"), seed)
            self.assertEqual(self.read("noiseimage.img"), first)

    def test_the_c_program_takes_the_clock(self):
        before = int(time.time())
        self.assertIn(self.seed(GOOD + " -compat c"), range(before, int(time.time()) + 1))

    def test_who_names_the_smv_image_hears_of_its_scale(self):
        note = "NOTE: -intfile is scaled by"
        self.assertIn(note, self.run_well(GOOD + " -intfile a.img").stderr)
        for words in ("", " -intfile a.img -scale 3", " -intfile a.img --quiet"):
            self.assertNotIn(note, self.run_well(GOOD + words).stderr)

    def test_panels_of_two_sizes(self):
        self.add("p.json", PANELS)
        words = GOOD.replace("-detpixels 8 ", "")
        self.run_well(words + " --panels=p.json -seed 5 -scale 1 -intfile a.b.img -floatfile x.bin")
        floats = struct.unpack("=96f", self.read("x.bin"))  # 2 panels in frames of 8 x 6
        first, second = self.smv("a.b_panel0.img"), self.smv("a.b_panel1.img")
        self.assertEqual((first[0]["SIZE1"], first[0]["SIZE2"]), ("6", "4"))
        self.assertEqual((second[0]["SIZE1"], second[0]["SIZE2"]), ("5", "8"))
        counts = [int(x + 40.5) for x in floats]
        self.assertEqual(list(first[1]), counts[:24])
        self.assertEqual(list(second[1]), [counts[48 + s * 6 + f] for s in range(8) for f in range(5)])
        self.assertEqual(len(self.smv("noiseimage_panel1.img")[1]), 40)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "a.b.img")))

    def test_every_panel_has_its_own_beam_centre(self):
        self.add("p.json", PANELS)
        self.run_well(GOOD + " --panels=p.json -nonoise -distance 100")
        self.run_well(GOOD + " -nonoise -distance 100 -intfile whole.img")
        whole = self.smv("whole.img")[0]
        first, second = (self.smv(f"intimage_panel{i}.img")[0] for i in range(2))
        # The first panel's corner is the detector's; the second stands 30 mm against slow, 5 along fast.
        self.assertEqual(first["MOSFLM_CENTER_X"], whole["MOSFLM_CENTER_X"])
        self.assertEqual(first["XDS_ORGX"], whole["XDS_ORGX"])
        self.assertAlmostEqual(float(second["XDS_ORGX"]), float(whole["XDS_ORGX"]) - 50)
        self.assertAlmostEqual(float(second["XDS_ORGY"]), float(whole["XDS_ORGY"]) + 300)
        self.assertAlmostEqual(float(second["MOSFLM_CENTER_X"]),
                               float(whole["MOSFLM_CENTER_X"]) + 30, places=4)
        self.assertEqual(second["DISTANCE"], whole["DISTANCE"])

    def test_a_panel_larger_than_the_detector(self):
        self.add("p.json", PANELS.replace("[6, 4]", "[9, 4]"))
        done = self.run_nb_sim((GOOD + " --panels=p.json").split())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("panel 0 has 9 x 4 pixels", done.stderr)
        self.assertIn("-detpixels", done.stderr)

    def test_the_example_of_the_documentation(self):
        words = GOOD.replace("-detpixels 8 ", "") + f" -xds --panels={EXAMPLE} -nonoise"
        self.run_well(words)
        self.assertEqual([self.smv(f"intimage_panel{i}.img")[0]["SIZE2"] for i in range(3)],
                         ["256", "256", "128"])


if __name__ == "__main__":
    nb_sim.main()
