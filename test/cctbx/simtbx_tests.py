#!/usr/bin/env python3
"""Runs simtbx's own tests, tst_*.py, with our modules behind the names of its compiled ones.

    simtbx_tests.py BUILD_PYTHON installed|project|diffbragg [PART OF A NAME]

installed: those of the simtbx that this Python has. project: those of the checkout of cctbx_project that NB_CCTBX_PROJECT names, with its
simtbx and the installed rest of cctbx; diffbragg: the checkout's tests of diffBragg, of which Debian's package has none. A line for each
test: its outcome, seconds and, where it does not pass, the line of the reason. Exit status 1 when an outcome is not the expected one.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time

NANOBRAGG = [(f"nanoBragg/tst_{name}.py", *arguments) for name, *arguments in (
    ("nanoBragg_minimal",), ("nanoBragg_mosaic",), ("nanoBragg_basic",), ("nanoBragg_multipanel",), ("nanoBragg_cbf_write",),
    ("nanoBragg_pilatus",), ("gaussian_mosaicity",), ("gaussian_mosaicity2",), ("anisotropic_mosaicity",), ("gauss_argchk", "CPU"),
    ("multisource_background",))]
# The tests of simtbx's run_tests.py that need no GPU, and further ones.
DIFFBRAGG = [(f"diffBragg/tests/tst_{name}.py", *arguments.split()) for name, *runs in (
    ("diffBragg_utils", ""), ("diffBragg_structure_factors", ""), ("diffBragg_Fhkl_complex", ""), ("diffBragg_change_of_basis", ""),
    ("diffBragg_update_dxtbx_geoms", ""), ("diffBragg_deriv_rois", ""), ("diffBragg_detdist_derivatives", ""),
    ("diffBragg_nanoBragg_congruency", ""), ("diffBragg_regions_of_interest", ""), ("diffBragg_rotXYZ", ""), ("diffBragg_rotation", ""),
    ("diffBragg_map_to_asu", ""), ("hopper_usecase", ""), ("diffBragg_ncells_property", ""),
    ("diffBragg_ncells_offdiag_property", "--idx 0", "--idx 1", "--idx 2"),
    ("diffBragg_ncells_property_anisotropic", "--idx 0", "--idx 1", "--idx 2"),
    ("diffBragg_unitcell_property", *(f"--crystalsystem {system}" for system in ("tetragonal", "hexagonal", "monoclinic"))),
    ("diffBragg_lambda_coefficients", "--idx 0", "--idx 1"), ("diffBragg_panelXY_derivs", "--panel x", "--panel y", "--panel z"),
    ("diffBragg_rotXYZ_deriv", *(f"--curvatures --rotidx {i}" for i in range(3))), ("diffBragg_Fcell_deriv", "--curvatures"),
    ("diffBragg_eta_derivs", "", "--curvatures", "--aniso 0", "--aniso 1", "--aniso 2"),
    ("diffBragg_diffuse_properties", *(f"--idx {i} --gamma 100 125 150{more}" for more in ("", " --grad sigma --sigma 1 2 3")
                                       for i in range(3)), *(f"--idx 0 --gamma 100 125 150{more} --orientation 1" for more in ("", " --grad sigma --sigma 1 2 3"))),
    ("diffBragg_hopper_refine", *(f"--perturb {what}" for what in ("crystal", "Nabc", "G", "detz_shift", "crystal Nabc G",
                                                                 "crystal Nabc G detz_shift", "Nabc G", "spec"))),
    ("diffBragg_hopper_refine_Fhkl", "--scale .2")) for arguments in runs]
# Words expected in the output of tests that do not pass.
REASONS = {"project": {"tst_gauss_argchk.py CPU": "nxmx_writer"},  # the dxtbx of Debian 12 has none
           "diffbragg": {"tst_diffBragg_map_to_asu.py": "assert A==B",  # indices of two settings
                         "tst_diffBragg_rotation.py": "simtbx_kokkos_ext"}}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(0)


def main():
    build, which, *part = sys.argv[1:]
    build = os.path.abspath(build)
    if importlib.util.find_spec("scitbx") is None or importlib.util.find_spec("dxtbx") is None:
        skip(f"{sys.executable} has no cctbx and dxtbx (Debian: python3-cctbx)")
    if which == "diffbragg" and importlib.util.find_spec("dials") is None:
        skip(f"{sys.executable} has no dials")
    sys.path.insert(0, build)
    try:
        import nanobragg.cctbx
    except ImportError as error:
        skip(f"{sys.executable} cannot load the bindings, which are built for another Python: {error}")
    os.environ.update(PYTHONPATH=f"{build}:{nanobragg.cctbx.path()}", NB_CCTBX_REPLACE="1", PYTHONDONTWRITEBYTECODE="1",
                      NUMEXPR_MAX_THREADS="1", MPLBACKEND="Agg")
    project = os.environ.pop("NB_CCTBX_PROJECT", None)
    with tempfile.TemporaryDirectory() as folder:
        if which == "installed":
            simtbx = os.path.join(os.path.dirname(os.path.dirname(importlib.util.find_spec("scitbx").origin)), "simtbx")
        elif project:
            os.environ["NB_CCTBX_PROJECT"] = os.path.abspath(project)
            os.makedirs(os.path.join(folder, "python"))
            os.symlink(os.path.join(os.path.abspath(project), "simtbx"), os.path.join(folder, "python", "simtbx"))
            os.environ["PYTHONPATH"] = os.path.join(folder, "python") + ":" + os.environ["PYTHONPATH"]
            simtbx = os.path.join(project, "simtbx")
        else:
            skip("NB_CCTBX_PROJECT names no checkout of cctbx_project")
        sys.exit(run(which, os.path.abspath(simtbx), folder, part))


def run(which, simtbx, folder, part):
    wrong = found = 0
    tests = DIFFBRAGG if which == "diffbragg" else NANOBRAGG
    launch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
    for file, *arguments in tests:
        path = os.path.join(simtbx, file)
        name = " ".join([os.path.basename(file), *arguments])
        if not os.path.exists(path) or (part and part[0] not in name):
            continue
        found += 1
        began, expected = time.time(), REASONS.get(which, {}).get(name)
        done = subprocess.run([sys.executable, launch, path, *arguments], cwd=folder, capture_output=True, text=True)
        lines = [line.strip() for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
        outcome = "pass" if done.returncode == 0 else lines[-1][:150]
        ok = done.returncode == 0 if expected is None else done.returncode != 0 and expected in "\n".join(lines)
        wrong += not ok
        print(f"{name} | {outcome} | {time.time() - began:.1f} s{'' if ok else '   <-- not expected'}", flush=True)
    if not found:
        skip(f"{simtbx} has no tests")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
