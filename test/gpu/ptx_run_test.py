#!/usr/bin/env python3
"""ptx_run_test.py NB_SIM NB_COMPILE: the PTX itself, run instruction by instruction with all threads of a
block (ptx_machine.py), makes the image and the sums over pixels that its twin for the CPU makes. The
twin runs lanes one after another; here they exchange numbers."""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from ptx_machine import Machine, Memory

TEST = pathlib.Path(__file__).resolve().parent.parent
HKL = TEST / "data" / "1hpv_3.0A.hkl"
ABI = (TEST.parent / "runtime" / "include" / "nanobragg" / "KernelABI.h").read_text()
FLAGS = ("-cell 70 80 90 91 100 95 -misset 10 20 30 -N 4 -lambda 1 -distance 50 -pixel 1 "
         "-detpixels_x 140 -detpixels_y 3 -oversample 1 -mosaic_dom 3 -mosaic_spread 1").split()
BLOCKS = 2
NB_SIM = NB_COMPILE = ""
F64, INDEX, VEC3, MAT3, TABLE_F64, TABLE_VEC3, GRID, MASK, IMAGE = range(9)


def places(struct):
    """The place, counted in members of eight bytes, of each name of a struct of the kernels' interface."""
    body = re.search(rf"typedef struct {struct} {{(.*?)}} {struct};", ABI, re.S)[1]
    names = re.sub(r"/\*.*?\*/|double|int64_t|\s", "", body, flags=re.S)
    found, total = {}, 0
    for name, count in re.findall(r"(\w+)(?:\[(\d+)\])?[,;]", names):
        found[name] = total
        total += int(count or 1)
    return found, total


class Described(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("unit", ctypes.c_char_p)]


class Descriptor(ctypes.Structure):
    pointers = ("workspace_size prepare run_tile accumulator_size scratch_size finish "
                "output_sizes features alternative device reach").split()
    _fields_ = [("abi", ctypes.c_uint32), ("size", ctypes.c_uint32), ("needs", ctypes.c_uint64),
                ("image_type", ctypes.c_int)] + \
        [(name, ctypes.c_char_p) for name in "name variant target precision".split()] + \
        [("num_parameters", ctypes.c_uint32), ("parameters", ctypes.POINTER(Described)),
         ("num_outputs", ctypes.c_uint32), ("outputs", ctypes.POINTER(Described))] + \
        [(name, ctypes.c_void_p) for name in pointers] + \
        [("reach_numbers_size", ctypes.c_uint32), ("reach_tables_size", ctypes.c_uint32)]


class Grid(ctypes.Structure):
    _fields_ = [("bounds", ctypes.c_int64 * 6), ("data", ctypes.c_void_p)]


