#!/usr/bin/env python3
"""hopper_test.py NB_SIM BUILD_PYTHON PYTHON_OF_NB_REFINE: the hopper command of cctbx_project on our kernels refines simulated stills to what nb-refine
finds, and stage_two then finds the structure factors. NB_CCTBX_PROJECT names the checkout; without it, or without DIALS, the test is skipped. KEEP=FOLDER leaves the files there."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

import numpy

numpy.float, numpy.bool = float, bool  # removed names that the dxtbx of Debian 12 uses
NB_SIM, BUILD, PYTHON = (os.path.abspath(path) for path in sys.argv[1:4])
PROJECT, HERE = os.environ.get("NB_CCTBX_PROJECT"), os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BUILD)
try:
    from cctbx import crystal, miller, uctbx
    from dials.array_family import flex
    from dxtbx.model.experiment_list import ExperimentListFactory
    from scitbx.matrix import col, sqr
    import nanobragg.cctbx
    import pandas
    REASON = None if PROJECT else "NB_CCTBX_PROJECT names no checkout of cctbx_project"
except ImportError as error:
    REASON = str(error)
if REASON:
    print(f"skipped: {REASON}")
    sys.exit(0)

STILLS = 2
COMMON = """
roi.shoebox_size = 15
roi.fit_tilt = True
roi.fit_tilt_using_weights = False
roi.reject_edge_reflections = False
roi.reject_roi_with_hotpix = False
roi.pad_shoebox_for_background_estimation = 5
roi.allow_overlapping_spots = True
refiner.sigma_r = 0.1
refiner.adu_per_photon = 1
simulator.oversample = 3
simulator.beam.size_mm = 0.1
simulator.total_flux = 1e12
simulator.crystal.has_isotropic_ncells = False
simulator.structure_factors.mtz_column = "F"
simulator.structure_factors.dmin = 1.9
simulator.structure_factors.dmax = 99
space_group = P121
"""
HOPPER = COMMON + """
simulator.structure_factors.mtz_name = F.mtz
init.Nabc = 14 14 14
init.G = 10
fix.detz_shift = True
use_restraints = False
method = "L-BFGS-B"
ftol = 1e-10
sigmas.RotXYZ = 1 1 1
debug_mode = True
"""
# stage_two wants centers and betas of the cell, which without restraints have no effect.
STAGE_TWO = COMMON + """
simulator.structure_factors.mtz_name = off.mtz
refiner.refine_Fcell = 1
refiner.refine_spot_scale = 0
refiner.max_calls = 15
refiner.io.output_dir = stage_two
pandas_table = stage1.pkl
centers { ucell_a = 55; ucell_b = 65; ucell_c = 75; ucell_beta = 95 }
betas { ucell_a = 1; ucell_b = 1; ucell_c = 1; ucell_beta = 1 }
"""


def model(file):
    return ExperimentListFactory.from_json_file(file, check_format=False)[0].crystal


def apart(one, other):
    """Degrees between the orientations, and the largest difference of the cells' numbers."""
    u, v = (numpy.linalg.svd(numpy.reshape(crystal.get_A(), (3, 3))) for crystal in (one, other))
    turn = (u[0] @ u[2]) @ (v[0] @ v[2]).T
    vector = numpy.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    cells = [crystal.get_unit_cell().parameters() for crystal in (one, other)]
    return numpy.degrees(numpy.linalg.norm(vector)), numpy.abs(numpy.subtract(*cells)).max()


