"""server_test.py BIN_DIR PLUGIN BAD_PLUGIN: each tool of the Model Context Protocol server, its bounds and its errors."""

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from server import Refused, connected

from nanobragg import compiler
from nanobragg.mcp import _tools, _worker

BIN, PLUGIN, BAD = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:4])
del sys.argv[1:4]
LONGEST = 40_000  # characters of a result
WRONG = "builtin.module(nb-hoist-invariants,func.func(seed-hoist),nb-fuse)"


def served(test):
    """With a server of its own."""
    @functools.wraps(test)
    async def run(self):
        async with connected(self.folder) as self.call:
            await test(self)
    return run


class Tools(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    async def refused(self, words, tool, /, **arguments):
        with self.assertRaisesRegex(Refused, words):
            await self.call(tool, **arguments)

    @served
    async def test_descriptions(self):
        """Each tool has an example, and says what it may change."""
        tools = (await self.call.client.list_tools()).tools
        self.assertEqual(len(tools), 13)
        for tool in tools:
            self.assertRegex(tool.description, rf"Example: {tool.name}\(", tool.name)
            self.assertEqual(tool.annotations.read_only_hint, "save" not in tool.input_schema["properties"])
            self.assertLess(len(tool.description), 1800)
        await self.refused("(?s)flag.*not permitted", "stats", flag="-N 3")

    @served
    async def test_programs_in_pages(self):
        whole = compiler.emit(_tools.SMALL)
        page = await self.call("print_stage", lines=20)
        self.assertEqual((page["lines"], page["lines_shown"], page["next_first_line"]), (len(whole.splitlines()), 20, 21))
        self.assertLess(max(map(len, page["text"].splitlines())), 350)
        second = await self.call("print_stage", first_line=21, lines=2)
        self.assertEqual(second["text"].splitlines(), whole.splitlines()[20:22])
        found = await self.call("print_stage", stage="fuse", only=r"nb\.miller_index", save="fused.mlir")
        self.assertRegex(found["text"], r"^\d+: +%hkl = nb.miller_index")
        self.assertEqual(found["saved"], "fused.mlir")
        valid = await self.call("verify", program="fused.mlir")
        self.assertTrue(valid["valid"] and valid["ops"]["nb.miller_index"] == 1)
        function = await self.call("print_stage", stage="llvm", function="image_run_tile", lines=3)
        self.assertIn("@image_run_tile", function["text"])
        self.assertIn("nb-vectorize{width=", (await self.call("print_stage", stage="pipeline"))["text"])
        self.assertIn("ret", (await self.call("print_stage", stage="asm", only=r"\bret"))["text"])
        await self.refused("there is no function 'none'; there are image", "print_stage", function="none")
        await self.refused("not a regular expression", "print_stage", only="(")
        await self.refused("there is no stage 'nowhere'", "print_stage", stage="nowhere")

    @served
    async def test_passes(self):
        after = await self.call("run_pipeline", pipeline="builtin.module(nb-hoist-invariants,cse)", only="nb.sum")
        self.assertEqual([(run["pass"], run["changed"]) for run in after["passes"]], [("nb-hoist-invariants", True), ("cse", False)])
        said = await self.call("remarks", pipeline="builtin.module(nb-hoist-invariants)")
        self.assertEqual(said["count"], 1)
        self.assertRegex(said["rows"][0]["message"], r"moved \d+ op\(s\)")
        self.assertIn("nb-hoist-invariants", said["summaries"])
        self.assertEqual((await self.call("remarks", only="no such text"))["rows"], [])
        changed = await self.call("diff", before="nb", after="builtin.module(nb-peel-miller-index)")
        self.assertEqual(changed["ops"]["nb.nearest_miller_index"], [0, 1])
        self.assertRegex(changed["text"], r"- .*nb.lattice_factor square %hkl, %ncells")
        self.assertEqual((await self.call("diff", before="hoist", after="hoist"))["text"], "")
        gpu = await self.call("stats", target="gfx942")
        self.assertEqual((gpu["chip"]["card"], gpu["bound"]["part"]), ("MI300X", "vector unit"))
        await self.refused("unknown target 'sm_9'", "stats", target="sm_9")
        numbers = await self.call("stats")
        self.assertGreater(numbers["loop"]["instructions"], 50)
        self.assertGreater(numbers["bound"]["cycles_per_sample"], 0)
        await self.refused("there is no pass 'nb-fuze'; the closest is 'nb-fuse'", "run_pipeline", pipeline="builtin.module(nb-fuze)")
        await self.refused("unknown flag '-nothing'", "stats", flags="-nothing 3")
        await self.refused("is not a point of a compilation", "diff", after="nowhere")

    @served
    async def test_judging(self):
        good, bad = (await self.call("judge", pipelines=["builtin.module(nb-fuse)", "builtin.module(nb-fuze)"], repeat=6,
                                     gradient="none"))["verdicts"]
        self.assertTrue(good["right"] and good["ns_per_sample"] > 0 and good["change"]["least"] <= good["change"]["most"])
        self.assertIn("nb-fuze", bad["failure"])
        found = await self.call("bisect", pipeline=WRONG, plugins=PLUGIN)
        self.assertEqual((found["right"], found["pass"], found["number"]), (False, "seed-hoist", 2))
        self.assertEqual(found["first_difference"]["line"], "%mosaic_angle = nb.lookup inbounds %mosaic_unit_angle[%mosaic] : !nb.table<?xf64>")
        self.assertNotIn("pass", await self.call("bisect", pipeline="builtin.module(nb-fuse)"))
        await self.refused("the answer for the whole program is no", "reduce", pipeline="builtin.module(nb-fuse)")
        await self.refused("kernels are judged on the processor", "judge", pipelines=["builtin.module()"], flags=f"{_tools.SMALL} --device=cuda")

    @served
    async def test_reduction(self):
        small = await self.call("reduce", pipeline=WRONG, plugins=PLUGIN, save="small.mlir")
        self.assertLess(small["ops"], small["ops_before"] / 4)
        self.assertIn("mosaic_unit_angle", (self.folder / "small.mlir").read_text())
        found = await self.call("bisect", pipeline=WRONG, program="small.mlir", plugins=PLUGIN)
        self.assertEqual(found["pass"], "seed-hoist")

    @served
    async def test_reference(self):
        names = (await self.call("list_names", kind="ops"))["names"]
        self.assertGreater(len(names), 50)
        self.assertTrue(all(names.values()), names)
        self.assertEqual(list((await self.call("list_names", kind="stages"))["names"])[0], "nb")
        self.assertEqual(set((await self.call("list_names"))["names"]), set(compiler.passes()))
        for name, words in (("nb.miller_index", "q is in 1/m"), ("nb-hoist-invariants", "Example"), ("transform.nb.peel", "transform"),
                            ("nb-cpu-pipeline", "until-after")):
            self.assertIn(words, (await self.call("describe", name=name))["text"])
        self.assertLessEqual(set(compiler.passes()), set(_tools._reference()))
        await self.refused("the closest are nb-hoist-invariants", "describe", name="nb-hoist-invariant")

    @served
    async def test_interpreter(self):
        ran = await self.call("interpret", probe="F_latt")
        (probe,) = ran["probes"]
        self.assertEqual((probe["name"], probe["components"][0]["count"]), ("F_latt", 16 * 16 * 3))
        self.assertRegex(ran["text"], "result 0: 1 x 16 x 16, sum ")
        self.assertRegex((await self.call("interpret", trace_pixel="3,4"))["text"], "(?m)^TRACE hkl_frac")
        square = "func.func @f(%x: f64 {nb.name = \"x\"}) -> f64 {\n  %y = arith.mulf %x, %x : f64\n  return %y : f64\n}"
        self.assertIn("9", (await self.call("interpret", program=square, arguments={"x": "3"}))["text"])
        invalid = await self.call("verify", program=square.replace("%x, %x", "%x, %z"))
        self.assertEqual((invalid["valid"], invalid["line"], invalid["source"]), (False, 2, "  %y = arith.mulf %x, %z : f64"))
        checked = await self.call("gradcheck", wrt="cell_a")
        self.assertTrue(checked["passed"])
        self.assertEqual({row["engine"] for row in checked["rows"]}, {"fused", "interpreter"})
        await self.refused("unknown parameter 'cell_q'; the closest is 'cell_a'", "gradcheck", wrt="cell_q")

    @served
    async def test_files_are_those_of_the_folder(self):
        outside = self.folder.parent / "nb-mcp-outside.mlir"
        await self.refused("is outside of the working directory", "run_pipeline", pipeline="builtin.module(cse)", save=f"../{outside.name}")
        await self.refused("is outside of the working directory", "verify", program="/etc/passwd")
        await self.refused("there is no file 'none.mlir' in the working directory", "verify", program="none.mlir")
        if _worker.can_confine():  # nor does a pass write elsewhere
            locations = f"builtin.module(snapshot-op-locations{{filename={outside}}})"
            await self.refused("Permission denied", "run_pipeline", pipeline=locations)
        else:
            print("the system has no Landlock: passes may write anywhere")
        self.assertFalse(outside.exists())
        await self.call("run_pipeline", pipeline="builtin.module(snapshot-op-locations{filename=inside.mlir})")
        self.assertEqual(os.listdir(self.folder), ["inside.mlir"])

    @served
    async def test_passes_that_crash(self):
        """The server lives on."""
        for name, words in (("bad-crash", r"crashes \(Aborted\)"), ("bad-exit", "ends with status 0")):
            await self.refused(words, "run_pipeline", pipeline=f"builtin.module(func.func({name}))", plugins=BAD)
        found = await self.call("bisect", pipeline="builtin.module(nb-fuse,func.func(bad-crash))", plugins=BAD)
        self.assertIn("bad-crash", found["failure"])
        self.assertTrue((await self.call("verify", program="module {\n}"))["valid"])

    async def test_time_is_limited(self):
        async with connected(self.folder, "--timeout=4") as call:
            begin = time.monotonic()
            with self.assertRaisesRegex(Refused, "run_pipeline takes more than 4 s"):
                await call("run_pipeline", pipeline="builtin.module(func.func(bad-hang))", plugins=BAD)
            self.assertLess(time.monotonic() - begin, 60)
            self.assertTrue(await call("list_names"))

    @served
    async def test_results_are_bounded(self):
        for tool, arguments in (("print_stage", {"stage": "llvm"}), ("print_stage", {"stage": "asm"}), ("remarks", {}),
                                ("diff", {"after": "arith"}), ("interpret", {"probe": "*"}), ("list_names", {"kind": "ops"})):
            self.assertLess(len(json.dumps(await self.call(tool, **arguments))), LONGEST, tool)


class CommandLine(unittest.TestCase):
    def test_what_cannot_be_used(self):
        for words, said in ((["--folder=/nowhere"], "there is no directory /nowhere"), (["--timeout=0"], "--timeout=0 is not positive")):
            done = subprocess.run([sys.executable, "-m", "nanobragg.mcp", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_without_the_package(self):
        code = "import sys; sys.modules['mcp'] = sys.modules['mcp.server'] = None; from nanobragg.mcp import __main__; __main__.main()"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip install 'nanobragg[mcp]'", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
