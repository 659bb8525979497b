"""Continuous spectra, from pink to white: against many lines, differences, refusals."""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import nanobragg as nb

HC = 12398.42  # eV A
SIZE = 800
WHITE = (f"-cell 7 8 9 85 95 100 -misset 17 29 41 -default_F 100 -gauss_xtal -N 120 -distance 100 -detpixels {SIZE} -pixel 0.2 "
         "-fluence 1e24 -mosaic 0.1 --average=closed --average-tolerance=1e-3")
PINK = ("-cell 70 80 90 85 95 100 -misset 17 29 41 -default_F 100 -gauss_xtal -N 20 -distance 100 -detpixels 300 -pixel 0.3 "
        "-fluence 1e24 -mosaic 0.1 --average=closed --average-tolerance=1e-2")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def spectrum(self, wavelengths, weights, name="s.txt"):
        path = os.path.join(self.folder, name)
        np.savetxt(path, np.c_[wavelengths, weights], fmt="%.9g")
        return path

    def simulator(self, flags, path, between="linear"):
        return nb.Simulator.from_flags(f"{flags} --spectrum={path} --spectrum-between={between}", threads=2)


class Spectra(Files):
    def test_white(self):
        wavelengths = np.linspace(0.6, 1.8, 1201)
        path = self.spectrum(wavelengths, np.exp(-0.5 * ((wavelengths - 1.1) / 0.35)**2))
        sim = self.simulator(WHITE, path)
        table = sim.reflections()
        lines = self.simulator(WHITE, path, "lines").image()
        image = sim.image()
        beam = np.s_[SIZE // 2 - 40:SIZE // 2 + 40, SIZE // 2 - 40:SIZE // 2 + 40]
        np.testing.assert_allclose(image[beam].sum(), lines[beam].sum(), rtol=0.1, err_msg="the direct beam, in all wavelengths")
        image[beam] = lines[beam] = 0
        np.testing.assert_allclose(image.sum(), lines.sum(), rtol=1e-3)
        isolated = 0
        for i in np.argsort(-table.photons)[:80]:
            reach = 5 * np.sqrt(table.covariance[i].trace()) + 3
            near = np.hypot(table.fast - table.fast[i], table.slow - table.slow[i])
            fast, slow = int(table.fast[i]), int(table.slow[i])
            half = int(np.ceil(reach))
            if ((near > 0.05) & (near < 2 * reach)).any() or not half < min(fast, slow) <= max(fast, slow) < SIZE - half:
                continue
            isolated += 1
            # At an end of the spectrum the light of a spot is cut off.
            cut = (np.abs(table.wavelength[i] - [0.6, 1.8]) < 4 * table.wavelength_sigma[i]).any()
            box = np.s_[slow - half:slow + half + 1, fast - half:fast + half + 1]
            np.testing.assert_allclose(image[box].sum(), lines[box].sum(), rtol=2e-3)
            np.testing.assert_allclose(image[box], lines[box], rtol=0, atol=(0.05 if cut else 0.006) * lines[box].max())
        self.assertGreater(isolated, 15)

    def test_wavelengths_are_those_that_nodes_need(self):
        path = self.spectrum([0.6, 1.8], [1, 1])
        sim = self.simulator(WHITE + " -divergence_sigma 0.1", path)
        table = sim.reflections()
        self.assertGreater(np.ptp(table.wavelength), 0.8)
        self.assertTrue(((table.wavelength > 0.6) & (table.wavelength < 1.8)).all())
        self.assertLess(table.partiality.max(), 1.005)
        np.testing.assert_allclose(np.median(table.partiality), 1, rtol=0.02)
        ends = 4 * table.wavelength_sigma
        whole = (table.wavelength - ends > 0.6) & (table.wavelength + ends < 1.8)
        double = {tuple(h): w for h, w in zip(table.miller_index[whole].tolist(), table.wavelength[whole])}
        pairs = [(w, double[tuple(2 * i for i in h)]) for h, w in double.items() if tuple(2 * i for i in h) in double]
        self.assertGreater(len(pairs), 3, "harmonics on one ray")
        np.testing.assert_allclose([a / b for a, b in pairs], 2, rtol=5e-3)

    def test_sharp_spots(self):
        """A large crystal takes 1e-4 of the wavelengths, and its table is as exact."""
        path = self.spectrum([0.46, 2.4], [1, 1])
        sim = self.simulator(WHITE.replace("-N 120", "-N 2000").replace("-mosaic 0.1", "-mosaic 0.01"), path)
        table = sim.reflections()
        sim["distance"] += 1e-12
        again = sim.reflections(miller_index=table.miller_index)
        for name in ("photons", "fast", "slow", "covariance", "wavelength_sigma"):
            np.testing.assert_allclose(again[name], table[name], rtol=1e-5, atol=1e-6 * np.abs(table[name]).max(), err_msg=name)
        # The classical Laue factor, of a beam without polarization.
        whole = np.all([abs(table.wavelength - end) > 5 * table.wavelength_sigma for end in (0.46, 2.4)], axis=0)
        q = np.linalg.norm(table.miller_index @ self.reciprocal(sim), axis=1)
        polarization = (1 + (1 - (q * 1e-10 * table.wavelength)**2 / 2)**2) / 2
        light = table.photons / (polarization * (table.wavelength / q)**2)
        np.testing.assert_allclose(light[whole] / np.median(light[whole]), 1, rtol=2e-3)

    def test_a_model_of_atoms_and_a_spectrum_from_memory(self):
        model = os.path.join(self.folder, "ge.cif")
        with open(model, "w") as file:
            file.write("""data_ge
_cell_length_a 5.6575\n_cell_length_b 5.6575\n_cell_length_c 5.6575
_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma 90
_symmetry_space_group_name_H-M 'F d -3 m:2'
loop_\n_atom_site_label\n_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n_atom_site_U_iso_or_equiv
Ge1 Ge 0.125 0.125 0.125 0.007
""")
        wavelengths = np.array([0.5, 1.0, 2.4])
        path = self.spectrum(wavelengths, [1, 3, 2])
        flags = f"-hkl {model} -misset 17 29 41 -gauss_xtal -N 200 -mosaic 0.02 -distance 77 -detpixels 1000 -pixel 0.15 -fluence 1e24"
        table = self.simulator(flags + " --average=closed", path).reflections()
        d = 1e10 / np.linalg.norm(table.miller_index @ np.eye(3) / 5.6575e-10, axis=1)
        self.assertLess(d[table.photons > 0].min(), 0.7, "far beyond 1 A, where factors of proteins end")
        absent = ~((table.miller_index % 2 == 1).all(axis=1) | (table.miller_index % 2 == 0).all(axis=1))
        self.assertTrue((table.photons[absent] == 0).all())
        beam = {"fluence": 1e24, "spectrum": np.column_stack([1e-10 * wavelengths, [1, 3, 2]]), "spectrum_between": "linear"}
        crystal = nb.Crystal(hkl=model, misset=np.radians([17, 29, 41]), shape="gauss", ncells=200, mosaic_spread=np.radians(0.02), average="closed")
        detector = nb.Detector(distance=0.077, shape=(1000, 1000), pixel_size=0.15e-3)
        same = nb.Simulator(crystal, nb.Beam(**beam), detector).reflections(miller_index=table.miller_index)
        np.testing.assert_allclose(same.photons, table.photons, rtol=1e-6)
        # The same as a density over the energy, at whose mean wavelength f' and f'' are, without an option for averages.
        by_energy = self.spectrum(HC / wavelengths, np.array([1, 3, 2]) * wavelengths**2, "energies.txt")
        table_by_energy = self.simulator(flags, by_energy).reflections(miller_index=table.miller_index)
        np.testing.assert_allclose(table_by_energy.photons, table.photons, rtol=1e-4, atol=1e-9 * table.photons.max())
        done = subprocess.run([sys.executable, "-m", "nanobragg.simulate", *flags.split(), f"--spectrum={path}", "--spectrum-between=linear",
                               "-nonoise", "-nopgm"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout + done.stderr, r"with f' and f'' at \d+ eV for all wavelengths; --anomalous-atoms=.*ge\.cif takes them at each")
        with self.assertRaisesRegex(ValueError, "Beam.sources"):
            nb.Simulator(crystal, nb.Beam(spectrum=beam["spectrum"]), detector)
        for wrong, words in (([1e-10, 2e-10], "points, 2"), ([[1e-10, -1.0], [2e-10, 1.0]], "not negative")):
            with self.assertRaisesRegex(ValueError, words):
                nb.Simulator(crystal, nb.Beam(spectrum=wrong, spectrum_between="linear"), detector)

    def test_harmonics_in_tables_of_dials(self):
        spectrum, out = self.spectrum([0.6, 1.8], [1, 1]), os.path.join(self.folder, "spots.refl")
        subprocess.run([sys.executable, "-m", "nanobragg.simulate", *WHITE.split(), f"--spectrum={spectrum}", "--spectrum-between=linear",
                        f"--reflections={out}", "--quiet"], check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
        with open(out, "rb") as file:
            data = importlib.import_module("msgpack").unpackb(file.read(), raw=False)[2]["data"]
        kind, (rows, marks) = data["harmonics"]
        hkl = np.frombuffer(data["miller_index"][1][1], "<i4").reshape(rows, 3)
        rays = [tuple(h // np.gcd.reduce(h)) if h.any() else (0, 0, 0) for h in hkl]
        self.assertEqual(kind, "bool")
        self.assertEqual(list(marks), [int(rays.count(ray) > 1) for ray in rays])
        self.assertGreater(sum(marks), 3)

    def test_spectra_of_shots(self):
        """A file of NXmx with a spectrum for each shot."""
        h5py = importlib.import_module("h5py")
        path, wavelengths = os.path.join(self.folder, "run.nxs"), np.linspace(0.98, 1.02, 21)
        weights = np.random.default_rng(4).uniform(0, 1, (3, 21))  # as SASE has
        with h5py.File(path, "w") as file:
            beam = file.create_group("entry/instrument/beam")
            beam["incident_wavelength_1Dspectrum"] = wavelengths
            beam["incident_wavelength_1Dspectrum"].attrs["units"] = "angstrom"
            beam["incident_wavelength_1Dspectrum_weights"] = weights
        for shot in (0, 2):
            table = self.simulator(PINK, f"{path}:{shot}").reflections()
            same = self.simulator(PINK, self.spectrum(wavelengths, weights[shot])).reflections(miller_index=table.miller_index, panel=table.panel)
            np.testing.assert_allclose(table.photons, same.photons, rtol=1e-6)
            lines = self.simulator(PINK, f"{path}:{shot}", "lines")
            np.testing.assert_allclose(lines["source_weight"] / lines["source_weight"].sum(), weights[shot] / weights[shot].sum(), rtol=1e-12)
        for name in (path, f"{path}:3"):
            with self.assertRaisesRegex(OSError, "has spectra of 3 shots, counted from 0; choose one"):
                self.simulator(PINK, name)
        with self.assertRaisesRegex(OSError, "has one spectrum; leave out ':2'"):
            self.simulator(PINK, self.spectrum(wavelengths, weights[0]) + ":2")

    def test_structure_factors_are_those_of_each_energy(self):
        path = self.spectrum([0.6, 1.8], [1, 1])
        channels = []
        for energy, factor in ((6500, 100), (21000, 50)):
            name = os.path.join(self.folder, f"{energy}.hkl")
            hkl = np.stack(np.meshgrid(*[np.arange(-16, 17)] * 3), -1).reshape(-1, 3)
            np.savetxt(name, np.c_[hkl, np.full(len(hkl), factor)], fmt="%d")
            channels.append(f"{energy} {name}\n")
        listed = os.path.join(self.folder, "channels.txt")
        with open(listed, "w") as file:
            file.writelines(channels)
        flags = WHITE.replace("-default_F 100", f"--hkl-channels {listed} --channel-weights=linear -nointerpolate")
        table = self.simulator(flags, path).reflections()
        level = self.simulator(WHITE, path).reflections(miller_index=table.miller_index)
        energy = 12398.42 / table.wavelength
        factor = 100 - 50 * (energy - 6500) / (21000 - 6500)
        np.testing.assert_allclose(np.sqrt(table.photons / level.photons), factor / 100, rtol=2e-3)

    def test_a_pink_beam(self):
        wavelengths = np.linspace(0.94, 1.06, 601)
        weights = np.exp(-0.5 * ((wavelengths - 1) / 0.0127)**2)
        path = self.spectrum(wavelengths, weights)
        pink, lines = self.simulator(PINK, path).image(), self.simulator(PINK, path, "lines").image()
        np.testing.assert_allclose(pink.sum(), lines.sum(), rtol=1e-3)
        np.testing.assert_allclose(pink, lines, rtol=0, atol=0.01 * lines.max())

    def test_a_spectrum_with_sharp_ends(self):
        """Some reflections lack a part of their light."""
        wavelengths = np.linspace(0.985, 1.015, 151)
        path = self.spectrum([0.985, 1.015], [1, 1])
        weights = np.ones(151)
        weights[[0, -1]] = 0.5
        level, lines = (self.simulator(PINK, p, b).image() for p, b in
                        ((path, "linear"), (self.spectrum(wavelengths, weights, "l.txt"), "lines")))
        np.testing.assert_allclose(level.sum(), lines.sum(), rtol=2e-3)
        np.testing.assert_allclose(level, lines, rtol=0, atol=0.1 * lines.max())

    def test_a_density_over_the_energy(self):
        """Dense lines, equally far apart, have the image of a continuous spectrum."""
        energies = np.linspace(11000, 14000, 1501)
        path = self.spectrum(energies, np.exp(-0.5 * ((energies - 12000) / 400)**2))
        level, lines = (self.simulator(PINK, path, between).image() for between in ("linear", "lines"))
        np.testing.assert_allclose(level.sum(), lines.sum(), rtol=1e-3)
        np.testing.assert_allclose(level, lines, rtol=0, atol=0.03 * lines.max())

    def test_a_monochromator(self):
        """A narrow normal spectrum is that of --bandwidth-sigma."""
        wavelengths = np.linspace(0.99, 1.01, 401)
        path = self.spectrum(wavelengths, np.exp(-0.5 * ((wavelengths - 1) / 0.002)**2))
        table = self.simulator(PINK, path).reflections(0.01)
        same = nb.Simulator.from_flags(PINK + " -lambda 1 --bandwidth-sigma=0.2").reflections(
            miller_index=table.miller_index, panel=table.panel)
        for name in ("photons", "fast", "slow", "covariance", "wavelength", "wavelength_sigma", "partiality"):
            scale = np.abs(same[name]).max()
            np.testing.assert_allclose(table[name], same[name], rtol=2e-3, atol=3e-3 * scale, err_msg=name)

    def test_derivatives(self):
        path = self.spectrum(np.linspace(0.6, 1.8, 13), 2 + np.sin(np.arange(13)))
        sim = self.simulator(WHITE.replace(str(SIZE), "200"), path)
        table = sim.reflections(1e-2)
        density = sim["spectrum_density"]
        rng = np.random.default_rng(1)
        weights = rng.normal(size=len(table.photons)) / table.photons.max()
        gradient = table.vjp("spectrum_density,distance,cell_a,misset_x", photons=weights, fast=weights * table.photons.max())
        rows = dict(miller_index=table.miller_index)

        def total():
            made = sim.reflections(**rows)
            return (weights * made.photons).sum() + (weights * table.photons.max() * made.fast).sum()

        for name, step in (("distance", 1e-6), ("cell_a", 1e-15), ("misset_x", 1e-7)):
            now, moved = sim[name], []
            for sign in (1, -1):
                sim[name] = now + sign * step
                moved.append(total())
            sim[name] = now
            np.testing.assert_allclose(gradient[name], (moved[0] - moved[1]) / (2 * step), rtol=1e-3, err_msg=name)
        for i in (3, 7):
            change = np.zeros_like(density)
            change[0, 0, i] = 1e-4 * density[0, 0, i]
            moved = []
            for sign in (1, -1):
                sim["spectrum_density"] = density + sign * change
                moved.append(total())
            sim["spectrum_density"] = density
            np.testing.assert_allclose(gradient["spectrum_density"][0, 0, i], (moved[0] - moved[1]) / (2 * change[0, 0, i]), rtol=1e-3)
        image = sim.gradient("spectrum_density")
        # Images and gradients have other blocks of pixels, in which the ends of spots are left out.
        np.testing.assert_allclose((image["spectrum_density"] * density).sum(), sim.image().sum(), rtol=1e-7)

    def test_resolution_limit(self):
        path = self.spectrum([0.6, 1.8], [1, 1])
        table, near = (self.simulator(WHITE + more, path).reflections() for more in ("", " -dmin 2"))
        sim = self.simulator(WHITE, path)
        d = 1e10 / np.linalg.norm(table.miller_index @ self.reciprocal(sim), axis=1)
        np.testing.assert_array_equal(near.miller_index, table.miller_index[d >= 2])
        image = self.simulator(WHITE + " -dmin 2", path).image()
        image[SIZE // 2 - 40:SIZE // 2 + 40, SIZE // 2 - 40:SIZE // 2 + 40] = 0  # the direct beam
        np.testing.assert_allclose(image.sum(), near.photons.sum(), rtol=0.02)

    @staticmethod
    def reciprocal(sim):
        """Rows a*, b*, c*, 1/m, from the cell alone."""
        a, b, c, alpha, beta, gamma = (sim[f"cell_{name}"] for name in ("a", "b", "c", "alpha", "beta", "gamma"))
        cosines = np.cos([alpha, beta, gamma])
        metric = np.array([[a * a, a * b * cosines[2], a * c * cosines[1]], [a * b * cosines[2], b * b, b * c * cosines[0]],
                           [a * c * cosines[1], b * c * cosines[0], c * c]])
        return np.linalg.cholesky(np.linalg.inv(metric))

    def test_interpreter(self):
        path = self.spectrum([0.6, 1.8], [1, 1])
        flags = WHITE.replace(str(SIZE), "60").replace("-pixel 0.2", "-pixel 2")
        fused = self.simulator(flags, path)
        slow = nb.Simulator.from_flags(f"{flags} --spectrum={path} --spectrum-between=linear", engine="interpreter")
        np.testing.assert_allclose(fused.image(), slow.image(), rtol=1e-3, atol=1e-5 * fused.image().max())

    def test_refusals(self):
        path = self.spectrum([0.9, 1.1], [1, 1])
        for more, words in (("-osc 1", "stills"), ("--bandwidth-sigma=1", "no other spread"), ("--average=sampled", "averages in closed form"),
                            ("-curved_det", "flat")):
            with self.assertRaisesRegex(ValueError, f"--spectrum-between=linear.*{words}"):
                self.simulator(f"{PINK} {more}", path)
        with self.assertRaisesRegex(ValueError, "two points at 1 A"):
            self.simulator(PINK, self.spectrum([1, 1, 1.1], [1, 2, 3], "two.txt"))
        with self.assertRaisesRegex(ValueError, "one point"):
            self.simulator(PINK, self.spectrum([1], [1], "one.txt"))
        with self.assertRaisesRegex(ValueError, "give --spectrum=FILE"):
            nb.Simulator.from_flags(PINK + " --spectrum-between=linear")
        sim = self.simulator(PINK, path)
        with self.assertRaisesRegex(ValueError, "second derivatives of images of a continuous spectrum"):
            sim.hvp({"distance": 1.0})
        with self.assertRaisesRegex(ValueError, "traces of pixels"):
            sim.trace(1, 2)


class OwnEnergies(Files):
    """Factors that depend on the energy are those of each reflection's own: against lines."""

    ENERGIES = np.linspace(9000, 20000, 1501)

    def tables(self, more, flags=WHITE):
        """Tables of a continuous spectrum and of its lines, with reflections that it does not cut."""
        path = self.spectrum(self.ENERGIES, np.exp(-0.5 * ((self.ENERGIES - 13000) / 3500)**2))
        sim = self.simulator(f"{flags} {more}", path)
        table = sim.reflections()
        wide = 5 * table.wavelength_sigma
        whole = (table.wavelength - wide > HC / 20000) & (table.wavelength + wide < HC / 9000)
        hkl = table.miller_index[whole][np.argsort(-table.photons[whole])[:60]]
        lines = self.simulator(f"{flags} {more}", path, "lines")
        hkl = hkl[lines.reflections(miller_index=hkl).panel >= 0]  # lines look for it at the mean wavelength
        self.assertGreater(len(hkl), 30)
        return sim, *(s.reflections(miller_index=hkl) for s in (sim, lines))

    def test_dispersion(self):
        """f' and f'' of Se and Br, whose edges are at 12.66 and 13.47 keV."""
        random, factors, atoms = np.random.default_rng(1), os.path.join(self.folder, "f.hkl"), os.path.join(self.folder, "atoms.txt")
        with open(factors, "w") as file:
            for h, k, l in np.ndindex(15, 31, 33):
                if (h, k - 15, l - 16) > (0, 0, 0):
                    file.write(f"{h} {k - 15} {l - 16} {random.rayleigh(60):.3f} {random.uniform(-180, 180):.2f}\n")
        with open(atoms, "w") as file:
            file.write("SE 0.1 0.2 0.3 1 1.5\nBR 0.6 0.7 0.15 1 2\n")
        listed = WHITE.replace("-default_F 100", f"-hkl {factors} -nointerpolate")
        sim, table, lines = self.tables(f"--anomalous-atoms={atoms}", listed)
        edges = np.min([np.abs(HC / table.wavelength - edge) for edge in (12658, 13474)], axis=0)
        off = np.abs(table.photons / lines.photons - 1)
        self.assertLess(np.median(off), 1e-3)
        self.assertLess(off[edges > 300].max(), 4e-3)
        self.assertLess(off.max(), 0.03)
        without = self.simulator(listed, os.path.join(self.folder, "s.txt")).reflections(miller_index=table.miller_index)
        self.assertGreater(np.abs(without.photons / table.photons - 1).max(), 0.1)
        self.assertEqual(sim["f_prime"].size, sim["f_double_prime"].size)

    def test_sensor(self):
        _, table, lines = self.tables("-detector_thick 450 --sensor-material=Si -detector_thicksteps 2")
        np.testing.assert_allclose(table.photons, lines.photons, rtol=4e-3)
        np.testing.assert_allclose(table.fast, lines.fast, atol=2e-3)
        # At a right angle, of 450 um, by the photoabsorption of silicon in tables of Elam, Ravel and Sieber.
        near = nb.Detector(distance=0.1, shape=(100, 100), pixel_size=1e-5, thickness=450e-6, thickness_steps=1, material="Si")
        crystal = nb.Crystal(cell=(2e-9, 2e-9, 2e-9, *[np.pi / 2] * 3), default_F=1, shape="gauss", average="closed", ncells=20, misset=(0.1, 0.2, 0.3))
        for energy, part in ((10e3, 0.970), (20e3, 0.348)):
            depth = nb.Simulator(crystal, nb.Beam(wavelength=1e-10 * HC / energy), near)["attenuation_depth"]
            self.assertAlmostEqual(1 - np.exp(-450e-6 / depth), part, delta=0.015)

    def test_efficiency(self):
        energies = np.linspace(8000, 21000, 131)
        part = 0.9 - 0.5 * np.sin(energies / 3000)**2
        path = self.spectrum(energies, part, "efficiency.txt")
        sim, table, lines = self.tables(f"--efficiency={path}")
        np.testing.assert_allclose(table.photons, lines.photons, rtol=4e-3)
        plain = self.simulator(WHITE, os.path.join(self.folder, "s.txt"))
        all_photons = plain.reflections(miller_index=table.miller_index)
        wavelengths = HC / energies
        counted = np.interp(table.wavelength, wavelengths[::-1], part[::-1])
        np.testing.assert_allclose(table.photons / all_photons.photons, counted, rtol=0.015)
        self.assertLess(sim["fluence"], 0.9 * plain["fluence"])
        beam = {"spectrum": np.column_stack([1e-10 * HC / self.ENERGIES, np.ones(len(self.ENERGIES))]), "spectrum_between": "linear"}
        crystal = nb.Crystal(cell=(2e-9, 2e-9, 2e-9, *[np.pi / 2] * 3), default_F=1, shape="gauss", average="closed", ncells=20, misset=(0.1, 0.2, 0.3))
        fluence = [nb.Simulator(crystal, nb.Beam(**beam), nb.Detector(distance=0.1, shape=(100, 100), **more))["fluence"]
                   for more in ({}, {"efficiency": [[1e-11, 0.25], [1e-9, 0.25]]})]
        self.assertAlmostEqual(fluence[1] / fluence[0], 0.25)
        with self.assertRaisesRegex(ValueError, "Detector.efficiency: its table goes from .* eV, but the beam has 20000 eV; add lines"):
            nb.Simulator(crystal, nb.Beam(**beam), nb.Detector(distance=0.1, shape=(100, 100), efficiency=[[1e-10, 1], [2e-10, 1]]))
        with self.assertRaisesRegex(OSError, "efficiency 85; the fraction of photons that is counted is from 0 to 1"):
            self.simulator(f"{WHITE} --efficiency={self.spectrum([1, 2], [85, 90], 'percent.txt')}", path)

    def test_refusals(self):
        path = self.spectrum([0.9, 1.1], [1, 1])
        for more, words in (("-detector_thick 450 --sensor-material=wood", "does not know 'wood'; it knows Si, Ge"),
                            ("--sensor-material=Si", "needs the thickness of the sensor; give -detector_thick"),
                            ("-detector_thick 450 -detector_abs 9 --sensor-material=Si", "exclude each other")):
            with self.assertRaisesRegex(ValueError, words):
                self.simulator(f"{PINK} {more}", path)


class Shapes(unittest.TestCase):
    """Spectra by name, of each shot its own, and what is written of them."""

    FLAGS = ("-cell 20 25 30 85 95 100 -misset 17 29 41 -default_F 100 -gauss_xtal -N 60 -distance 100 -detpixels 400 -pixel 0.4 "
             "-fluence 1e24 -mosaic 0.1 --average=closed --average-tolerance=1e-2")

    def run_in(self, folder, *words):
        done = subprocess.run([sys.executable, "-m", "nanobragg.simulate", *self.FLAGS.split(), *words, "--quiet"], cwd=folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stderr

    @staticmethod
    def columns(path):
        with open(path, "rb") as file:
            data = importlib.import_module("msgpack").unpackb(file.read(), raw=False)[2]["data"]
        types = {"int": "<i4", "std::size_t": "<u8", "double": "<f8", "bool": "?", "vec3<double>": "(3,)<f8", "int6": "(6,)<i4",
                 "cctbx::miller::index<>": "(3,)<i4"}
        return {name: np.frombuffer(content, types[kind]) for name, (kind, (_, content)) in data.items()}

    def test_named(self):
        sim = nb.Simulator.from_flags(f"{self.FLAGS} --spectrum=gaussian:12400,3")
        wavelength, density = sim["spectrum_wavelength"].ravel(), sim["spectrum_density"].ravel()
        mean = np.average(wavelength, weights=density)
        self.assertAlmostEqual(mean, 1e-10 * HC / 12400, delta=2e-13)
        self.assertAlmostEqual(np.sqrt(np.average((wavelength - mean)**2, weights=density)) / mean, 0.03 / np.sqrt(8 * np.log(2)), delta=2e-4)
        lines = nb.Simulator.from_flags(f"{self.FLAGS} --spectrum=gaussian:12400,3 --spectrum-between=lines")
        np.testing.assert_allclose(lines.image().sum(), sim.image().sum(), rtol=2e-3)
        with self.assertRaisesRegex(ValueError, "Beam.spectrum gaussian:12400: it has 1 numbers; it is gaussian:ENERGY,WIDTH"):
            nb.Simulator(nb.Crystal(cell=(2e-9, 2e-9, 2e-9, *[np.pi / 2] * 3), default_F=1, shape="gauss", average="closed", ncells=20),
                         nb.Beam(spectrum="gaussian:12400"), nb.Detector(distance=0.1, shape=(100, 100)))

    def test_lines_within_a_spot(self):
        """Spots that take several lines of a spectrum at once are drawn in parts: against many lines, pixel by pixel."""
        und = ("-cell 7 8 9 85 95 100 -misset 17 29 41 -default_F 100 -gauss_xtal -N 200 -distance 80 -detpixels 400 -pixel 0.4 -mosaic 0.1 "
               "-fluence 1e24 --average=closed", "undulator:4000,30,1.8,16000")
        sase = (self.FLAGS.replace("--average-tolerance=1e-2", "").replace("-mosaic 0.1", "-mosaic 0.2"), "sase:9500,1,0.1,7")
        for flags, shape in (und, sase):
            lines = self.lines_of(flags, shape)
            for tolerance, worst in ((1e-2, 0.04), (1e-3, 0.01)):
                with self.subTest(shape, tolerance=tolerance):
                    ratios, off = self.beside(lines, f"{flags} --average-tolerance={tolerance} --spectrum={shape}")
                    self.assertGreater(len(ratios), 5)
                    np.testing.assert_allclose(ratios, 1, atol=0.015)
                    self.assertLess(np.median(off), 0.4 * worst)
                    self.assertLess(max(off), worst)

    @staticmethod
    def lines_of(flags, shape):
        """The image of lines at the points of a continuous spectrum, and of three between each two."""
        sim = nb.Simulator.from_flags(f"{flags} --spectrum={shape}", threads=2)
        wavelength, density = sim["spectrum_wavelength"].ravel(), sim["spectrum_density"].ravel()
        with tempfile.TemporaryDirectory() as folder:
            fine = np.interp(np.arange(4 * len(wavelength) - 3) / 4, np.arange(len(wavelength)), wavelength)
            weights = np.interp(fine, wavelength, density) * np.gradient(fine)
            path = os.path.join(folder, "lines.txt")
            np.savetxt(path, np.c_[1e10 * fine, weights], fmt="%.12g")
            return nb.Simulator.from_flags(f"{flags} --average-tolerance=1e-2 --spectrum={path}", threads=2).image()

    @staticmethod
    def beside(lines, flags):
        """Photons over those of lines, and differences of pixels in parts of the peak, of bright isolated spots."""
        sim = nb.Simulator.from_flags(flags, threads=2)
        table, image = sim.reflections(), sim.image()
        ratios, off = [], []
        for i in np.argsort(-table.photons)[:40]:
            half = int(np.ceil(6 * np.sqrt(table.covariance[i].trace()))) + 2
            fast, slow = int(table.fast[i]), int(table.slow[i])
            near = np.hypot(table.fast - table.fast[i], table.slow - table.slow[i])
            if ((near > 0.5) & (near < 2 * half)).any() or not half < min(fast, slow) <= max(fast, slow) < 400 - half:
                continue
            box = np.s_[slow - half:slow + half + 1, fast - half:fast + half + 1]
            ratios.append(image[box].sum() / lines[box].sum())
            off.append(np.abs(image[box] - lines[box]).max() / lines[box].max())
        return ratios, off

    def test_wide_bandwidths(self):
        """From 6 % on, a bandwidth is a continuous spectrum, whose image takes no longer for being wider."""
        narrow, wide = (nb.Simulator.from_flags(f"{self.FLAGS} -lambda 1 --bandwidth-sigma={sigma}") for sigma in (5, 8))
        self.assertNotIn("spectrum_density", narrow)
        self.assertIn("spectrum_density", wide)
        with tempfile.TemporaryDirectory() as folder:
            wavelengths = np.linspace(0.68, 1.32, 641)
            np.savetxt(os.path.join(folder, "s.txt"), np.c_[wavelengths, np.exp(-0.5 * ((wavelengths - 1) / 0.08)**2)])
            lines = nb.Simulator.from_flags(f"{self.FLAGS} --spectrum={folder}/s.txt").image()
        image = wide.image()
        image[180:220, 180:220] = lines[180:220, 180:220] = 0  # the direct beam
        np.testing.assert_allclose(image.sum(), lines.sum(), rtol=2e-3)
        lit = lines > 0.01 * lines.max()
        self.assertLess(np.percentile(np.abs(image - lines)[lit], 99), 0.01 * lines.max())

    def test_labels(self):
        with tempfile.TemporaryDirectory() as folder:
            code, said = self.run_in(folder, "--spectrum=flat:8000,16000", "--write-refl=a.refl", "--write-expt=a.expt", "--write-map=map.npy",
                                     "-floatfile", "a.npy", "--reflections=table.npz")
            self.assertEqual(code, 0, said)
            labels, table = self.columns(os.path.join(folder, "a.refl")), np.load(os.path.join(folder, "table.npz"))
            wavelength = {tuple(h): w for h, w in zip(table["miller_index"].tolist(), table["wavelength"])}
            photons = {tuple(h): n for h, n in zip(table["miller_index"].tolist(), table["photons"])}
            hkl = [tuple(h) for h in labels["miller_index"].tolist()]
            self.assertGreater(len(hkl), 500)
            np.testing.assert_allclose(labels["wavelength"], [wavelength[h] for h in hkl])
            ratio = labels["intensity.sum.value"] / [photons[h] for h in hkl]
            inside = ((labels["xyzcal.px"][:, :2] > 20) & (labels["xyzcal.px"][:, :2] < 380)).all(axis=1)
            np.testing.assert_allclose(ratio[inside], 1)
            self.assertTrue(((ratio > 0.3) & (ratio < 1 + 1e-9)).all())
            np.testing.assert_allclose(np.linalg.norm(labels["s1"], axis=1), 1 / labels["wavelength"])
            rays = [tuple(np.array(h) // max(np.gcd.reduce(h), 1)) for h in hkl]
            self.assertEqual([bool(m) for m in labels["harmonics"]], [rays.count(ray) > 1 for ray in rays])
            with open(os.path.join(folder, "a.expt")) as file:
                beam, = json.load(file)["beam"]
            self.assertEqual(beam["__id__"], "polychromatic")
            np.testing.assert_allclose(beam["wavelength_range"], [HC / 16000, HC / 8000], rtol=1e-4)
            image, found = np.load(os.path.join(folder, "a.npy")), np.load(os.path.join(folder, "map.npy"))
            image[180:220, 180:220] = 0  # the direct beam
            brightest = np.unravel_index(image.argmax(), image.shape)
            there = tuple(int(i) for i in np.rint(found[(slice(3), *brightest)]))
            self.assertAlmostEqual(float(found[(3, *brightest)]), wavelength[there], places=5)
            code, said = self.run_in(folder, "--spectrum=flat:8000,16000", "--write-stream=a.stream")
            self.assertEqual(code, 2)
            self.assertIn("--write-stream: a stream has one photon energy", said)
        sim = nb.Simulator.from_flags(f"{self.FLAGS} --spectrum=flat:8000,16000")
        spots = sim.spots(1.0)
        self.assertTrue({tuple(h) for h in spots.miller_index.tolist()} <= set(hkl))
        at = tuple(int(i) for i in brightest)
        self.assertEqual(tuple(spots.miller_index[spots.labels[at] - 1].tolist()), there)
        np.testing.assert_allclose(sim.miller_indices()[at], found[(slice(3), *at)], atol=1e-3)

    def test_labels_count_what_lands_on_pixels(self):
        """A spot that a region, a mask or the panel cuts has the photons of its pixels alone."""
        few = "--spectrum=flat:8000,16000 -cell 7 8 9 85 95 100 -N 120".split()
        sim = nb.Simulator.from_flags(" ".join([self.FLAGS, *few]))
        table, whole = sim.reflections(), sim.image()
        for i in np.argsort(-table.photons)[1:200]:
            half = int(np.ceil(6 * np.sqrt(table.covariance[i].trace()))) + 2
            fast, slow = int(table.fast[i]), int(table.slow[i])
            near = np.hypot(table.fast - table.fast[i], table.slow - table.slow[i]) < 2.5 * half
            if near.sum() == 1 and half < min(fast, slow) <= max(fast, slow) < 400 - half and np.hypot(fast - 200, slow - 200) > 80:
                break
        else:
            self.fail("no bright spot stands alone")
        hkl, box = table.miller_index[i].tolist(), np.s_[slow - half:slow + half + 1, fast - half:fast + half + 1]
        with tempfile.TemporaryDirectory() as folder:
            mask = np.ones((400, 400), "<u2")
            mask[slow:slow + 2] = 0
            header = "{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=400;\nSIZE2=400;\n}\n"
            with open(os.path.join(folder, "mask.img"), "wb") as file:
                file.write(header.encode().ljust(512) + mask.tobytes())
            for words in ([], ["-roi", "0", str(fast), "0", "399"], ["-mask", "mask.img"]):
                with self.subTest(words):
                    code, said = self.run_in(folder, *few, "--write-refl=a.refl", "-floatfile", "a.npy", *words)
                    self.assertEqual(code, 0, said)
                    image, labels = np.load(os.path.join(folder, "a.npy"))[box], self.columns(os.path.join(folder, "a.refl"))
                    row, = np.flatnonzero((labels["miller_index"] == hkl).all(axis=1))
                    np.testing.assert_allclose(labels["intensity.sum.value"][row], image.sum(), rtol=0.02)
                    self.assertEqual(image.sum() < 0.95 * whole[box].sum(), bool(words))
                    centre = [(image.sum(axis=k) * (np.arange(2 * half + 1) + 0.5)).sum() / image.sum() + corner - half
                              for k, corner in ((0, fast), (1, slow))]
                    np.testing.assert_allclose(labels["xyzobs.px.value"][row][:2], centre, atol=0.1)

    def test_each_shot_has_its_own(self):
        h5py = importlib.import_module("h5py")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "shots.txt"), "w") as file:
                file.write("misset\n0 0 0\n10 20 30\n0 0 0\n")
            code, said = self.run_in(folder, "--spectrum=sase:12400,1,0.1,5", "--shots=shots.txt", "--nexus=run.nxs", "--write-refl=run.refl", "-nonoise")
            self.assertEqual(code, 0, said)
            with h5py.File(os.path.join(folder, "run.nxs")) as file:
                images = file["entry/data/data"][()]
                weights = file["entry/instrument/beam/incident_wavelength_1Dspectrum_weights"][()]
            self.assertEqual(len(weights), 3)
            self.assertLess(np.corrcoef(weights)[0, 1], 0.9)
            self.assertGreater(np.abs(images[0] - images[2]).max(), 0.03 * images.max(), "one orientation, two spectra")
            # The file is itself one of spectra of shots.
            code, said = self.run_in(folder, "--spectrum=run.nxs", "--spectrum-between=linear", "--shots=shots.txt", "--nexus=again.nxs", "-nonoise")
            self.assertEqual(code, 0, said)
            with h5py.File(os.path.join(folder, "again.nxs")) as file:
                np.testing.assert_allclose(file["entry/data/data"][()], images, atol=1e-3 * images.max())
            columns = self.columns(os.path.join(folder, "run.refl"))
            self.assertEqual(sorted(set(columns["id"].tolist())), [0, 1, 2])
            code, said = self.run_in(folder, "--spectrum=run.nxs", "--frames=4", "--nexus=four.nxs")
            self.assertNotEqual(code, 0)
            self.assertIn("has spectra of 3 shots", said)


if __name__ == "__main__":
    unittest.main()
