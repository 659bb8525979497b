"""The kernel of two-crystals.mlir in Python: crystals.py CRYSTALS.so"""

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.render_crystals.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_int64,
                                    ctypes.POINTER(ctypes.c_double)]
pixels = 128
image = (ctypes.c_double * (pixels * pixels))()
if library.render_crystals(70e-10, 0.035, pixels, image):
    sys.exit("the kernel cannot be called")
print(f"brightest pixel: {max(image):.6g}")
