#!/usr/bin/env python3
"""ptx_test.py NB_SIM NB_COMPILE: the PTX of a kernel is one entry, or two if it sums over pixels,
without calls, without memory of its own, without atomic operations, and without a branch on data where
the samples are summed; ptxas takes it where there is one."""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FLAGS = "-cell 70 80 90 90 100 90 -N 4 -lambda 1 -distance 50 -mosaic_dom 5 -mosaic_spread 1".split()
HKL = pathlib.Path(__file__).resolve().parent.parent / "data" / "1hpv_3.0A.hkl"
CHIPS = ("sm_80", "sm_90", "sm_100")
PRECISIONS = ("f64", "mixed", "f32")
INTERPOLATED = ("-hkl", str(HKL), "-interpolate")
PLAIN = (("-default_F", "10"), ("-hkl", str(HKL)), ("-default_F", "10", "-gauss_xtal"))
SHAPES = (*PLAIN, INTERPOLATED)
NB_COMPILE = ""


def find_tool(name):
    root = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return shutil.which(name) or shutil.which(os.path.join(root, "bin", name))


def innermost_sass_loop(lines):
    """From a label to a branch back to it, in as many other such as possible: over samples."""
    lines = [line for line in lines if re.match(r"\s+/\*[0-9a-f]{4,5}\*/|\.L_x", line)]
    labels = {line.split(":")[0]: i for i, line in enumerate(lines) if line.startswith(".L_x")}
    loops = []
    for end, line in enumerate(lines):
        jump = re.search(r"BRA.*`\((\.L_x_\d+)\)", line)
        if jump and labels[jump[1]] < end:
            loops.append((labels[jump[1]], end))
    depth = {(a, b): sum(c <= a and b <= d for c, d in loops) for a, b in loops}
    start, end = max(depth, key=depth.get, default=(0, 0))
    return lines[start:end + 1]


def innermost_loop(lines):
    """The body of the longest loop that has no other label in it."""
    loops = []
    for start, line in enumerate(lines):
        if not re.match(r"\$L\w+:", line):
            continue
        label = line.split(":")[0]
        for end in range(start + 1, len(lines)):
            if re.match(r"\$L\w+:", lines[end]):
                break
            if re.search(rf"@%p\d+ bra \t?{re.escape(label)};", lines[end]):
                loops.append(lines[start + 1:end + 1])
                break
    return max(loops, key=len, default=[])


def block_with(lines, word):
    """From the label before the first line with the word to the store after it."""
    at = next(i for i, line in enumerate(lines) if word in line)
    start = max(i for i in range(at) if re.match(r"\$L\w+:", lines[i]))
    end = next(i for i in range(at, len(lines)) if "st.global" in lines[i])
    return lines[start:end + 1]


