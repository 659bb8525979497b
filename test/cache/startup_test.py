#!/usr/bin/env python3
"""startup_test.py NB_SIM NB_CACHE COMPILER: what a start with a cached kernel costs, with the real
compiler."""

import json
import os
import re
import sys
import unittest

from simulator import CRYSTAL, SMALL, CacheCase

CacheCase.nb_sim, CacheCase.nb_cache, CacheCase.compiler = map(os.path.abspath, sys.argv[1:4])

COMPILER = re.compile(r"libMLIR|libLLVM|libnb-compiler")


class Startup(CacheCase):
    def timing(self, *words, **environment):
        process = self.start(*words, "--timing=t.json", **environment)
        self.picture = self.finish(process)
        with open(os.path.join(process.folder, "t.json")) as file:
            return json.load(file)

    def maps_while_rendering(self, **environment):
        """/proc/PID/maps of a run that is busy with its pixels."""
        process = self.start(*CRYSTAL, "-detpixels", "2000", "-oversample", "4", "-mosaic", "1",
                             "-mosaic_domains", "100", "--threads=1", **environment)
        try:
            for line in process.stdout:
                if "% done" in line:
                    with open(f"/proc/{process.pid}/maps") as file:
                        return file.read()
            self.fail("the run ended too early: " + process.stderr.read())
        finally:
            process.kill()
            process.communicate()

    def test_compiler_is_mapped_on_a_miss_only(self):
        self.assertRegex(self.maps_while_rendering(), COMPILER)
        maps = self.maps_while_rendering()
        self.assertNotRegex(maps, COMPILER)
        self.assertIn("nanobragg-kernel", maps)
        self.assertRegex(self.maps_while_rendering(NB_CACHE="off"), COMPILER)

    def test_second_start_takes_milliseconds(self):
        with open(self.nb_sim, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("AddressSanitizer is no fair handicap")
        self.timing(*SMALL)
        # The least of several: other programs run on this machine too.
        starts = [self.timing(*SMALL)["startup_seconds"] for _ in range(10)]
        self.assertLess(min(starts), 0.005, starts)

    def test_image_is_that_of_the_compiler_in_process(self):
        self.assertEqual(self.timing(*SMALL, NB_CACHE="off")["kernel_compiles"], 1)
        in_process = self.picture
        for loads in 0, 1:
            self.assertEqual(self.timing(*SMALL)["kernel_loads"], loads)
            self.assertEqual(self.picture, in_process)

    def test_ir_is_shown_although_the_kernel_is_cached(self):
        self.image(*SMALL)
        process = self.start(*SMALL, "--dump-ir=ir")
        self.finish(process)
        self.assertTrue(os.listdir(os.path.join(process.folder, "ir")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
