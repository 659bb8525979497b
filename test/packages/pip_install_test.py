#!/usr/bin/env python3
"""pip_install_test.py SOURCE: `pip install .` in a fresh clone, for the running Python: image, judge, nb-sim. Takes minutes."""

import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCE / "test" / "Python"))
import bare_root  # noqa: E402

if subprocess.run(["git", "-C", SOURCE, "rev-parse"], capture_output=True).returncode != 0:
    print("skipped: the sources are no clone of git")
    sys.exit(0)
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["git", "clone", "-q", "--depth=1", SOURCE.as_uri(), f"{folder}/clone"], check=True)
    subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
    done = subprocess.run([f"{folder}/venv/bin/pip", "install", "-q", "."], cwd=f"{folder}/clone", text=True, capture_output=True)
    if done.returncode != 0:
        print("skipped: no package index can be reached" if "NewConnectionError" in done.stderr else done.stdout + done.stderr)
        sys.exit("NewConnectionError" not in done.stderr)
    sys.exit(not bare_root.runs([f"{folder}/venv/bin/python"], "an environment of `pip install .`", folder, mlir=False))
