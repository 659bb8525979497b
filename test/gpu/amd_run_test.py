#!/usr/bin/env python3
"""amd_run_test.py NB_SIM NB_COMPILE: AMD's code objects, run instruction by instruction by an emulator
that others wrote, make the images and the sums over pixels that their twins for the CPU make.

NB_TINYGRAD names a folder with the sources of tinygrad (MIT license), whose test/mockgpu/amd/emu.py is
that emulator; without it the test is skipped. NB_AMD_CHIPS: which chips, gfx942,gfx1100 without."""

import ctypes
import functools
import os
import struct
import sys
import types
import unittest

import numpy as np

import ptx_run_test
from ptx_run_test import RunPtx

TINYGRAD = os.environ.get("NB_TINYGRAD")
CHIPS = os.environ.get("NB_AMD_CHIPS", "gfx942,gfx1100").split(",")
# The emulator's names for them.
FAMILIES = {"gfx90a": "cdna", "gfx942": "cdna", "gfx1100": "rdna3", "gfx1201": "rdna4"}


@functools.cache
def emulator():
    """Its function run_asm. Python has a package `test` of its own, so tinygrad's is made by hand."""
    sys.path.insert(0, TINYGRAD)
    for name in ("test", "test.mockgpu", "test.mockgpu.amd", "test.amd"):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(TINYGRAD, *name.split("."))]
        sys.modules[name] = package
    from test.mockgpu.amd.emu import run_asm
    return run_asm


class Memory:
    """The emulator's memory is the process's own. It keeps the arrays that it was given."""

    def __init__(self):
        self.given = []

    def give(self, content):
        # A kernel may ask for the whole word that a byte is in.
        array = np.frombuffer(content + bytes(64), np.uint8).copy()
        self.given.append(array)
        return array.ctypes.data

    @staticmethod
    def take(address, size):
        return ctypes.string_at(address, size)


class CodeObject:
    """An ELF file as the loader of ROCm puts it into memory, at addresses of any process."""

    def __init__(self, content):
        offset, = struct.unpack_from("<Q", content, 32)
        size, count = struct.unpack_from("<HH", content, 54)
        loaded = [struct.unpack_from("<IIQQQQQQ", content, offset + i * size) for i in range(count)]
        segments = [segment for segment in loaded if segment[0] == 1]
        self.bytes = np.zeros(max(at + room for _, _, _, at, _, _, room, _ in segments) + 4096, np.uint8)
        self.base = -(-self.bytes.ctypes.data // 256) * 256
        for _, _, begin, at, _, length, _, _ in segments:
            ctypes.memmove(self.base + at, content[begin:begin + length], length)
        self.symbols = dict(self.read_symbols(content))

    @staticmethod
    def read_symbols(content):
        headers, = struct.unpack_from("<Q", content, 40)
        count, = struct.unpack_from("<H", content, 60)
        sections = [struct.unpack_from("<IIQQQQIIQQ", content, headers + 64 * i) for i in range(count)]
        for section in sections:
            if section[1] != 11:  # SHT_DYNSYM
                continue
            names = sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", content, at)
                yield content[names + name:content.index(b"\0", names + name)].decode(), value

    def launch(self, memory, family, name, blocks, threads, parameters):
        descriptor = self.base + self.symbols[name + ".kd"]
        _, scratch, _, _, entry = struct.unpack("<IIIIq", ctypes.string_at(descriptor, 24))
        resources, properties = struct.unpack("<IH", ctypes.string_at(descriptor + 52, 6))
        explicit = np.array(parameters, np.uint64).tobytes()
        hidden = struct.pack("<IIIHHH", blocks, 1, 1, threads, 1, 1) + bytes(240)
        arguments = memory.give(explicit + hidden)
        # The values that the kernel asks for in its first scalar registers, in the bits' order.
        registers = []
        for bit, words in enumerate((4, 2, 2, 2, 2, 2, 1)):
            if properties & 1 << bit:
                registers += [arguments & 0xffffffff, arguments >> 32] if bit == 3 else [0] * words
        assert not properties & 0b110, "the kernel asks for a packet or queue that there is not"
        emulator()(self.base + self.symbols[name + ".kd"] + entry, len(self.bytes), blocks, 1, 1, threads,
                   1, 1, arguments, rsrc2=resources, scratch_size=scratch, arch=family,
                   user_data=registers)


class RunAmd(RunPtx):
    emit = "hsaco"

    def machine(self, code):
        memory, loaded = Memory(), CodeObject(code.read_bytes())
        return memory, functools.partial(loaded.launch, memory, FAMILIES[self.target])


def load_tests(loader, tests, pattern):
    """All of RunPtx's for each chip."""
    del tests, pattern
    all_of_them = unittest.TestSuite()
    for chip in CHIPS:
        warp = 64 if chip.startswith("gfx9") else 32
        one = type(f"RunAmd_{chip}", (RunAmd,), {"target": chip, "warp": warp})
        all_of_them.addTests(loader.loadTestsFromTestCase(one))
    return all_of_them


if __name__ == "__main__":
    if not TINYGRAD:
        print("skipped: NB_TINYGRAD names no folder with the sources of tinygrad, whose emulator runs code objects")
        sys.exit(77)
    words = [os.path.abspath(word) for word in sys.argv[-2:]]
    ptx_run_test.NB_SIM, ptx_run_test.NB_COMPILE = words
    unittest.main(argv=sys.argv[:-2])
