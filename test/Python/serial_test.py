"""The script that judges nb-refine beside DIALS, on few stills."""

import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

for needed in ("gemmi", "scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

sys.path.append(str(pathlib.Path(__file__).parents[2] / "docs/tutorials/serial"))
import judge


class Judge(unittest.TestCase):
    def test_six_stills(self):
        beside = shutil.which("dials.ssx_integrate") is not None
        with tempfile.TemporaryDirectory() as folder:
            words = [f"--out={folder}", "--stills=6", *(() if beside else ("--without-dials",))]
            R = judge.main(words)
            again = judge.main(words)
        self.assertEqual(R, again, "finished stills are kept")
        self.assertLess(R[6, "nb-refine"], 0.1)
        if beside:
            self.assertLess(R[6, "nb-refine"], R[6, "DIALS"])
        else:
            print("without DIALS, which is not installed")


if __name__ == "__main__":
    unittest.main()