class Ptx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def compile(self, *words, status=0):
        done = subprocess.run([NB_COMPILE, *FLAGS, *words], cwd=self.root, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout

    def each(self, chips=CHIPS, shapes=SHAPES):
        for chip, precision, shape in itertools.product(chips, PRECISIONS, shapes):
            yield chip, self.compile(*shape, "--emit=ptx", f"--target={chip}",
                                     f"--precision={precision}")

    def gradients(self, chips=CHIPS, shapes=SHAPES, grad="scalars"):
        for chip, shape in itertools.product(chips, shapes):
            yield chip, self.compile(*shape, "--emit=ptx", f"--target={chip}", f"--grad={grad}")

    def check_nothing_else(self, ptx):
        self.assertNotRegex(ptx, r"\.func|\bcall|\.extern|\.local|__local_depot|\batom|\bred\b")
        self.assertRegex(ptx, r"\.maxntid 128")

    def test_one_entry_and_nothing_else(self):
        for chip, ptx in self.each():
            self.assertRegex(ptx, rf"(?m)^\.target {chip}$")
            self.assertEqual(re.findall(r"\.entry (\w+)", ptx), ["image"])
            self.assertEqual(ptx.count(".param .u64"), 5)
            self.check_nothing_else(ptx)

    def test_averages_in_closed_form_are_one_entry(self):
        flags = ("-default_F", "10", "-gauss_xtal", "--average=closed", "-osc", "0.1", "--bandwidth-sigma=0.1")
        sampled = FLAGS[FLAGS.index("-mosaic_dom"):][:2]
        for precision in ("f64", "mixed"):
            words = [word for word in FLAGS if word not in sampled]
            done = subprocess.run([NB_COMPILE, *words, *flags, "--emit=ptx", "--target=sm_90", f"--precision={precision}"],
                                  cwd=self.root, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(re.findall(r"\.entry (\w+)", done.stdout), ["image"])
            self.check_nothing_else(done.stdout)

    def test_a_gradient_has_two_entries(self):
        for _, ptx in self.gradients():
            entries = re.split(r"(?=\.visible \.entry)", ptx)[1:]
            names = [re.match(r"\.visible \.entry (\w+)", entry)[1] for entry in entries]
            self.assertEqual(sorted(names), ["image_vjp", "image_vjp_reduce"])
            self.assertEqual({name: entry.count(".param .u64") for name, entry in
                              zip(names, entries)}, {"image_vjp": 5, "image_vjp_reduce": 3})
            self.check_nothing_else(ptx)
            for entry in entries:
                self.assertIn("shfl.sync.bfly.b32", entry)
            self.assertRegex(entries[names.index("image_vjp_reduce")], r"\.maxntid 32")

    def test_a_gradient_sums_over_a_warp_without_a_branch_on_data(self):
        for _, ptx in self.gradients(chips=("sm_90",)):
            main = next(e for e in ptx.split(".visible .entry") if e.startswith(" image_vjp("))
            sample = block_with(main.splitlines(), "shfl.sync")
            self.assertGreater(len(sample), 150, "found no sample")
            # The nine numbers of an orientation: 5 + 3 + 2 + 1 + 1 exchanges of two words.
            self.assertEqual(sum("shfl.sync" in line for line in sample), 24)
            # Around what single threads add.
            self.assertEqual(sum("bra" in line.split() for line in sample), 1, "\n".join(sample))

    def test_structure_factors_are_added_to_by_atomic_operations_of_the_warps_own_memory(self):
        for shape, additions in ((("-hkl", str(HKL)), 1), (INTERPOLATED, 65)):
            for _, ptx in self.gradients(shapes=(shape,), grad="F"):
                found = re.findall(r"\b(?:atom|red)\.[\w.:]+", ptx)
                self.assertEqual(found, ["atom.global.add.f64"] * additions)
                self.assertNotRegex(ptx, r"\bfence|\bmembar|\bcall")

    def test_derivatives_of_mixed_are_in_both_precisions(self):
        """The amplitudes of square and Gaussian crystals in f32, geometry in f64; round ones in f64."""
        for shape, single in (("-square_xtal", True), ("-gauss_xtal", True), ("-round_xtal", False)):
            for words in (("--emit=ptx", "-o", "k.ptx"), ("-o", "k.so")):
                self.compile("-default_F", "10", shape, "--grad=cell", "--precision=mixed", "--target=sm_90",
                             *words)
                found = (self.root / words[-1]).read_bytes()
                self.assertIn(b"fma.rn.f64", found)
                self.assertEqual(b"fma.rn.f32" in found, single, (shape, words))

    def test_all_that_is_only_read_takes_the_read_only_path(self):
        for _, ptx in self.each(chips=("sm_90",)):
            self.assertIn("ld.global.nc", ptx)
            loads = re.findall(r"\bld\.[\w.:]+", ptx)
            others = {load for load in loads if not load.startswith(("ld.param", "ld.global.nc"))}
            self.assertEqual(others, set())
            self.assertEqual(set(re.findall(r"\bst\.(\w+)", ptx)), {"global"})

    def test_samples_are_summed_without_a_branch(self):
        for _, ptx in self.each(chips=("sm_90",)):
            loop = innermost_loop(ptx.splitlines())
            self.assertGreater(len(loop), 40, "found no loop over samples")
            self.assertEqual(sum("bra" in line.split() for line in loop), 1, "\n".join(loop))

    def test_branches_are_of_loops_and_edges(self):
        for _, ptx in self.each(chips=("sm_90",)):
            branching = set(re.findall(r"@!?(%p\d+) bra", ptx))
            self.assertTrue(branching)
            floating = set(re.findall(r"setp\.\w+\.f(?:32|64)[ \t]+(%p\d+)", ptx))
            self.assertEqual(branching & floating, set())

    def test_warps_run_over_lists_together(self):
        """The branches of a culled kernel are on lists, on counts and on the edge of a block: never on
        which thread of the warp it is but there."""
        for grad in ("none", "cell,misset"):
            ptx = self.compile("-default_F", "10", "-gauss_xtal", "-N", "200", "--cull=1e-9",
                               "-detpixels", "500", "--emit=ptx", "--target=sm_90", f"--grad={grad}")
            main = next(e for e in ptx.split(".visible .entry")
                        if re.match(r" image(_vjp)?\(", e))
            of_thread = set(re.findall(r"mov\.u32[ \t]+(%r\d+), %tid\.x", main))
            self.assertTrue(of_thread)
            apart = 0
            for line in main.splitlines():
                words = re.findall(r"%\w+", line)
                if re.match(r"\s+@", line) and "bra" in line:
                    apart += words[0] in of_thread
                elif "shr" in line and words[1:2] and words[1] in of_thread and " 5;" in line:
                    continue  # the number of the warp
                elif len(words) > 1 and of_thread & set(words[1:]) and not line.strip().startswith("st"):
                    of_thread.add(words[0])
            # The pixel is there; of a gradient also: it is this thread that stores or adds.
            self.assertLessEqual(apart, 1 if grad == "none" else 30, grad)

    def assemble(self, chip, ptx):
        """Registers and bytes of spill stores of the kernel, by ptxas."""
        ptxas = find_tool("ptxas")
        if not ptxas:
            self.skipTest("there is no ptxas: neither in PATH nor in CUDA_HOME nor /usr/local/cuda")
        (self.root / "k.ptx").write_text(ptx)
        done = subprocess.run([ptxas, "-v", f"-arch={chip}", "k.ptx", "-o", "k.cubin"],
                              cwd=self.root, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        main = re.split(r"Compiling entry function '(?!\w*_reduce)", done.stderr)[1]
        return (int(re.search(r"Used (\d+) registers", main)[1]),
                int(re.search(r"(\d+) bytes spill stores", main)[1]))

    def test_threads_find_registers(self):
        """A multiprocessor of sm_80, sm_90 and sm_100 has 65536 registers, and room for five blocks of 96,
        or four of 128, for each of 128 threads."""
        for chip, ptx in self.each(shapes=PLAIN):
            used, spilled = self.assemble(chip, ptx)
            self.assertLessEqual(used, 96)
            self.assertLessEqual(spilled, {"sm_80": 32, "sm_90": 8}.get(chip, 0))
        for chip, ptx in self.each(shapes=(INTERPOLATED,)):
            used, spilled = self.assemble(chip, ptx)
            self.assertLessEqual(used, 128)
            self.assertLessEqual(spilled, 120)

    def test_block_size_and_registers_are_options_of_passes(self):
        for options, threads, blocks in (("", 128, 5), ("threads=256", 256, 5), ("blocks=7", 128, 7),
                                         ("threads=64 blocks=16", 64, 16)):
            ptx = self.compile("-default_F", "10", "--emit=ptx", "--target=sm_90", "--quiet",
                               f"--pipeline=builtin.module(nb-gpu-pipeline{{{options}}})")
            self.assertIn(f".maxntid {threads}, 1, 1", ptx)
            self.assertIn(f".minnctapersm {blocks}\n", ptx)

    def test_registers_of_gradients(self):
        for shapes, grad, registers, spills in ((PLAIN, "cell", 168, 16), (PLAIN, "scalars", 255, 420),
                                                ((INTERPOLATED,), "scalars", 255, 980)):
            for chip, ptx in self.gradients(shapes=shapes, grad=grad):
                used, spilled = self.assemble(chip, ptx)
                self.assertLessEqual(used, registers)
                self.assertLessEqual(spilled, spills)

    def test_no_register_is_spilled_where_samples_are_summed(self):
        nvdisasm = find_tool("nvdisasm")
        if not nvdisasm:
            self.skipTest("there is no nvdisasm: neither in PATH nor in CUDA_HOME nor /usr/local/cuda")
        def disassemble(chip, ptx):
            self.assemble(chip, ptx)
            done = subprocess.run([nvdisasm, "-c", "k.cubin"], cwd=self.root, text=True,
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.splitlines()

        of_images = self.each(chips=("sm_80", "sm_90"))
        of_gradients = itertools.chain(
            *(self.gradients(chips=("sm_90",), grad=grad) for grad in ("cell", "scalars")),
            self.gradients(chips=("sm_90",), shapes=(("-hkl", str(HKL)), INTERPOLATED), grad="F"))
        for chip, ptx in of_gradients:
            loop = innermost_sass_loop(disassemble(chip, ptx))
            self.assertGreater(len(loop), 50, "found no loop over samples")
            self.assertFalse([line for line in loop if "LDL" in line or "STL" in line])
        for chip, ptx in of_images:
            sass = disassemble(chip, ptx)
            loop = innermost_sass_loop(sass)
            self.assertGreater(len(loop), 50, "found no loop over samples")
            self.assertFalse([line for line in loop if "LDL" in line or "STL" in line])
            self.assertEqual(sum("BRA" in line for line in loop), 1)
            # A CALL that nothing returns from is how ptxas writes some jumps.
            self.assertFalse([line for line in sass if " RET." in line])

    def test_each_chip_has_a_version_of_ptx_that_knows_it(self):
        for chip, version in (("sm_75", "7.8"), ("sm_88", "9.0"), ("sm_90a", "8.0"), ("sm_100a", "8.7"), ("sm_100f", "8.8"), ("sm_103", "8.8"),
                              ("sm_110a", "9.0"), ("sm_120f", "8.8")):
            ptx = self.compile("-default_F", "10", "--emit=ptx", f"--target={chip}")
            self.assertIn(f".version {version}\n", ptx)
            self.assertRegex(ptx, rf"(?m)^\.target {chip}$")

    def test_what_cannot_be_made(self):
        default_F = ("-default_F", "10")
        for words, status, why in (
                (("--emit=ptx",), 2, "do not go together"),
                (("--emit=asm", "--target=sm_90"), 2, "do not go together"),
                (("--emit=cubin", "--target=native"), 2, "do not go together"),
                (("--emit=ptx", "--target=sm_80,sm_90"), 2, "is for one chip"),
                (("--emit=llvm", "--target=sm_80,sm_90"), 2, "is for one chip"),
                (("--emit=cubin", "--target=sm_90"), 2, "name it with -o"),
                (("--target=sm_90,native", "-o", "k.so"), 1, "are GPUs and processors"),
                (("--emit=ptx", "--target=sm_77"), 1, "unknown target 'sm_77'")):
            self.assertIn(why, self.compile(*default_F, *words, status=status))
        self.assertEqual(os.listdir(self.root), [])


if __name__ == "__main__":
    NB_COMPILE = os.path.abspath(sys.argv[-1])
    unittest.main(argv=sys.argv[:-2])