class Hopper(unittest.TestCase):
    def run_in(self, *words, **environment):
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, **environment}, text=True, capture_output=True, timeout=900,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, " ".join(words[:3]) + "\n" + done.stdout[-2000:] + done.stderr[-2000:])

    def setUp(self):
        self.folder = os.environ.get("KEEP") or self.enterContext(tempfile.TemporaryDirectory())
        os.makedirs(self.folder, exist_ok=True)
        os.chdir(self.folder)
        rng = numpy.random.default_rng(7)
        unique = miller.build_set(crystal.symmetry((55, 65, 75, 90, 95, 90), "P121"), anomalous_flag=False, d_min=1.9)
        falling = numpy.exp(-15 * unique.unit_cell().stol_sq(unique.indices()).as_numpy_array())
        amplitudes = numpy.sqrt(-numpy.log(rng.uniform(size=unique.size()))) * 300 * falling
        self.truth = dict(zip(unique.indices(), amplitudes))
        for name, data in (("F.mtz", amplitudes), ("off.mtz", amplitudes * numpy.exp(rng.normal(size=unique.size()) * 0.2))):
            array = unique.array(data=flex.double(data)).set_observation_type_xray_amplitude()
            array.as_mtz_dataset("F").mtz_object().write(name)
        for i in range(STILLS):
            self.run_in(NB_SIM, *f"-hkl F.mtz -gauss_xtal -N 14 -xds -lambda 1.2 -distance 120 -detpixels 1000 -pixel 0.1 -misset {10 + 10 * i} "
                        f"{37 + 17 * i} {70 + 40 * i} -fluence 1e27 -water 0.2 -oversample 3 -seed {1 + i} -polar 1 -nopgm -noprogress --cbf=still{i}.cbf "
                        f"--write-expt=truth{i}.expt --write-refl=truth{i}.refl".split())
            self.start(i, rng)

    def start(self, i, rng):
        """0.1 degrees and 0.2 % of the cell off, with the brighter reflections."""
        experiments = ExperimentListFactory.from_json_file(f"truth{i}.expt", check_format=False)
        basis = sqr(uctbx.unit_cell((55.1, 65.15, 74.9, 90, 94.95, 90)).fractionalization_matrix()).transpose()
        turn = col(rng.normal(size=3)).normalize().axis_and_angle_as_r3_rotation_matrix(0.1, deg=True)
        experiments[0].crystal.set_A(turn * sqr(experiments[0].crystal.get_U()) * basis)
        experiments.as_file(f"start{i}.expt")
        reflections = flex.reflection_table.from_file(f"truth{i}.refl")
        reflections = reflections.select(reflections["intensity.sum.value"] > 150)
        reflections["xyzobs.px.value"] = reflections["xyzcal.px"]
        reflections.as_file(f"start{i}.refl")

    def command(self, name, phil, *words):
        """Runs simtbx's program in the checkout."""
        with open(f"{name}.phil", "w") as out:
            out.write(phil)
        self.run_in(sys.executable, "-B", os.path.join(HERE, "launch.py"), f"python/simtbx/command_line/{name}.py", f"{name}.phil", *words,
                    NB_CCTBX_REPLACE="1", MPLBACKEND="Agg", NUMEXPR_MAX_THREADS="1",
                    PYTHONPATH=f"{self.folder}/python:{BUILD}:{nanobragg.cctbx.path()}")

    def stage_two(self):
        """Errors of the structure factors, their median, before and after it."""
        table = pandas.read_pickle("hopper/pandas/hopper_results_rank0.pkl")
        table["exp_name"], table["exp_idx"], table["predictions"] = table.opt_exp_name, 0, table.stage1_refls
        table.to_pickle("stage1.pkl")
        self.command("stage_two", STAGE_TWO)
        indices = numpy.load("stage_two/f_asu_map.npy", allow_pickle=True).item()
        found = miller.set(crystal.symmetry((55, 65, 75, 90, 95, 90), "P121"), flex.miller_index([indices[i] for i in range(len(indices))]), False)
        truth = numpy.array([self.truth[hkl] for hkl in found.map_to_asu().indices()])
        evaluations = sorted(glob.glob("stage_two/_fcell_trial0_eval*.npz"), key=lambda name: int(name.split("_eval")[1].split("_")[0]))
        return [float(numpy.median(numpy.abs(numpy.load(name)["fvals"] / truth - 1))) for name in (evaluations[0], evaluations[-1])]

    def test_hopper_and_nb_refine(self):
        with open("input.lst", "w") as out:
            out.writelines(f"{self.folder}/start{i}.expt {self.folder}/start{i}.refl\n" for i in range(STILLS))
        os.makedirs("python", exist_ok=True)
        if not os.path.exists("python/simtbx"):
            os.symlink(os.path.join(os.path.abspath(PROJECT), "simtbx"), "python/simtbx")
        self.command("hopper", HOPPER, "exp_ref_spec_file=input.lst", "outdir=hopper")
        for i in range(STILLS):
            self.run_in(PYTHON, "-m", "nanobragg.refine", "stills", f"start{i}.expt", f"start{i}.refl", "--system=monoclinic", "--workers=1",
                        "--parameters=orientation,cell,scale,ncells", f"--out=refined{i}", "--readout=0.1", "--", *"-hkl F.mtz -gauss_xtal -N 14 "
                        "-oversample 3 --average=sampled".split(), PYTHONPATH=BUILD)
            hopper, = (model(file) for file in glob.glob(f"hopper/expers/rank*/*start{i}_*.expt"))
            refined, truth = model(f"refined{i}/refined.expt"), model(f"truth{i}.expt")
            for name, (degrees, cell) in (("start", apart(model(f"start{i}.expt"), truth)), ("hopper", apart(hopper, truth)),
                                          ("nb-refine", apart(refined, truth)), ("hopper from nb-refine", apart(hopper, refined))):
                print(f"still {i}, {name}: {degrees:.6f} degrees, {cell:.6f} of the cell")
            self.assertLess(apart(refined, truth)[0], 0.002)
            degrees, cell = apart(hopper, refined)
            self.assertLess(degrees, 2e-4)
            self.assertLess(cell, 3e-4)
        before, after = self.stage_two()
        print(f"structure factors, median error: {before:.4f} before stage_two, {after:.4f} after it")
        self.assertGreater(before, 0.1)
        self.assertLess(after, before / 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
