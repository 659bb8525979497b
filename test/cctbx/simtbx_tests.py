#!/usr/bin/env python3
"""Runs simtbx's own tests, tst_*.py, with our modules behind the names of its compiled ones.

    simtbx_tests.py BUILD_PYTHON installed|project [PART OF A NAME]

installed: those of the simtbx that this Python has. project: those of the checkout of cctbx_project that NB_CCTBX_PROJECT names, with its
simtbx and the installed rest of cctbx. A line for each test: its outcome, seconds and, where it does not pass, the line of the reason.
Exit status 1 when an outcome is not the expected one.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time

# Test, arguments, and for those that fail the reason that is expected in its output.
NANOBRAGG = [(f"nanoBragg/tst_{name}.py", *arguments) for name, *arguments in (
    ("nanoBragg_minimal",), ("nanoBragg_mosaic",), ("nanoBragg_basic",), ("nanoBragg_multipanel",), ("nanoBragg_cbf_write",),
    ("nanoBragg_pilatus",), ("gaussian_mosaicity",), ("gaussian_mosaicity2",), ("anisotropic_mosaicity",), ("gauss_argchk", "CPU"),
    ("multisource_background",))]
TESTS = [(file, arguments, None) for file, *arguments in NANOBRAGG]
# A checkout of cctbx_project beside the cctbx of Debian 12: what is younger in the one than in the other.
OF_AGE = {"tst_gauss_argchk.py": "mmtbx", "tst_multisource_background.py": "mmtbx"}

# dxtbx of Debian 12 has no nxmx_writer, which the current simtbx imports at its top and uses in to_nexus_nxmx alone, and says numpy.float.
LAUNCH = """
import runpy, sys, types
import dxtbx.format, numpy
numpy.float = float
try:
    from dxtbx.format import nxmx_writer
except ImportError:
    dxtbx.format.nxmx_writer = sys.modules["dxtbx.format.nxmx_writer"] = types.ModuleType("dxtbx.format.nxmx_writer")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(0)


def main():
    build, which, *part = sys.argv[1:]
    build = os.path.abspath(build)
    if importlib.util.find_spec("scitbx") is None or importlib.util.find_spec("dxtbx") is None:
        skip(f"{sys.executable} has no cctbx and dxtbx (Debian: python3-cctbx)")
    sys.path.insert(0, build)
    try:
        import nanobragg.cctbx
    except ImportError as error:
        skip(f"{sys.executable} cannot load the bindings, which are built for another Python: {error}")
    os.environ.update(PYTHONPATH=f"{build}:{nanobragg.cctbx.path()}", NB_CCTBX_REPLACE="1", PYTHONDONTWRITEBYTECODE="1",
                      NUMEXPR_MAX_THREADS="1", MPLBACKEND="Agg")
    with tempfile.TemporaryDirectory() as folder:
        if which == "project":
            project = os.environ.get("NB_CCTBX_PROJECT")
            if not project:
                skip("NB_CCTBX_PROJECT names no checkout of cctbx_project")
            os.makedirs(os.path.join(folder, "python"))
            os.symlink(os.path.join(os.path.abspath(project), "simtbx"), os.path.join(folder, "python", "simtbx"))
            os.environ["PYTHONPATH"] = os.path.join(folder, "python") + ":" + os.environ["PYTHONPATH"]
            simtbx = os.path.join(project, "simtbx")
        else:
            simtbx = os.path.join(os.path.dirname(os.path.dirname(importlib.util.find_spec("scitbx").origin)), "simtbx")
        sys.exit(run(simtbx, folder, part, which))


def run(simtbx, folder, part, which):
    wrong = found = 0
    for file, arguments, expected in TESTS:
        path = os.path.join(simtbx, file)
        if not os.path.exists(path) or (part and part[0] not in " ".join([file, *arguments])):
            continue
        expected = expected or (OF_AGE.get(os.path.basename(file)) if which == "project" else None)
        found += 1
        began = time.time()
        done = subprocess.run([sys.executable, "-c", LAUNCH, path, *arguments], cwd=folder, capture_output=True, text=True)
        lines = [line.strip() for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
        outcome = "pass" if done.returncode == 0 else lines[-1][:150]
        ok = done.returncode == 0 if expected is None else done.returncode != 0 and expected in "\n".join(lines)
        wrong += not ok
        print(f"{os.path.basename(file)} {' '.join(arguments)} | {outcome} | {time.time() - began:.1f} s{'' if ok else '   <-- not expected'}", flush=True)
    if not found:
        skip(f"{simtbx} has no tests")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
