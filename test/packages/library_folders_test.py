#!/usr/bin/env python3
"""library_folders_test.py BUILD CMAKE READELF: no program and no library looks for others in the working directory: each
folder that it names is absolute or relative to its own place, in the build tree, the installed tree and the wheels. No
page recommends an empty one."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD, CMAKE, READELF = None, None, None
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def lookups(path):
    """Its RPATH and RUNPATH, entry by entry, and the libraries that it names."""
    text = subprocess.run([READELF, "-d", path], capture_output=True, text=True, check=True).stdout
    folders = [entry for found in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text) for entry in found.split(":")]
    return folders, re.findall(r"\(NEEDED\).*\[(.*)\]", text)


class LibraryFolders(unittest.TestCase):
    def check(self, root, absolute):
        files = [path for path in root.rglob("*") if is_elf(path)]
        self.assertTrue(files, root)
        wrong = []
        for path in files:
            folders, needed = lookups(path)
            allowed = ("$ORIGIN", "/") if absolute else ("$ORIGIN",)
            wrong += [f"{path}: folder '{folder}'" for folder in folders if not folder.startswith(allowed)]
            wrong += [f"{path}: library '{name}'" for name in needed if "/" in name]
        self.assertEqual(wrong, [])

    def test_build_tree(self):
        for folder in ("bin", "lib"):
            self.check(BUILD / folder, absolute=True)

    def test_python_package_of_the_build_tree(self):
        if not (BUILD / "python" / "nanobragg").is_dir():
            self.skipTest("the build has no Python package")
        self.check(BUILD / "python", absolute=True)

    def test_installed_tree(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", scratch], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check(pathlib.Path(scratch), absolute=True)

    def test_pages_name_no_empty_folder(self):
        # An empty entry is the working directory, for Python as for libraries.
        empty = re.compile(r":\$\{?(PYTHONPATH|LD_LIBRARY_PATH|LD_PRELOAD)\b|\$\{?(PYTHONPATH|LD_LIBRARY_PATH)\}?:")
        files = [*SOURCE.glob("*.md"), SOURCE / "bootstrap",
                 *(path for folder in ("docs", "runtime/python", "test") for path in (SOURCE / folder).rglob("*")
                   if path.suffix in (".md", ".py", ".sh", ".in", ".txt") and path.is_file())]
        self.assertEqual([f"{path}: {line}" for path in files for line in path.read_text(errors="replace").split("\n")
                          if empty.search(line) and ":+:" not in line and path.name != "library_folders_test.py"], [])

    def test_wheels(self):
        wheels = sorted((BUILD / "wheels").glob("*.whl"))
        if not wheels:
            self.skipTest("there are no wheels here; ./bootstrap python makes them")
        for wheel in wheels:
            with tempfile.TemporaryDirectory() as scratch:
                zipfile.ZipFile(wheel).extractall(scratch)
                self.check(pathlib.Path(scratch), absolute=False)


if __name__ == "__main__":
    BUILD, CMAKE, READELF = (pathlib.Path(word) for word in sys.argv[-3:])
    unittest.main(argv=sys.argv[:-3])
