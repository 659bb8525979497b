"""Every command of docs/tutorial, in its order, against an installed tree. tutorial_test.py --build= --source=
--cmake= --cxx= --llvm="""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

arguments = None


class Tutorial(unittest.TestCase):
    def test_every_command(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        prefix, work = root / "prefix", root / "work"
        work.mkdir()
        subprocess.run([arguments.cmake, "--install", arguments.build, "--prefix", prefix], check=True,
                       capture_output=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("NB_")}
        environment |= {"PATH": f"{prefix}/bin:{arguments.llvm}:{os.environ['PATH']}", "NB": arguments.source,
                        "PREFIX": str(prefix), "CXX": arguments.cxx, "NB_CACHE": "off"}
        page = (pathlib.Path(arguments.source) / "docs/tutorial/README.md").read_text()
        said = {}
        for block in re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S):
            for command in block.splitlines():
                with self.subTest(command):
                    done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, text=True,
                                          capture_output=True, timeout=300)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    said[command] = done.stdout + done.stderr
        self.assertGreater(len(said), 12)
        self.check(said)

    def check(self, said):
        """The statements of the text about them."""
        def of(*words):
            return next(text for command, text in said.items() if all(word in command for word in words))
        self.assertIn("7 division(s) became multiplications", of("--remarks-filter='nb-divide-once'"))
        self.assertIn("patterns applied", of("--patterns"))
        fused = of("until-after=fuse", "two-crystals.mlir")
        self.assertEqual(len(re.findall(r"= arith.divf .*%ncells_a", fused)), 3)
        table = of("nb-try", "nb-divide-once")
        self.assertEqual(len(re.findall(r"^(?:default|given \d) +yes +(?:same|identical)", table, re.M)), 3, table)
        rows = dict(re.findall(r"^(default|given \d) .*?(?:same|identical).*?(?:same|identical)\S* *\S* +(\d+\.\d+) ",
                               table, re.M))
        if rows:  # where instructions can be counted
            self.assertLess(float(rows["given 2"]), 0.97 * float(rows["given 1"]), table)
        self.assertIn("arith.divf", of("nb-opt small.mlir"))
        brightest = re.search(r"brightest pixel: (.*)", of("./crystals"))[1]
        self.assertGreater(float(brightest), 0)
        self.assertEqual(brightest, re.search(r"brightest pixel: (.*)", of("crystals.py", "python3"))[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("build", "source", "cmake", "cxx", "llvm"):
        parser.add_argument("--" + name, required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
