"""Numbers without their unit are refused however they come in, and pairs have one order."""

import subprocess
import sys
import unittest
import warnings

import numpy as np

import nanobragg as nb

warnings.filterwarnings("ignore", ".*undersampled|.*without -mosaic_domains", nb.Warning)
A, mm, deg = nb.angstrom, nb.millimeter, nb.degree
FLAGS = ("-cell 70 80 90 90 90 90 -default_F 100 -N 8 -lambda 1 -distance 100 -pixel 0.5 -detpixels_f 20 -detpixels_s 16 -oversample 1 "
         "-mosaic 0.1 -osc 0.1 -phisteps 2 ")


def sim(**parts):
    crystal = dict(cell=(70 * A, 80 * A, 90 * A, 90 * deg, 90 * deg, 90 * deg), default_F=100, ncells=8)
    detector = dict(distance=100 * mm, pixel_size=0.5 * mm, shape=(16, 20), oversample=1)
    beam = parts.get("beam", {})
    return nb.Simulator(nb.Crystal(**crystal | parts.get("crystal", {})), nb.Beam(**({} if "energy" in beam else dict(wavelength=1 * A)) | beam),
                        nb.Detector(**detector | parts.get("detector", {})), nb.Goniometer(**parts.get("goniometer", {})))


class ForgottenUnits(unittest.TestCase):
    def refused(self, how, *words):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises((ValueError, TypeError)) as caught:
                how()
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_trial_values_of_a_fit_give_no_warning(self):
        code = "import nanobragg.refine as refine, nanobragg as nb, sys; " \
               "sim = nb.Simulator.from_flags('-cell 70 -default_F 1 -N 1 -distance 100 -detpixels 8 -oversample 1'); " \
               "exec('sim[\"distance\"] = 15.0', {'__name__': sys.argv[1], 'sim': sim})"
        for module, status in (("nanobragg.refine._trial", 0), ("script", 1)):
            done = subprocess.run([sys.executable, "-W", "error", "-c", code, module], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("15 m is unusual", done.stderr)
        code = "import nanobragg.refine, nanobragg as nb; " \
               "exec('import warnings; warnings.warn(\"damaged\", nb.Warning)', {'__name__': 'nanobragg.refine._trial', 'nb': nb})"
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
        self.assertIn("damaged", done.stderr)

    def test_wavelength_and_energy(self):
        self.refused(lambda: nb.Simulator(
            nb.Crystal(cell=(7e-9, 8e-9, 9e-9, *[90 * deg] * 3), default_F=1), nb.Beam(wavelength=1e-10, energy=2e-15),
            nb.Detector(distance=0.1, pixel_size=1e-4, shape=(8, 8))), "a wavelength and an energy; give one")

    def test_constructors(self):
        for part, field, value, words in (
                ("beam", "wavelength", 0.98, ("Beam.wavelength: 0.98 m is beyond any experiment", "up to 2e-08 m are allowed", "0.98 * nb.angstrom")),
                ("beam", "wavelength", 12398, ("12398 m", "Beam(energy=12398 * nb.electronvolt)")),
                ("beam", "energy", 12398, ("12398 J", "12398 * nb.electronvolt")),
                ("beam", "energy", 12.4, ("12.4 * nb.kiloelectronvolt",)),
                ("beam", "hdivergence", 2, ("2 rad", "2 * nb.milliradian")),
                ("beam", "dispersion", 2.5, ("2.5 is beyond", "up to 2 are allowed", "2.5 * nb.percent")),
                ("beam", "size", 0.1, ("0.1 * nb.millimeter",)),
                ("beam", "sources", [(-1, 0, 0, 1, 0.98)], ("Beam.sources", "0.98 * nb.angstrom")),
                ("beam", "background", nb.Background(stol=[0, 0.1, 0.5], factor=[1, 2, 3]), ("Background.stol: 0.5 1/m", "0.5 / nb.angstrom")),
                ("crystal", "cell", (70, 80, 90, 90, 90, 90), ("Crystal.cell: 70 m", "70 * nb.angstrom")),
                ("crystal", "cell", (7e-9, 8e-9, 9e-9, 90, 90, 90), ("Crystal.cell: 90 rad", "90 * nb.degree")),
                ("crystal", "misset", (10, 20, 30), ("Crystal.misset: 10 rad", "up to 6.28319 rad", "10 * nb.degree")),
                ("crystal", "mosaic_spread", 5, ("5 rad",)),
                ("crystal", "dmin", 2.0, ("2 * nb.angstrom",)),
                ("crystal", "size", 0.05, ("0.05 * nb.millimeter",)),
                ("crystal", "real_space", np.diag([70, 80, 90]), ("Crystal.real_space", "70 * nb.angstrom")),
                ("crystal", "matrix", np.diag([0.01, 0.02, 0.03]), ("Crystal.matrix: 0.03 1/m", "0.03 / nb.angstrom")),
                ("detector", "distance", 150, ("Detector.distance: 150 m", "150 * nb.millimeter")),
                ("detector", "pixel_size", 0.172, ("0.172 * nb.millimeter",)),
                ("detector", "pixel_size", 172, ("172 * nb.micrometer",)),
                ("detector", "beam_center", (51, 49), ("51 * nb.millimeter",)),
                ("detector", "rotation", (10, 0, 0), ("10 * nb.degree",)),
                ("detector", "twotheta", 20, ("20 * nb.degree",)),
                ("detector", "thickness", 450, ("450 * nb.micrometer",)),
                ("detector", "psf_fwhm", 100, ("100 * nb.micrometer",)),
                ("detector", "dead_time", 120, ("120 s", "1.2e-07 for 120 ns")),
                ("goniometer", "phi", 90, ("90 * nb.degree",)),
                ("goniometer", "osc", 10, ("10 * nb.degree",))):
            with self.subTest(f"{field}={value}"):
                given = {"crystal": {"cell": None}} if field in ("real_space", "matrix") else {}
                given[part] = {**given.get(part, {}), field: value}
                self.refused(lambda: sim(**given), *words)
        self.refused(lambda: nb.Panel((-50, -50, 150), (1, 0, 0), (0, 1, 0), (8, 8)), "Panel.origin: 150 m", "150 * nb.millimeter")

    def test_values_that_are_unusual_are_warned_of(self):
        for part, field, value, words in (("crystal", "mosaic_spread", 0.5, r"0\.5 rad is unusual; most are up to 0\.0\d+ rad; .*0\.5 \* nb\.degree"),
                                          ("goniometer", "osc", 1.0, r"1 \* nb\.degree"),
                                          ("goniometer", "phi", 10, r"up to 6\.28\d+ rad; .*10 \* nb\.degree"), ("detector", "distance", 30, r"30 \* nb\.millimeter"),
                                          ("detector", "distance", 15.0, r"15 \* nb\.millimeter"),
                                          ("beam", "wavelength", 12.4 * A, r"Beam\(energy=12\.4 \* nb\.kiloelectronvolt\)"),
                                          ("beam", "fluence", 1e12, r"1e\+12 1/m\^2 is unusual; .*1e\+24 for 1e\+12 photons/um\^2"),
                                          ("beam", "dispersion", 1, r"1 \* nb\.percent")):
            with self.subTest(field), self.assertWarnsRegex(nb.Warning, words):
                sim(**{part: {field: value}})
        made = nb.Simulator.from_flags(FLAGS)
        with self.assertWarnsRegex(nb.Warning, r"mosaic_spread: 0\.5 rad is unusual"):
            made.set(mosaic_spread=0.5)

    def test_usual_values_pass(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = sim(crystal=dict(misset=(0, -3.1, 6.28)), goniometer=dict(phi=2 * np.pi), detector=dict(beam_center=(-0.2, 0.3)))
            made.set(misset=(-6, 0, 1e-9), wavelength=5 * A, distance=4.0, fluence=1e20, phi0=-6.2)
        sim(beam=dict(energy=92 * nb.electronvolt))

    def test_parameters(self):
        made = nb.Simulator.from_flags(FLAGS)
        before = made["wavelength"], made["distance"], made["misset"].tolist()
        self.refused(lambda: made.set(wavelength=0.98), "wavelength: 0.98 m", "0.98 * nb.angstrom")
        self.refused(lambda: made.set(misset=(10, 20, 30)), "misset_x: 10 rad", "10 * nb.degree")
        self.refused(lambda: made.set(wavelength=1e-10, distance=150.0), "distance: 150 m")
        self.refused(lambda: made.__setitem__("cell_alpha", 90), "cell_alpha: 90 rad", "90 * nb.degree")
        self.assertEqual((made["wavelength"], made["distance"], made["misset"].tolist()), before)
        f = made.function("cell_a", "misset")
        self.refused(lambda: f.image([70, 0, 0, 0]), "cell_a: 70 m")
        self.refused(lambda: f.vjp([7e-9, 10, 0, 0], np.zeros(made.shape)), "misset_x: 10 rad")
        self.refused(lambda: made.images({"misset": [[0, 0, 0], [0, 0, 30]]}), "misset_z: 30 rad")
        self.refused(lambda: made.set(fluence=1e37), "fluence: 1e+37 1/m^2 is beyond any experiment")
        for how in (lambda: made.set(distance=15.0), lambda: made.images({"distance": np.array([0.1, 15.0])}),
                    lambda: made.images({"fluence": np.array([1e24, 1e12])})):
            with self.assertWarnsRegex(nb.Warning, "is unusual; most are"):
                how()

    def test_flags(self):
        for flags, words in (("-lambda 1e-10", "1e-10 m would be -lambda 1"), ("-distance 0.28", "0.28 m would be -distance 280")):
            self.refused(lambda: nb.Simulator.from_flags(FLAGS + flags), "is beyond any experiment", words)
        nb.Simulator.from_flags(FLAGS + "-phi 3600")

    def test_strings_and_quantities(self):
        made = nb.Simulator.from_flags(FLAGS)
        self.refused(lambda: made.set(wavelength="0.98 A"), "'wavelength' is the string '0.98 A'", "0.98 * nb.angstrom")
        self.refused(lambda: sim(beam=dict(wavelength="0.98 Å")), "Beam.wavelength is the string", "0.98 * nb.angstrom")
        self.refused(lambda: sim(beam=dict(energy="12.4 keV")), "12.4 * nb.kiloelectronvolt")
        self.refused(lambda: sim(crystal=dict(misset=("1 deg", 0, 0))), "Crystal.misset is the string '1 deg'", "1 * nb.degree")

        class Quantity:  # as those of pint
            def to_base_units(self):
                raise AssertionError

            def __array__(self, dtype=None, copy=None):
                return np.array(0.98)

        self.refused(lambda: made.set(wavelength=Quantity()), "quantity with a unit", ".to_base_units().magnitude")


class Orders(unittest.TestCase):
    """Every pair is (fast, slow); shapes and indices of arrays are (slow, fast)."""

    def test_a_beam_center_reads_back_as_it_was_set(self):
        center = (3.1 * mm, 5.2 * mm)
        for convention in ("mosflm", "denzo", "adxv", "xds", "dials"):
            with self.subTest(convention):
                made = sim(detector=dict(beam_center=center, convention=convention))
                np.testing.assert_array_equal(made["beam_center"], center)
                self.assertEqual((made["beam_center_fast"], made["beam_center_slow"]), center)
        made = nb.Simulator.from_flags(FLAGS + "--beam-center 3.1 5.2")
        np.testing.assert_allclose(made["beam_center"], center, rtol=1e-15)
        by_x = nb.Simulator.from_flags(FLAGS + "-Xbeam 4.95 -Ybeam 2.85")  # MOSFLM: slow, fast, from the middle of the first pixel
        np.testing.assert_allclose(by_x.image(), made.image(), rtol=1e-9)
        with self.assertRaisesRegex(ValueError, "--beam-center"):
            nb.Simulator.from_flags(FLAGS + "--beam-center 3.1 5.2 -Xbeam 3")

    def test_flags_over_a_beam_center(self):
        made = nb.Simulator(nb.Crystal(cell=(7e-9, 8e-9, 9e-9, *[90 * deg] * 3), default_F=1),
                            nb.Detector(beam_center=(3 * mm, 5 * mm), pixel_size=0.5 * mm, shape=(16, 20)), flags="-adxv -Xbeam 4 -Ybeam 6")
        np.testing.assert_allclose(made["beam_center"], (4 * mm, 2 * mm))

    def test_a_region(self):
        made = sim(detector=dict(region=(2, 9, 4, 5)))
        rendered = np.zeros((16, 20), dtype=bool)
        rendered[4:6, 2:10] = True
        np.testing.assert_array_equal(made.rendered, rendered)
        with self.assertRaisesRegex(ValueError, "region needs 4 whole numbers and is given 2: .*first and last along fast"):
            sim(detector=dict(region=((4, 5), (2, 9))))


if __name__ == "__main__":
    unittest.main()
