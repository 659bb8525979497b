#!/usr/bin/env python3
"""resources_test.py NB_SIM FAKE_COMPILER: inputs that never end are refused, and more panels than a shell lets files be
open are written."""

import json
import os
import resource

from nb_sim import NbSimTest, main

GOOD = "-cell 50 50 50 90 90 90 -default_F 1 -N 5 -distance 100 -nonoise -nopgm".split()


class Resources(NbSimTest):
    def test_a_device_is_no_kernel(self):
        done = self.run_nb_sim([*GOOD, "-detpixels", "8", "--kernel=/dev/zero"])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot read the kernel file /dev/zero", done.stderr)

    def test_more_panels_than_files_may_be_open(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = 600
        if 0 <= hard < count + 100:
            self.skipTest(f"the system lets a process have {hard} files")
        self.add("p.json", json.dumps([{"offset_mm": [0, i, 0], "fast": [1, 0, 0], "slow": [0, 1, 0]}
                                       for i in range(count)]))
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            done = self.run_nb_sim([*GOOD, "-detpixels", "2", "--panels=p.json", "-floatfile", "a.bin", "-intfile", "a.img",
                                    "-default_F", "10", "-fluence", "1e30", "--quiet"])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(len([name for name in os.listdir(self.folder) if name.endswith(".img")]), count)


if __name__ == "__main__":
    main()