class Twin:
    """The kernel file, its entry points and arguments for them."""

    def __init__(self, path, values, random, edge):
        library = ctypes.CDLL(str(path))
        library.nb_kernel_get_descriptor.restype = ctypes.POINTER(Descriptor)
        self.kernel = library.nb_kernel_get_descriptor().contents
        if self.kernel.size != ctypes.sizeof(Descriptor):
            raise AssertionError(f"Descriptor has {ctypes.sizeof(Descriptor)} bytes, that of KernelABI.h {self.kernel.size}")
        self.values, self.random, self.edge = values, random, edge
        self.contents = [self.content(p) for p in self.kernel.parameters[:self.kernel.num_parameters]]
        self.addresses = np.array([content.ctypes.data for content in self.contents], np.uint64)
        self.arguments = self.addresses.ctypes.data

    def content(self, parameter):
        name, kind = parameter.name.decode(), parameter.kind
        number = self.values.get(name)
        if kind == INDEX:
            return np.array([int(number[0])], np.int64)
        if kind in (F64, VEC3) and number is not None:
            return np.array(number, float)
        shape = (1, int(self.values["slow_pixels"][0]), int(self.values["fast_pixels"][0]))
        if kind == IMAGE:
            return self.random.normal(size=shape)
        if kind == MASK:
            return (self.random.random(shape) > 0.3).astype(np.uint8)
        if kind == GRID:
            self.grid = self.random.normal(size=[2 * self.edge + 1] * 3) + 10
            return np.array([-self.edge, self.edge] * 3 + [self.grid.ctypes.data], np.int64)
        if kind in (TABLE_F64, TABLE_VEC3):
            table = self.random.normal(size=(16, 3) if kind == TABLE_VEC3 else 16)
            return table / np.linalg.norm(table, axis=-1, keepdims=True) if kind == TABLE_VEC3 \
                else np.abs(table)
        raise AssertionError(f"no value for {name}")

    def call(self, name, *arguments, result=None):
        return ctypes.CFUNCTYPE(result, *[ctypes.c_void_p] * len(arguments))(
            getattr(self.kernel, name))(*arguments)

    def lists(self, random, warp):
        """nb_lit with some bases of each second block of a warp's pixels, of beams that are all one."""
        tables, count = places("nb_reach_tables")
        positions = np.zeros(count, np.int64)
        size = self.call("workspace_size", self.arguments, result=ctypes.c_int64)
        workspace = np.zeros(size // 8 + 8)
        self.call("prepare", self.arguments, workspace.ctypes.data)
        self.call("reach", self.arguments, positions.ctypes.data)
        at, count = places("nb_reach_numbers")
        numbers = workspace[positions[tables["numbers"]]:][:count]
        slow, fast, beams, bases, columns, rows = (int(numbers[at[name]]) for name in (
            "slow_pixels", "fast_pixels", "beams", "bases", "block_fast", "block_slow"))
        assert (beams, columns, rows) == (1, warp // 4, 4), numbers
        blocks = [(s, f) for s in range(0, slow, rows) for f in range(0, fast, columns)][::2]
        chosen = [np.sort(random.choice(bases, random.integers(bases + 1), replace=False))
                  for _ in blocks]
        begins = np.cumsum([0] + [len(c) for c in chosen])
        first_rows, first_columns = np.array(blocks).T
        return [np.array(l, np.int32) for l in (first_rows, first_columns, np.arange(len(blocks) + 1),
                                                np.zeros(len(blocks)), begins, np.concatenate(chosen), [], [slow])]

    def run(self, tile, warps):
        """Workspace, image and the sum of the accumulators of all warps."""
        size = self.call("workspace_size", self.arguments, result=ctypes.c_int64)
        workspace = np.zeros(size // 8 + 8)
        self.call("prepare", self.arguments, workspace.ctypes.data)
        doubles = 0
        if self.kernel.accumulator_size:
            doubles = self.call("accumulator_size", self.arguments, result=ctypes.c_int64) // (8 * warps)
        accumulators = np.zeros(max(doubles * warps, 1))
        image = np.full(int(tile[2]) * int(self.values["fast_pixels"][0]), np.nan,
                        np.float64 if self.kernel.image_type else np.float32)
        outputs = np.full(self.kernel.num_outputs, image.ctypes.data, np.uint64)
        self.call("run_tile", self.arguments, workspace.ctypes.data, tile.ctypes.data,
                  outputs.ctypes.data, accumulators.ctypes.data, 0)
        return workspace, image, accumulators[:doubles]


class RunPtx(unittest.TestCase):
    """Others run other code (amd_run_test.py): they set these three and make another machine."""
    target, emit, warp = "sm_90", "ptx", 32

    def machine(self, code):
        """The device's memory, and what launches a kernel of the code there."""
        memory = Memory(1 << 23)

        def launch(name, blocks, threads, parameters):
            with np.errstate(all="ignore"):
                Machine(code.read_text(), name, memory).launch(blocks, threads, parameters)
        return memory, launch

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def tool(self, *words):
        done = subprocess.run(words, cwd=self.root, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def run_both(self, *flags, edge):
        words, kept = (*FLAGS, *flags), []
        listed = self.tool(NB_SIM, *[w for w in words if not w.startswith("--")], "--list-parameters")
        values = {}
        for line in listed.splitlines():
            found = re.match(r"(\w+)\s+\S+\s+((?:-?[\d.]+(?:e[-+]?\d+)? )+)", line)
            if found:
                values[found[1]] = [float(x) for x in found[2].split()]
        if any(word.startswith("--cull") for word in words):
            values["fudge"] = [1e-6]  # so that light is wherever it is looked for
        # Under a name of its own: a library is not loaded again.
        file = self.root / f"twin{len(list(self.root.iterdir()))}.so"
        twins = "gpu-on-cpu" + ("" if self.warp == 32 else f":{self.warp}")
        self.tool(NB_COMPILE, *words, f"--target={twins}", "-o", str(file))
        code = file.with_suffix(".code")
        self.tool(NB_COMPILE, *words, f"--target={self.target}", f"--emit={self.emit}", "-o", str(code))
        twin = Twin(file, values, np.random.default_rng(1), edge)
        lists = twin.lists(np.random.default_rng(2), self.warp) if twin.kernel.reach else []

        def tile_of(place):
            """A tile with the lists at the addresses that `place` gives them."""
            tile = [0, 0, int(values["slow_pixels"][0])]
            if lists:
                tile.append(place(np.array([len(lists[0]), *map(place, lists)], np.uint64)))
            return np.array(tile, np.uint64)
        tile = tile_of(lambda array: kept.append(array) or array.ctypes.data)
        self.assertEqual(bool(lists), any(word.startswith("--cull") for word in words))
        warps = 128 // self.warp * BLOCKS
        workspace, image, sums = twin.run(tile, warps)

        memory, launch = self.machine(code)
        tile = tile_of(lambda array: memory.give(array.tobytes()))
        contents = [content.copy() for content in twin.contents]
        for parameter, content in zip(twin.kernel.parameters, contents):
            if parameter.kind == GRID:
                content[6] = memory.give(twin.grid.tobytes())
        arguments = memory.give(np.array([memory.give(c.tobytes()) for c in contents],
                                         np.uint64).tobytes())
        pixels = memory.give(np.full_like(image, np.nan).tobytes())
        outputs = memory.give(np.full(twin.kernel.num_outputs, pixels, np.uint64).tobytes())
        accumulators = memory.give(np.zeros(max(warps * len(sums), 1)).tobytes())
        name = twin.kernel.name.decode()
        launch(name, BLOCKS, 128, [arguments, memory.give(workspace.tobytes()),
                                   memory.give(tile.tobytes()), outputs, accumulators])
        if len(sums):
            launch(name + "_reduce", len(sums), self.warp, [accumulators, warps, len(sums)])
        got = np.frombuffer(memory.take(pixels, image.nbytes), image.dtype)
        all_sums = np.frombuffer(memory.take(accumulators, warps * sums.nbytes), float)
        return image, got, sums, all_sums

    def check(self, *flags, rtol=1e-12, least=0, edge=30):
        image, got, sums, all_sums = self.run_both(*flags, edge=edge)
        np.testing.assert_allclose(got, image, rtol=rtol, atol=rtol * np.nanmax(np.abs(image)),
                                   equal_nan=True)
        total, others = np.split(all_sums, [len(sums)])
        self.assertGreaterEqual(np.count_nonzero(sums), least)
        np.testing.assert_allclose(total, sums, rtol=rtol, atol=rtol * np.abs(sums).max(initial=0))
        self.assertFalse(others.any(), "the other accumulators are not cleared")
        return image

    def test_images(self):
        self.assertTrue((self.check("-default_F", "10") > 0).all())
        self.check("-hkl", str(HKL))
        self.check("-default_F", "10", "--precision=mixed", rtol=1e-5)

    def test_gradients_of_mixed(self):
        for shape in ("-square_xtal", "-gauss_xtal"):
            self.check("-default_F", "10", shape, "--precision=mixed", "--grad=cell,misset", rtol=1e-6)

    def test_what_is_lit(self):
        """Each warp runs over the lists of its block."""
        for more in ((), ("--grad=cell,misset,mosaic_spread",), ("-roi", "30", "133", "1", "1")):
            image = self.check("-default_F", "10", "-gauss_xtal", "--cull=1e-3", "-N", "300", *more)
            if not any(word.startswith("--grad") for word in more):
                self.assertGreater(np.count_nonzero(np.nan_to_num(image)), 10)
                self.assertGreater(np.count_nonzero(np.isnan(image)), 100)

    def test_region_of_interest(self):
        image = self.check("-default_F", "10", "-roi", "30", "133", "1", "1").reshape(3, 140)
        self.assertEqual(np.count_nonzero(image), 104)

    def test_tables_of_structure_factors_and_thick_sensors(self):
        self.check("-hkl", str(HKL), "-interpolate")
        self.check("-default_F", "10", "-round_xtal", "-detector_thick", "500", "-detector_abs", "200",
                   "-detector_thicksteps", "2", "-curved_det")

    def test_gradients(self):
        self.check("-default_F", "10", "--grad=cell,misset", least=27)
        self.check("-default_F", "10", "--grad=scalars", "-phi", "1", "-osc", "1", "-phisteps", "2",
                   least=60)
        self.check("-default_F", "10", "-gauss_xtal", "--grad=cell,distance,mosaic_spread", least=30)

    def test_gradients_by_structure_factors(self):
        far = ("-hkl", str(HKL), "-distance", "500")  # with indices up to 10: some outside the grid
        self.check(*far, "--grad=F", least=25, edge=6)
        self.check(*far, "--grad=F,cell", "-roi", "40", "133", "1", "2", least=35, edge=6)
        self.check(*far, "-interpolate", "--grad=F", least=100, edge=4)
        self.check(*far, "-interpolate", "--grad=F", least=1, edge=1)  # rows of three

    def test_gaussian_spots_by_a_matrix_and_a_gain(self):
        self.check("-default_F", "10", "-gauss_xtal", "-Ncells_def", "1", "-0.5", "0.3", "-gain", "2",
                   "--grad=cell,ncells,gain", least=30)

    def test_gradients_in_a_region_of_interest(self):
        self.check("-default_F", "10", "-roi", "40", "133", "1", "2", "--grad=cell,beam_center",
                   least=29)


if __name__ == "__main__":
    NB_SIM, NB_COMPILE = (os.path.abspath(word) for word in sys.argv[-2:])
    unittest.main(argv=sys.argv[:-2])
