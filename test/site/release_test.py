"""The release script's dry run passes on this tree, and fails where something is out of step."""

import ast
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("CMakeLists.txt", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "LICENSE", "SECURITY.md", "CODE_OF_CONDUCT.md",
          "docs/policy.md", "runtime/python/compiler/pyproject.toml", "tools/packaging/conda/recipe.yaml",
          "tools/packaging/spack/package.py", "tools/packaging/Containerfile", "tools/release")


def dry_run(root):
    return subprocess.run([sys.executable, "-B", root / "tools/release", "--dry-run"], capture_output=True, text=True)


class Release(unittest.TestCase):
    def test_this_tree(self):
        done = dry_run(ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("would build", done.stdout)

    def changed(self, file, old, new):
        """The dry run's complaint when a text of a file is another."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in NEEDED:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, root / name)
            text = (root / file).read_text()
            self.assertRegex(text, old)
            (root / file).write_text(re.sub(old, new, text, count=1))
            done = dry_run(root)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(file, done.stderr)

    def test_each_place_of_the_version(self):
        self.changed("CITATION.cff", r"\nversion: \S+", "\nversion: 0.0.9")
        self.changed("CHANGELOG.md", r"## \d\S+", "## 0.0.9")
        self.changed("pyproject.toml", r"dynamic = .*", 'version = "0.0.9"')
        self.changed("runtime/python/compiler/pyproject.toml", r"dynamic = .*", 'version = "0.0.9"')
        self.changed("tools/packaging/conda/recipe.yaml", r"version: 0\S+", "version: 0.0.9")
        self.changed("tools/packaging/spack/package.py", r'version\("0[^"]+', 'version("0.0.9')

    def test_dependencies_of_the_wheels(self):
        self.changed("pyproject.toml", r', "msgpack"\]', "]")

    def test_a_long_entry(self):
        self.changed("CHANGELOG.md", r"(\n## \d.*\n\n)- ", r"\1" + "- one\n" * 21 + "- ")

    def test_the_spack_recipe_is_python(self):
        tree = ast.parse((ROOT / "tools/packaging/spack/package.py").read_text())
        self.assertIn("NanobraggMlir", [node.name for node in tree.body if isinstance(node, ast.ClassDef)])


if __name__ == "__main__":
    unittest.main()
