#!/usr/bin/env python3
"""energies_test.py NB_SIM NB_GRADCHECK: structure factors by energy, from first principles.

Structure factors are summed over atoms here, for each reflection and energy, and given to the simulator as
a plain list; --anomalous-atoms and --hkl-channels have to make the same image."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HC = 12398.42  # eV A
CELL = (30.0, 32.0, 35.0, 88.0, 95.0, 99.0)
CAMERA = ("-misset 10 20 30 -N 5 -distance 60 -detpixels 48 -pixel 1.25 -oversample 1 -nonoise -nopgm "
          "--quiet -nointerpolate").split()
ENGINES = ([], ["--no-fuse"], ["--device=gpu-on-cpu"])
ENERGIES, WEIGHTS = (12610.0, 12650.0, 12700.0), (1.0, 2.0, 0.5)
#: label, x y z, occupancy, B
ATOMS = [("SE", (0.1, 0.2, 0.3), 1, 10), ("SE", (0.4, 0.15, 0.77), 0.8, 14), ("ZN", (0.31, 0.62, 0.05), 1, 20)]
#: label: lines of eV f' f''
TABLE = {"SE": [(12600, -7, 0.6), (12660, -9, 4), (12720, -5, 3.8)],
         "ZN": [(12600, -0.5, 2.1), (12660, -0.4, 2.2), (12720, -0.3, 2.3)]}
ORTHORHOMBIC = (30.0, 32.0, 35.0, 90.0, 90.0, 90.0)
#: P 21 21 21
OPERATIONS = [((1, 1, 1), (0, 0, 0)), ((-1, -1, 1), (.5, 0, .5)), ((-1, 1, -1), (0, .5, .5)),
              ((1, -1, -1), (.5, .5, 0))]


def box(n):
    axis = np.arange(-n, n + 1)
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def inverse_square(hkl, cell):
    """1 / d^2 in 1/A^2."""
    a, b, c = cell[:3]
    ca, cb, cg = np.cos(np.radians(cell[3:]))
    metric = np.array([[a * a, a * b * cg, a * c * cb], [a * b * cg, b * b, b * c * ca],
                       [a * c * cb, b * c * ca, c * c]])
    return np.einsum("ni,ij,nj->n", hkl, np.linalg.inv(metric), hkl)


def waves(hkl, atoms, cell):
    """For each atom and reflection."""
    s2 = inverse_square(hkl, cell)
    return [occ * np.exp(-b * s2 / 4) * np.exp(2j * np.pi * (hkl @ np.array(x)))
            for _, x, occ, b in atoms]


def dispersion(label, energy, table=TABLE):
    eV, first, second = np.transpose(table[label])
    return np.interp(energy, eV, first) + 1j * np.interp(energy, eV, second)


def others(hkl, count=5, seed=2):
    """The structure factors of the atoms that do not disperse."""
    random = np.random.default_rng(seed)
    return sum(random.uniform(10, 60) * np.exp(2j * np.pi * (hkl @ random.uniform(0, 1, 3)))
               for _ in range(count))


def at_energy(hkl, f0, energy, atoms=ATOMS, cell=CELL, table=TABLE):
    return f0 + sum(dispersion(atom[0], energy, table) * wave
                    for atom, wave in zip(atoms, waves(hkl, atoms, cell)))


def images_of(atoms):
    return [(label, tuple(np.array(rotation) * x + shift), occ, b)
            for label, x, occ, b in atoms for rotation, shift in OPERATIONS]


class Energies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.hkl = box(6)
        self.f0 = others(self.hkl)
        self.phased("phased.hkl", self.hkl, self.f0)
        self.atoms(ATOMS)
        self.table(TABLE)
        self.write("spectrum.lam", [f"{e!r} {w!r}" for e, w in zip(ENERGIES, WEIGHTS)])

    def write(self, name, lines):
        with open(os.path.join(self.folder, name), "w") as file:
            file.writelines(line + "\n" for line in lines)
        return name

    def phased(self, name, hkl, f):
        return self.write(name, [f"{h} {k} {l} {abs(v):.17g} {np.degrees(np.angle(v)):.17g}"
                                 for (h, k, l), v in zip(hkl, f)])

    def plain(self, name, hkl, f):
        return self.write(name, [f"{h} {k} {l} {abs(v):.17g}" for (h, k, l), v in zip(hkl, f)])

    def atoms(self, atoms, group=None, name="atoms.txt"):
        lines = [f"{label} {x[0]:.17g} {x[1]:.17g} {x[2]:.17g} {occ} {b}" for label, x, occ, b in atoms]
        return self.write(name, ([f"space_group {group}"] if group else []) + lines)

    def table(self, table):
        return self.write("table.txt", ["# label eV f' f''"] + [
            f"{label} {eV} {first} {second}" for label, rows in table.items() for eV, first, second in rows])

    def run_it(self, *flags, program=None, status=0, camera=CAMERA):
        """The program's output. Without a status: it refuses."""
        environment = os.environ | {"NB_CACHE_DIR": os.path.join(self.folder, "cache")}
        done = subprocess.run([program or NB_SIM, *camera, *map(str, flags)], cwd=self.folder, env=environment,
                              capture_output=True, text=True)
        good = done.returncode in (1, 2) if status is None else done.returncode == status
        self.assertTrue(good, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def image(self, *flags, cell=CELL):
        self.run_it("-cell", *cell, *flags)
        return np.fromfile(os.path.join(self.folder, "floatimage.bin"), "<f4").astype(float)

    def anomalous(self, *flags, hkl="phased.hkl", **more):
        return self.image("-hkl", hkl, "--anomalous-atoms=atoms.txt", "--anomalous-table=table.txt", *flags, **more)

    def close(self, got, want, rtol=1e-6):
        self.assertGreater(want.max(), 0)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * want.max() * 1e-3)

    def refusal(self, *flags):
        return self.run_it("-cell", *CELL, *flags, status=None)

    def test_each_energy_has_the_sum_over_atoms(self):
        for energy in ENERGIES:
            self.plain("plain.hkl", self.hkl, at_energy(self.hkl, self.f0, energy))
            want = self.image("-hkl", "plain.hkl", "-energy", energy)
            for engine in ENGINES:
                with self.subTest((energy, engine)):
                    self.close(self.anomalous("-energy", energy, *engine), want)

    def test_a_spectrum_is_the_sum_of_its_energies(self):
        each = [self.anomalous("-energy", energy) for energy in ENERGIES]
        want = sum(w * image for w, image in zip(WEIGHTS, each)) / sum(WEIGHTS)
        self.close(self.anomalous("--spectrum=spectrum.lam"), want)
        self.close(self.anomalous("--spectrum=spectrum.lam", "--cull=1e-12"), want)
        # It is no sum of the same factors.
        same = [self.image("-hkl", "phased.hkl", "-energy", energy) for energy in ENERGIES]
        self.assertGreater(np.abs(sum(same) - sum(each)).max(), 0.01 * want.max())

    def test_a_constant_f_prime_is_a_part_of_f(self):
        self.table({label: [(12000, -5, 0), (13000, -5, 0)] for label in TABLE})
        got = self.anomalous("--spectrum=spectrum.lam")
        shifted = self.f0 - 5 * sum(waves(self.hkl, ATOMS, CELL))
        self.plain("plain.hkl", self.hkl, shifted)
        self.close(got, self.image("-hkl", "plain.hkl", "--spectrum=spectrum.lam"))

    def test_one_line_of_the_table_is_all_energies(self):
        self.table({label: [(12650, -5, 2)] for label in TABLE})
        got = self.anomalous("--spectrum=spectrum.lam")
        self.plain("plain.hkl", self.hkl, self.f0 + (-5 + 2j) * sum(waves(self.hkl, ATOMS, CELL)))
        self.close(got, self.image("-hkl", "plain.hkl", "--spectrum=spectrum.lam"))

    def test_friedel_mates_differ_by_f_double_prime_only(self):
        """One reflection and its mate, with the crystal turned to the place of the mate by its phases: a
        list of the conjugate factors at the inverse indices is another crystal, the inverted one."""
        inverted = [(label, tuple(-np.array(x)), occ, b) for label, x, occ, b in ATOMS]
        first = self.anomalous("-energy", 12650)
        self.phased("inverted.hkl", -self.hkl, self.f0)
        self.atoms(inverted)
        other = self.anomalous("-energy", 12650, hkl="inverted.hkl")
        self.assertGreater(np.abs(first - other).max(), 1e-2 * first.max())
        self.table({label: [(e, first, 0) for e, first, _ in rows] for label, rows in TABLE.items()})
        other = self.anomalous("-energy", 12650, hkl="inverted.hkl")
        self.atoms(ATOMS)
        self.close(other, self.anomalous("-energy", 12650))

    def test_a_mate_that_is_not_listed_is_the_conjugate(self):
        want = self.anomalous("-energy", 12650)
        half = [tuple(h) > (0, 0, 0) or not h.any() for h in self.hkl]
        self.phased("half.hkl", self.hkl[half], self.f0[half])
        self.close(self.anomalous("-energy", 12650, hkl="half.hkl"), want)

    def symmetric(self):
        """Atoms of an asymmetric unit, all of the cell, and structure factors that have the symmetry."""
        everything = images_of([("C", x, 40, 5) for x in np.random.default_rng(4).uniform(0, 1, (3, 3))])
        f0 = sum(waves(self.hkl, everything, ORTHORHOMBIC))
        return f0, images_of(ATOMS)

    def test_the_space_group_makes_the_other_atoms(self):
        f0, all_atoms = self.symmetric()
        self.phased("phased.hkl", self.hkl, f0)
        self.atoms(all_atoms)
        want = self.anomalous("-energy", 12650, cell=ORTHORHOMBIC)
        self.atoms(ATOMS, group="P 21 21 21")
        self.close(self.anomalous("-energy", 12650, cell=ORTHORHOMBIC), want)
        # An atom on a twofold axis is one of two, not four.
        self.atoms([("SE", (0, 0, 0.2), 1, 10)], group="P 2 2 2")
        special = self.anomalous("-energy", 12650, cell=ORTHORHOMBIC)
        self.atoms([("SE", (0, 0, 0.2), 1, 10), ("SE", (0, 0, -0.2), 1, 10)])
        self.close(special, self.anomalous("-energy", 12650, cell=ORTHORHOMBIC))

    def mtz(self, name, rows):
        """F and phase of reflections of P 21 21 21."""
        lines = ["VERS MTZ:V1.1", f"NCOL 5 {len(rows)} 0", "CELL 30 32 35 90 90 90",
                 "SYMINF 4 4 P 19 'P 21 21 21' PG222", "COLUMN H H 0 9 1", "COLUMN K H 0 9 1",
                 "COLUMN L H 0 9 1", "COLUMN FC F 0 9 1", "COLUMN PHIC P 0 9 1", "NDIF 1", "PROJECT 1 p",
                 "CRYSTAL 1 c", "DATASET 1 d", "DCELL 1 30 32 35 90 90 90", "DWAVEL 1 1.0", "END",
                 "MTZENDOFHEADERS"]
        data = np.asarray(rows, "<f4").tobytes()
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write((b"MTZ " + struct.pack("<i", 21 + len(data) // 4) + b"\x44\x41").ljust(80, b"\0"))
            file.write(data + b"".join(line.encode().ljust(80) for line in lines))
        return name

    def test_phases_of_an_asymmetric_unit(self):
        """MTZ and mmCIF have the same factors as the list of all."""
        f0, all_atoms = self.symmetric()
        self.phased("phased.hkl", self.hkl, f0)
        self.atoms(all_atoms)
        want = self.anomalous("-energy", 12650, cell=ORTHORHOMBIC)
        rows = [(*h, abs(f), np.degrees(np.angle(f))) for h, f in zip(self.hkl, f0)
                if min(h) >= 0 and abs(f) > 1e-9]
        self.mtz("a.mtz", rows)
        self.write("a.cif", ["data_x", "_cell.length_a 30", "_cell.length_b 32", "_cell.length_c 35",
                             "_cell.angle_alpha 90", "_cell.angle_beta 90", "_cell.angle_gamma 90",
                             "_symmetry.space_group_name_H-M 'P 21 21 21'", "loop_", "_refln.index_h",
                             "_refln.index_k", "_refln.index_l", "_refln.F_calc", "_refln.phase_calc"] +
                   [f"{h} {k} {l} {f:.9g} {phase:.9g}" for h, k, l, f, phase in rows])
        for name in ("a.mtz", "a.cif"):
            with self.subTest(name):
                got = self.anomalous("-energy", 12650, hkl=name, cell=ORTHORHOMBIC)
                self.close(got, want, rtol=2e-5)

    def model(self, positions):
        """Carbon atoms; positions in A."""
        self.write("a.pdb", ["CRYST1   30.000   32.000   35.000  90.00  90.00  90.00 P 1"] + [
            f"ATOM  {i + 1:5d}  C   ALA A{i + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00 10.00           C"
            for i, (x, y, z) in enumerate(positions)] + ["END"])

    def test_the_phases_of_a_model(self):
        """A crystal looks the same wherever its atoms are together; phases of the other sign would move
        the model and not the anomalous scatterers."""
        flags = ("-energy", 12650, "--hkl-dmin=5")
        positions = np.random.default_rng(7).uniform(0, 30, (9, 3)).round(3)
        self.model(positions)
        alone = self.image("-hkl", "a.pdb", "--no-anomalous", *flags, cell=ORTHORHOMBIC)
        want = self.anomalous(*flags, hkl="a.pdb", cell=ORTHORHOMBIC)
        shift = np.array([0.13, 0.27, 0.41])
        self.model(positions + shift * ORTHORHOMBIC[:3])
        moved = self.anomalous(*flags, hkl="a.pdb", cell=ORTHORHOMBIC)
        self.assertGreater(np.abs(moved - want).max(), 0.1 * want.max())
        self.atoms([(label, tuple(x + shift), occ, b) for label, x, occ, b in ATOMS])
        # The density of the model is on a grid.
        np.testing.assert_allclose(self.anomalous(*flags, hkl="a.pdb", cell=ORTHORHOMBIC), want,
                                   atol=1e-3 * want.max())
        self.table({label: [(12000, 0, 0)] for label in TABLE})
        np.testing.assert_allclose(self.anomalous(*flags, hkl="a.pdb", cell=ORTHORHOMBIC), alone,
                                   atol=1e-3 * want.max())

    def channels(self, lists):
        for i, (_, hkl, f) in enumerate(lists):
            self.plain(f"channel{i}.hkl", hkl, f)
        return self.write("channels.txt", [f"{energy!r} channel{i}.hkl" for i, (energy, *_) in enumerate(lists)])

    def test_channels_are_their_lists(self):
        """Each source has the list of the nearest energy; boxes of lists may differ."""
        small = box(4)
        lists = [(12600.0, self.hkl, others(self.hkl)), (12655.0, small, others(small, seed=5)),
                 (12690.0, self.hkl[700:], others(self.hkl, seed=6)[700:])]
        self.channels(lists)
        each = []
        for i, energy in enumerate(ENERGIES):
            want = self.image("-hkl", f"channel{i}.hkl", "-energy", energy, "-default_F", 7)
            for engine in ENGINES:
                with self.subTest((energy, engine)):
                    got = self.image("--hkl-channels=channels.txt", "-energy", energy, "-default_F", 7, *engine)
                    self.close(got, want)
            each.append(want)
        got = self.image("--hkl-channels=channels.txt", "--spectrum=spectrum.lam", "-default_F", 7)
        self.close(got, sum(w * image for w, image in zip(WEIGHTS, each)) / sum(WEIGHTS))

    def test_between_channels(self):
        """A source has a part of both around it, and beyond the last one that one."""
        lists = [(12610.0, self.hkl, others(self.hkl)), (12650.0, self.hkl, others(self.hkl, seed=5)),
                 (12690.0, self.hkl, others(self.hkl, seed=6))]
        self.channels(lists)
        factors = [np.abs(f) for _, _, f in lists]
        for energy, weights in ((12600, (1, 0, 0)), (12610, (1, 0, 0)), (12620, (.75, .25, 0)), (12685, (0, .125, .875)),
                                (12700, (0, 0, 1))):
            self.plain("plain.hkl", self.hkl, sum(w * f for w, f in zip(weights, factors)))
            want = self.image("-hkl", "plain.hkl", "-energy", energy)
            for engine in ENGINES:
                with self.subTest((energy, engine)):
                    self.close(self.image("--hkl-channels=channels.txt", "--channel-weights=linear", "-energy", energy,
                                          *engine), want)
        self.channels(lists[1:2])
        self.close(self.image("--hkl-channels=channels.txt", "--channel-weights=linear", "-energy", 12600),
                   self.image("-hkl", "channel0.hkl", "-energy", 12600))

    def test_equal_channels_are_one_list(self):
        self.channels([(e, self.hkl, self.f0) for e in ENERGIES])
        for more in ([], ["-diffuse_gamma", 30, 30, 30, "-diffuse_sigma", 0.3, 0.3, 0.3]):
            got = self.image("--hkl-channels=channels.txt", "--spectrum=spectrum.lam", *more)
            self.close(got, self.image("-hkl", "channel0.hkl", "--spectrum=spectrum.lam", *more))

    def test_derivatives_of_both_orders(self):
        small = box(3)
        self.phased("phased.hkl", small, others(small))
        self.channels([(e, small, others(small, seed=i)) for i, e in enumerate(ENERGIES)])
        # At a channel the mean of two has a kink: the sources are between them.
        self.write("between.txt", [f"{e!r} channel{i}.hkl" for i, e in enumerate((12600.0, 12640.0, 12720.0))])
        anomalous = ["-hkl", "phased.hkl", "--anomalous-atoms=atoms.txt", "--anomalous-table=table.txt"]
        camera = ["-cell", *CELL, "-detpixels", 16, "-pixel", 4, "--spectrum=spectrum.lam", "--loss=random:3",
                  "-default_F", 2]
        for flags in ([*anomalous, "--wrt=anomalous,F_by_energy,default_F,ncells"],
                      [*anomalous, "--wrt=anomalous,source_weight,distance", "--mode=forward"],
                      [*anomalous, "--wrt=anomalous,source_weight", "--device=gpu-on-cpu"],
                      [*anomalous, "--wrt=wavelength_offset,wavelength_scale,source_wavelength,f_prime"],
                      [*anomalous, "--wrt=wavelength_offset,f_double_prime", "--order=2"],
                      [*anomalous, "--wrt=anomalous,distance", "--order=2"],
                      ["--hkl-channels=channels.txt", "--wrt=F_by_energy,default_F,cell"],
                      ["--hkl-channels=channels.txt", "--wrt=wavelength_offset,wavelength_scale"],
                      ["--hkl-channels=between.txt", "--channel-weights=linear",
                       "--wrt=wavelength_offset,wavelength_scale,F_by_energy,default_F"],
                      ["--hkl-channels=between.txt", "--channel-weights=linear", "--wrt=wavelength_offset,source_weight",
                       "--order=2"],
                      ["--hkl-channels=channels.txt", "--wrt=F_by_energy,source_weight", "--order=2"]):
            with self.subTest(flags):
                text = self.run_it(*camera, *flags, program=NB_GRADCHECK)
                self.assertIn("passed", text)

    #: f' and f'' of the International Tables, vol. C, 4.2.6.8, which are Cromer and Liberman's
    KNOWN = {8047.8: {"S": (0.3331, 0.5567), "FE": (-1.1336, 3.1974)}, 17479.0: {"S": (0.1246, 0.1234), "FE": (0.3463, 0.8444)}}

    def test_f_prime_of_elements_without_a_table(self):
        self.atoms([("S", *ATOMS[0][1:]), ("FE", *ATOMS[1][1:])])
        elements = ["-hkl", "phased.hkl", "--anomalous-atoms=atoms.txt"]
        images = []
        for energy, known in self.KNOWN.items():
            self.table({label: [(energy, *f)] for label, f in known.items()})
            images.append(self.image(*elements, "-energy", energy))
            # The table is rounded, and has other values of relativistic corrections.
            self.close(images[-1], self.anomalous("-energy", energy), rtol=1e-3)
        self.assertIn("8047.8 eV: 0.333 and 0.557 (S), -1.131 and 3.197 (FE)",
                      self.run_it("-cell", *CELL, *elements, "-energy", 8047.8, camera=[f for f in CAMERA if f != "--quiet"]))
        self.write("both.lam", [f"{energy!r} 1" for energy in self.KNOWN])
        self.close(self.image(*elements, "--spectrum=both.lam"), sum(images) / 2)
        # Each shot has its own energy.
        self.write("shots.txt", ["energy", *map(repr, self.KNOWN)])
        self.run_it("-cell", *CELL, *elements, "--shots=shots.txt", "-floatfile", "shot.npy")
        for i, want in enumerate(images):
            self.close(np.load(os.path.join(self.folder, f"shot_{i + 1:04}.npy")).ravel().astype(float), want)
        # Sources that are closer than what the table has around one of them.
        near = [12650.0, 12650.5, 12653.0]
        self.write("near.lam", [f"{energy!r} 1" for energy in near])
        self.atoms(ATOMS)
        self.close(self.image(*elements, "--spectrum=near.lam"), sum(self.image(*elements, "-energy", e) for e in near) / 3)
        for wrt in ("--wrt=source_wavelength,wavelength_offset,f_prime", "--wrt=wavelength_scale,f_double_prime", ):
            text = self.run_it("-cell", *CELL, *elements, "--spectrum=near.lam", "-detpixels", 16, "-pixel", 4,
                               "--loss=random:3", wrt, "--order=2", program=NB_GRADCHECK)
            self.assertIn("passed", text)

    def test_what_is_not_listed_does_not_disperse(self):
        f = at_energy(self.hkl, self.f0, 12650)
        # A corner keeps the box as large.
        listed = (np.abs(self.hkl).max(axis=1) < 6) | (self.hkl == 6).all(axis=1) | (self.hkl == -6).all(axis=1)
        self.phased("phased.hkl", self.hkl[listed], self.f0[listed])
        self.plain("plain.hkl", self.hkl[listed], f[listed])
        for default in (0, 30):
            run = ("-energy", 12650, "-default_F", default)
            self.close(self.anomalous(*run), self.image("-hkl", "plain.hkl", *run))

    def crystal(self):
        """Light and heavy atoms of an asymmetric unit, A, as PDB and mmCIF files, and as a list."""
        at = np.random.default_rng(11).uniform(0, 1, (7, 3)) * ORTHORHOMBIC[:3]
        at = [(element, xyz.round(3)) for element, xyz in zip(("C", "N", "C", "O", "SE", "ZN", "SE"), at)]
        self.write("a.pdb", ["CRYST1   30.000   32.000   35.000  90.00  90.00  90.00 P 21 21 21"] + [
            f"HETATM{i + 1:5d} {e:<3}  LIG A{i + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  0.80 12.00          {e:>2}"
            for i, (e, (x, y, z)) in enumerate(at)] + ["END"])
        self.write("a.cif", ["data_a", "_cell.length_a 30", "_cell.length_b 32", "_cell.length_c 35", "_cell.angle_alpha 90",
                             "_cell.angle_beta 90", "_cell.angle_gamma 90", "_symmetry.space_group_name_H-M 'P 21 21 21'",
                             "loop_"] + ["_atom_site." + name for name in (
                                 "group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id",
                                 "label_asym_id", "label_seq_id", "Cartn_x", "Cartn_y", "Cartn_z", "occupancy",
                                 "B_iso_or_equiv", "auth_seq_id")] +
                   [f"HETATM {i + 1} {e} {e} . LIG A {i + 1} {x} {y} {z} 0.8 12 {i + 1}" for i, (e, (x, y, z)) in enumerate(at)])
        return [(e, tuple(xyz / ORTHORHOMBIC[:3]), 0.8, 12) for e, xyz in at]

    def test_the_atoms_of_a_model(self):
        listed = self.crystal()
        f0, _ = self.symmetric()
        self.phased("phased.hkl", self.hkl, f0)
        run = ("-hkl", "phased.hkl", "-energy", 12650)
        for named, elements, table in (("", ("SE", "ZN"), []), (":Zn", ("ZN",), []), (":C,zn", ("C", "ZN"), []),
                                       ("", ("SE",), ["--anomalous-table=table.txt"])):
            self.table({"Se": TABLE["SE"]})
            list_of_same = self.atoms([a for a in listed if a[0] in elements], group="P 21 21 21", name="same.txt")
            got = [self.image(*run, f"--anomalous-atoms=a.{kind}{named}", *table, cell=ORTHORHOMBIC) for kind in ("pdb", "cif")]
            self.table({"SE": TABLE["SE"]})
            want = self.image(*run, f"--anomalous-atoms={list_of_same}", *table, cell=ORTHORHOMBIC)
            for image in got:
                self.close(image, want)
        with self.subTest("with all elements it is the model with its f' and f''"):
            flags = ("-hkl", "a.pdb", "-energy", 12650, "--hkl-dmin=4")
            whole = self.image(*flags, "--no-anomalous", cell=ORTHORHOMBIC)
            want = self.image(*flags, cell=ORTHORHOMBIC)
            self.assertGreater(np.abs(want - whole).max(), 0.01 * want.max())
            np.testing.assert_allclose(self.image(*flags, "--anomalous-atoms=a.pdb:C,N,O,SE,ZN", cell=ORTHORHOMBIC), want,
                                       atol=1e-3 * want.max())

    def test_refusals_of_models(self):
        self.crystal()
        run = ("-hkl", "phased.hkl", "-energy", 12650)
        self.assertIn("not that of the structure factors", self.refusal(*run, "--anomalous-atoms=a.pdb"))
        run = ("-hkl", "a.pdb", "--hkl-dmin=5", *run[2:])
        refused = lambda *flags: self.run_it(*run, *flags, status=None)
        self.assertIn("no atoms of the element 'FE'", refused("--anomalous-atoms=a.pdb:SE,FE"))
        self.assertIn("leave out ':SE'", refused("--anomalous-atoms=atoms.txt:SE"))
        self.table({"peak": TABLE["SE"]})
        self.assertIn("labels have to be elements", refused("--anomalous-atoms=a.pdb", "--anomalous-table=table.txt"))
        self.assertIn("has no f' and f'' of 'ZN'", refused("--anomalous-atoms=a.pdb:ZN", "--anomalous-table=table.txt"))
        self.model([(1, 2, 3)])
        self.assertIn("name other elements: a.pdb:C,N,O", refused("--anomalous-atoms=a.pdb"))

    def test_refusals(self):
        atoms = ["--anomalous-atoms=atoms.txt"]
        table = ["--anomalous-table=table.txt"]
        hkl = ["-hkl", "phased.hkl"]
        self.assertIn("without positions", self.refusal(*hkl, *table, "-energy", 12650))
        self.assertIn("'SE1' of --anomalous-atoms is not an element", self.refusal(
            *hkl, f"--anomalous-atoms={self.atoms([('SE1', (0, 0, 0), 1, 1)], name='label.txt')}", "-energy", 12650))
        self.assertIn("-hkl FILE", self.refusal(*atoms, *table, "-lambda", 1, "-default_F", 1))
        self.assertIn("add lines that reach it", self.refusal(*hkl, *atoms, *table, "-energy", 12500))
        self.assertIn("-interpolate", self.refusal(*hkl, *atoms, *table, "-energy", 12650, "-interpolate"))
        self.plain("plain.hkl", self.hkl, self.f0)
        self.assertIn("plain.hkl:1: has no phase", self.refusal("-hkl", "plain.hkl", *atoms, *table, "-energy", 12650))
        self.channels([(12600.0, self.hkl, self.f0)])
        self.assertIn("exclude", self.refusal(*hkl, "--hkl-channels=channels.txt", "-energy", 12650))
        self.write("channels.txt", ["12600 channel0.hkl", "12500 channel0.hkl"])
        self.assertIn("channels.txt:2: energies do not ascend",
                      self.refusal("--hkl-channels=channels.txt", "-energy", 12650))
        self.channels([(12600.0, self.hkl, self.f0)])
        self.assertIn("would overwrite", self.refusal("--hkl-channels=channels.txt", "-energy", 12650,
                                                      "-floatfile", "channel0.hkl"))
        self.assertIn("would overwrite", self.refusal(*hkl, *atoms, *table, "-energy", 12650,
                                                      "-floatfile", "table.txt"))
        self.atoms([("FE", (0, 0, 0), 1, 1)])
        self.assertIn("has no f' and f'' of 'FE'", self.refusal(*hkl, *atoms, *table, "-energy", 12650))
        self.atoms(ATOMS, group="P 99")
        self.assertIn("no space group 'P 99'", self.refusal(*hkl, *atoms, *table, "-energy", 12650))
        self.write("atoms.txt", ["SE 0.1 0.2 0.3 1"])
        self.assertIn("atoms.txt:1: has 5 words", self.refusal(*hkl, *atoms, *table, "-energy", 12650))
        self.atoms(ATOMS)
        self.write("table.txt", ["SE 12600 1 2", "SE 12700 1 2", "ZN 12600 1 2"])
        self.assertIn("ZN is listed at other energies", self.refusal(*hkl, *atoms, *table, "-energy", 12650))


if __name__ == "__main__":
    NB_SIM, NB_GRADCHECK = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
