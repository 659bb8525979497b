"""examples_test.py FOLDER: the examples of the documentation run."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "docs/examples/python"
NEEDS = {"fit_torch": "torch", "fit_atoms": "torch", "stage_a": "torch", "hessian_jax": "jax", "fit_scipy": "scipy",
         "fit_crystal": "torch", "spot_finder": "torch", "refine_still": "scipy", "first_image": "matplotlib",
         "python_pass": "mlir"}


class Examples(unittest.TestCase):
    pass


def skip_without(test, file):
    needed = NEEDS.get(file.stem)
    if needed and not importlib.util.find_spec(needed):
        test.skipTest(f"{needed} is not installed")


def add(file):
    def test(self):
        skip_without(self, file)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-W", "error::DeprecationWarning", file], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout)
    setattr(Examples, f"test_{file.stem}", test)


def add_notebook(file):
    """A notebook, from top to bottom, in its folder; what it has put out is not committed."""
    def test(self):
        cells = json.loads(file.read_text())["cells"]
        self.assertFalse([c for c in cells if c.get("outputs")])
        skip_without(self, file)
        program = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        done = subprocess.run([sys.executable, "-c", program], cwd=file.parent, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    setattr(Examples, f"test_{file.stem}", test)


for file in sorted(FOLDER.glob("*.py")):
    add(file)
for file in sorted(FOLDER.glob("*.ipynb")):
    add_notebook(file)

def add_readme(file):
    """The README's example, run where it says: in the root of the repository."""
    def test(self):
        (program,) = re.findall(r"```python\n(.*?)```", file.read_text(), re.S)
        done = subprocess.run([sys.executable, "-c", program + "\nassert g.loss > 0 and g['cell_a'] != 0"], cwd=file.parent,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    Examples.test_readme = test


add_readme(FOLDER.parents[2] / "README.md")

if __name__ == "__main__":
    unittest.main(verbosity=2)
