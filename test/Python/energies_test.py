"""Structure factors by energy when wavelengths change afterwards."""

import os
import tempfile
import unittest

import numpy as np

import nanobragg as nb
from common import flags

HC = 12398.42  # eV A
ENERGIES = (12610.0, 12650.0, 12690.0)
NODES = (12600.0, 12640.0, 12720.0)


class ByEnergy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        random = np.random.default_rng(3)
        indices = [(h, k, l) for h in range(-4, 5) for k in range(-4, 5) for l in range(-4, 5)]
        self.write("phased.hkl", (f"{h} {k} {l} {random.uniform(20, 90)} {random.uniform(0, 360)}" for h, k, l in indices))
        self.write("atoms.txt", ["SE 0.1 0.2 0.3 1 10", "ZN 0.4 0.15 0.77 1 14"])
        self.write("table.txt", [f"{label} {eV} {f1 * (1 + i)} {f2 + 3 * i * i}" for label, f1, f2 in (("SE", -7, 0.6), ("ZN", -2, 2))
                                 for i, eV in enumerate(NODES)])
        for i, _ in enumerate(NODES):
            self.write(f"channel{i}.hkl", (f"{h} {k} {l} {random.uniform(20, 90)}" for h, k, l in indices))
        self.write("channels.txt", [f"{eV} channel{i}.hkl" for i, eV in enumerate(NODES)])

    def write(self, name, lines):
        with open(os.path.join(self.folder, name), "w") as file:
            file.writelines(line + "\n" for line in lines)

    def simulator(self, kind, *more, **engine):
        place = lambda name: os.path.join(self.folder, name)
        factors = {"anomalous": ["-hkl", place("phased.hkl"), "--anomalous-atoms", place("atoms.txt"), "--anomalous-table",
                                 place("table.txt")],
                   "channels": ["--hkl-channels", place("channels.txt")],
                   "linear": ["--hkl-channels", place("channels.txt"), "--channel-weights=linear"]}[kind]
        return nb.Simulator.from_flags(flags(*factors, "-nointerpolate", *more), **engine)

    def spectrum(self, energies):
        self.write("spectrum.txt", [f"{energy!r} {weight}" for energy, weight in zip(energies, (1, 2, 0.5))])
        return "--spectrum", os.path.join(self.folder, "spectrum.txt")

    def check(self, got, want):
        self.assertGreater(want.max(), 0)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * want.max())

    def test_another_wavelength_has_other_factors(self):
        for kind in ("anomalous", "channels", "linear"):
            for engine in ("fused", "interpreter"):
                with self.subTest((kind, engine)):
                    sim = self.simulator(kind, "-energy", "12610", engine=engine)
                    first = sim.image()
                    for energy in (12630.0, 12670.0, 12719.0):
                        sim["wavelength"] = HC / energy * nb.angstrom
                        self.check(sim.image(), self.simulator(kind, "-energy", repr(energy)).image())
                    # The spots move by little, their brightness by much.
                    self.assertGreater(np.abs(sim.image() - first).max(), 0.1 * first.max())

    def test_a_spectrum_that_shifts(self):
        for kind in ("anomalous", "channels", "linear"):
            with self.subTest(kind):
                sim = self.simulator(kind, *self.spectrum(ENERGIES))
                other = [energy + 25 for energy in ENERGIES]
                sim["source_wavelength"] = [HC / energy * nb.angstrom for energy in other]
                self.check(sim.image(), self.simulator(kind, *self.spectrum(other)).image())

    def test_derivatives_by_the_wavelength_go_through_f_prime(self):
        sim = self.simulator("anomalous", *self.spectrum(ENERGIES))
        weights = np.random.default_rng(1).uniform(size=sim.shape)
        gradient = sim.gradient("wavelength_offset", weights)["wavelength_offset"]
        step = 1e-6 * nb.angstrom

        def value(offset):
            sim["wavelength_offset"] = offset
            return (weights * sim.image()).sum()

        slopes = [(value(h) - value(-h)) / (2 * h) for h in (step, step / 2)]
        value(0)
        self.assertAlmostEqual(gradient / ((4 * slopes[1] - slopes[0]) / 3), 1, delta=1e-6)
        # It is another than that of factors that stay what they are.
        self.write("table.txt", [f"{label} 12650 {f1} {f2}" for label, f1, f2 in (("SE", -10, 3), ("ZN", -3, 3))])
        fixed = self.simulator("anomalous", *self.spectrum(ENERGIES))
        self.assertGreater(abs(fixed.gradient("wavelength_offset", weights)["wavelength_offset"] - gradient), 0.1 * abs(gradient))

    def test_beyond_the_table_is_its_end(self):
        sim = self.simulator("anomalous", "-energy", "12700")
        sim["wavelength"] = HC / 12800 * nb.angstrom
        self.write("table.txt", [f"{label} 12000 {3 * f1} {f2 + 12}\n{label} 13000 {3 * f1} {f2 + 12}"
                                 for label, f1, f2 in (("SE", -7, 0.6), ("ZN", -2, 2))])
        self.check(sim.image(), self.simulator("anomalous", "-energy", "12800").image())


if __name__ == "__main__":
    unittest.main()
