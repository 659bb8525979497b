#!/usr/bin/env python3
"""kernel_stats_test.py NB_COMPILE LLVM_TOOLS INSTRUCTIONS.JSON: the numbers of --emit=stats against those of LLVM's programs, of
ptxas, and of the kernels that were executed."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NB_COMPILE, LLVM, COUNTS = map(os.path.abspath, sys.argv[1:4])
CRYSTAL = "-cell 70 80 90 91 100 95 -misset 10 20 30 -lambda 1 -distance 100 -detpixels 64 -mosaic_dom 10 -mosaic_spread 0.5 " \
          "-oversample 1 -N 10"
KERNELS = ("-default_F 10", "-default_F 10 --precision=mixed", "-default_F 10 -gauss_xtal", "-default_F 10 --grad=cell")
PROCESSORS, AMD, OTHERS = ("x86-64-v3", "x86-64-v4", "aarch64"), ("gfx90a", "gfx942", "gfx1100", "gfx1201"), ("sm_90", "spirv64")


def run(*words, **environment):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, env={**os.environ, **environment}, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def emit(kind, kernel, target, **environment):
    return run(NB_COMPILE, *CRYSTAL.split(), *kernel.split(), f"--target={target}", f"--emit={kind}", **environment)


def stats(kernel, target, **environment):
    return json.loads(emit("stats-json", kernel, target, **environment))


def ptxas():
    root = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return shutil.which("ptxas") or shutil.which(f"{root}/bin/ptxas")


class KernelStats(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_numbers_fit_together(self):
        for target in PROCESSORS + AMD + OTHERS:
            for kernel in KERNELS[::3]:
                with self.subTest(target, kernel=kernel):
                    said = stats(kernel, target)
                    loops = said["loops"]
                    for loop in loops:
                        self.assertEqual(sum(sum(types.values()) for types in loop["kinds"].values()), loop["instructions"])
                        self.assertEqual(loop["vector"] + loop["scalar"], loop["instructions"])
                    inner = loops[said["inner_loop"]]
                    self.assertTrue(inner["innermost"])
                    self.assertEqual(inner["depth"], max(loop["depth"] for loop in loops))
                    if target == "spirv64":
                        self.assertNotIn("bound", said)
                        continue
                    self.assertRegex(inner["line"]["text"], r"nb\.")
                    self.assertGreater(inner["kinds"]["multiply_add"]["f64"], 20)
                    bound = max(part["cycles"] for part in inner["cycles"]) / inner["samples"]
                    self.assertAlmostEqual(said["bound"]["cycles_per_sample"], bound)
                    text = emit("stats", kernel, target)
                    self.assertIn(f"bound                   {bound:.2f} cycles per sample", text)
                    self.assertRegex(text, rf"(?m)^instructions            {inner['instructions']}$")

    def test_ports_are_those_of_llvm_mca(self):
        """Where llvm-mca puts instructions that may go to other ports, too, its ports are busier."""
        for target, cpu in (("x86-64-v3", "haswell"), ("x86-64-v4", "skylake-avx512")):
            for kernel in KERNELS:
                with self.subTest(target, kernel=kernel):
                    said = stats(kernel, target)
                    inner = said["loops"][said["inner_loop"]]
                    lines = emit("asm", kernel, target).splitlines()
                    begin = next(i for i, line in enumerate(lines) if line.startswith(inner["label"] + ":"))
                    end = max(i for i, line in enumerate(lines) if re.search(rf"\tj\w+\t{re.escape(inner['label'])}$", line))
                    block = self.folder / "loop.s"
                    block.write_text("\n".join(line for line in lines[begin + 1:end] if re.match(r"\t\w", line)) + "\n")
                    report = run(f"{LLVM}/llvm-mca", "-mtriple=x86_64-linux-gnu", f"-mcpu={cpu}", block)
                    names = re.findall(r"(?m)^\[[\d.]+\] +- (\w+)$", report)
                    pressure = report.split("Resource pressure per iteration:\n")[1].splitlines()[1].split()
                    busy = {name: float(number) for name, number in zip(names, pressure, strict=True) if number != "-"}
                    compared = 0
                    for part in inner["cycles"]:
                        ports = re.fullmatch(r"(HW|SKX)Port(\d+)", part["part"])
                        if ports and "7" not in ports[2]:
                            theirs = sum(busy.get(f"{ports[1]}Port{port}", 0) for port in ports[2]) / len(ports[2])
                            self.assertLessEqual(part["cycles"], theirs + 0.5, part)
                            compared += part["cycles"] > 0.7 * theirs
                    self.assertGreater(compared, 3)

    def test_a_loop_that_is_executed_takes_as_long(self):
        counts = json.loads(pathlib.Path(COUNTS).read_text())
        for level in ("x86-64-v3", "x86-64-v4"):
            executed = counts[level]["square N=10 constant mosaic=10 oversample=1 sources=1 phi=1 f64"]["cycles"]
            alone = stats("-compat c -default_F 10", level)["bound"]["cycles_per_sample"]
            self.assertTrue(alone < executed < 1.15 * alone, (alone, executed))

    def test_amd_as_llvm_says(self):
        for chip in AMD:
            for kernel in KERNELS:
                with self.subTest(chip, kernel=kernel):
                    device = stats(kernel, chip)["device"]
                    code = self.folder / "k.hsaco"
                    run(NB_COMPILE, *CRYSTAL.split(), *kernel.split(), f"--target={chip}", "--emit=hsaco", "-o", code)
                    notes = run(f"{LLVM}/llvm-readelf", "--notes", code)
                    for ours, theirs in (("registers", "vgpr_count"), ("spills", "vgpr_spill_count"), ("scalar_registers", "sgpr_count"),
                                         ("scalar_spills", "sgpr_spill_count"), ("stack_bytes", "private_segment_fixed_size"),
                                         ("shared_bytes", "group_segment_fixed_size")):
                        self.assertEqual(device[ours], int(re.findall(rf"\.{theirs}:\s+(\d+)", notes)[0]), theirs)
                    self.assertEqual(device["threads"], 128)
                    module = self.folder / "k.ll"
                    module.write_text(emit("llvm", kernel, chip))
                    assembly = run(f"{LLVM}/llc", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}", module, "-o", "-")
                    self.assertEqual(device["warps"], int(re.search(r"; Occupancy: (\d+)", assembly)[1]))

    @unittest.skipUnless(ptxas(), "there is no ptxas, in PATH, CUDA_HOME or /usr/local/cuda")
    def test_nvidia_as_ptxas_says(self):
        for kernel in KERNELS:
            with self.subTest(kernel):
                device = stats(kernel, "sm_90")["device"]
                ptx = self.folder / "k.ptx"
                ptx.write_text(emit("ptx", kernel, "sm_90"))
                done = subprocess.run([ptxas(), "-v", "-arch=sm_90", "-O3", ptx, "-o", self.folder / "k.cubin"], text=True,
                                      capture_output=True, check=True)
                main = (done.stdout + done.stderr).split("Compiling entry function 'image")[1:]
                main = next(part for part in main if not part.startswith("_vjp_reduce") and not part.startswith("_reduce"))
                self.assertEqual(device["registers"], int(re.search(r"Used (\d+) registers", main)[1]))
                self.assertEqual(device["spills"], int(re.search(r"(\d+) bytes spill stores", main)[1]))
                # 65536 registers for four parts of a multiprocessor, in lots of 256.
                warps = 4 * (16384 // (-(-32 * device["registers"] // 256) * 256))
                self.assertEqual(device["warps"], warps // 4 * 4)

    def test_without_ptxas(self):
        said = stats(KERNELS[0], "sm_90", NB_PTXAS="off")
        self.assertNotIn("device", said)
        self.assertEqual(said["bound"]["part"], "f64")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
