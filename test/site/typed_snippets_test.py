"""typed_snippets_test.py BUILD: mypy, and pyright where it is installed, accept every snippet of Python on the pages.

The prelude declares what stands for the reader's own: arrays, an image, a simulator."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()

PRELUDE = '''
from typing import Any
import numpy as np, os
import nanobragg as nb
flags: str = ""
sim: nb.Simulator = nb.Simulator.from_flags(flags)
data: np.ndarray = sim.image()
image: Any = data
comm: Any = None
sigma = mask = thetas = hkl = observed = rows = array = v = vs = theta = cotangent = indices = amplitudes = data
hmin = kmin = lmin = 1
width = dead_time = exposure = 1.0
function: nb.Function = sim.function("cell")
loss: nb.Loss = nb.Loss.sum()
pipeline: str = ""
cell: tuple[float, float, float, float, float, float] = (7e-9, 8e-9, 9e-9, 1.5, 1.5, 1.5)
origin: tuple[float, float, float] = (0, 0, 0)
fast_axis = slow_axis = origin
'''


def snippets():
    """(page, number of its first line, what stands in front, text) of blocks, example scripts and notebooks."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()
        for match in re.finditer(r"^( *)```python\n(.*?)^ *```", text, re.M | re.S):
            yield page, text.count("\n", 0, match.start()) + 2, PRELUDE, textwrap.dedent(match[2])
    for script in sorted((ROOT / "docs/examples/python").glob("*.py")):
        yield script, 1, "", script.read_text()
    for notebook in sorted((ROOT / "docs/examples/python").glob("*.ipynb")):
        cells = json.loads(notebook.read_text())["cells"]
        yield notebook, 1, "", "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def main():
    python = BUILD / "venv/bin/python"
    if not (BUILD / "python/nanobragg/_core.pyi").exists():
        print("skipped: there is no Python package")
        return
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for number, (page, line, prelude, text) in enumerate(snippets()):
            name = f"snippet{number}.py"
            text = text.replace(", ...]", "]").replace("(...)", "()")  # more of the same
            pathlib.Path(folder, name).write_text(prelude + text)
            places[name] = page, line - prelude.count("\n") - 1
        assert len(places) > 20
        pathlib.Path(folder, "pyrightconfig.json").write_text(
            f'{{"extraPaths": ["{BUILD}/python"], "reportMissingImports": false, "reportMissingModuleSource": false, '
            '"reportOptionalMemberAccess": false, "reportPossiblyUnboundVariable": false, "useLibraryCodeForTypes": false}')
        checkers = [["mypy", [str(python), "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(BUILD / "mypy-cache"),
                              "--no-error-summary", "--scripts-are-modules", *sorted(places)]]]
        if (BUILD / "venv/bin/pyright").exists():
            checkers.append(["pyright", [str(BUILD / "venv/bin/pyright"), "--pythonpath", str(python)]])
        else:
            print("there is no pyright; build/venv/bin/pip install 'pyright[nodejs]'")
        wrong = 0
        for checker, command in checkers:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                                  env={"MYPYPATH": str(BUILD / "python"), "PATH": "/usr/bin:/bin", "HOME": folder})
            found = re.findall(r"(snippet\d+\.py):(\d+)[:\d]*\s*-?\s*(error.*)", done.stdout)
            if done.returncode and not found:
                raise SystemExit(f"{checker} failed:\n{done.stdout}{done.stderr}")
            for name, line, text in found:
                page, offset = places[name]
                print(f"{page.relative_to(ROOT)}:{int(line) + offset + 1}: {checker}: {text}")
            wrong += len(found)
        print(f"{len(places)} snippets, {wrong} errors, by {' and '.join(name for name, _ in checkers)}")
        sys.exit(wrong > 0)


main()
