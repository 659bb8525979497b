"""on_device_test.py NB_COMPILE FAKE_CUDA OPENCL: arrays in the memory of a GPU, in and out by DLPack: on the CUDA driver
without a GPU (test/gpu/FakeCuda.cpp), and on the OpenCL runtime that ./bootstrap opencl put into the folder OPENCL, if any.
Both have the device's memory in this machine's, where the test looks into it.

The process of each test begins here again, as on_device_test.py --run KIND."""

import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

SMALL = ("-cell 40 50 60 90 100 90 -N 4 -lambda 1 -distance 30 -pixel 1 -detpixels 30 -mosaic_dom 2 -mosaic_spread 1 "
         "-hkl f.hkl").split()
LOG = "log"


# --- DLPack, by its header ---

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]
api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def managed_of(capsule):
    return ctypes.cast(api.PyCapsule_GetPointer(capsule, b"dltensor"), ctypes.POINTER(Managed)).contents


def numbers_at(address, shape):
    count = int(np.prod(shape))
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(address)).reshape(shape).copy()


class Foreign:
    """An array that another library has in memory from the driver."""

    def __init__(self, array, number=0, bits=64, strides=None):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.number, self.streams, self.deleted = number, [], 0
        context = ctypes.c_void_p()
        self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), number)
        self.context = context
        self.address = ctypes.c_ulonglong()
        self.call(lambda: self.cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(array.nbytes)))
        self.call(lambda: self.cuda.cuMemcpyHtoDAsync_v2(self.address, array.ctypes.data_as(ctypes.c_void_p),
                                                         ctypes.c_size_t(array.nbytes), None))
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*strides) if strides else None
        self.keep = shape, strides, Deleter(self.delete)
        self.managed = Managed(Tensor(self.address.value, 2, number, array.ndim, 2, bits, 1, shape, strides, 0), None,
                               self.keep[2])

    def call(self, function):
        self.cuda.cuCtxPushCurrent_v2(self.context)
        assert function() == 0
        self.cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    def delete(self, _):
        self.deleted += 1

    def numpy(self):
        tensor = self.managed.tensor
        return numbers_at(tensor.data, tensor.shape[:tensor.ndim])

    def __dlpack_device__(self):
        return 2, self.number

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return api.PyCapsule_New(ctypes.addressof(self.managed), b"dltensor", None)

    def free(self):
        self.call(lambda: self.cuda.cuMemFree_v2(self.address))
        self.cuda.cuDevicePrimaryCtxRelease_v2(self.number)


def logged(word):
    return [line.split()[1:] for line in pathlib.Path(LOG).read_text().splitlines() if line.split()[0] == word]


class Array(unittest.TestCase):
    device = place = None

    def simulator(self, *words, device=None):
        import nanobragg
        return nanobragg.Simulator.from_flags([*SMALL, *words], device=device or self.device, threads=1)

    def tearDown(self):
        gc.collect()  # the fake driver complains of what is left

    def test_image_stays_where_it_was_rendered(self):
        sim = self.simulator()
        for dtype in ("float64",) if self.device == "cuda" else ("float64", "float32"):
            image, array = sim.image(dtype), sim.image(dtype, out="device")
            self.assertGreater(image.max(), 0)
            self.assertEqual((array.shape, array.dtype), (image.shape, image.dtype))
            self.assertEqual(array.__dlpack_device__(), self.place)
            np.testing.assert_array_equal(array.numpy(), image)
            with self.assertRaises((BufferError, RuntimeError, ValueError)):
                np.from_dlpack(array)  # it has no memory of the host to offer

    def test_capsule_keeps_the_memory(self):
        sim = self.simulator()
        image, array = sim.image(), sim.image(out="device")
        self.assertIn("dltensor_versioned", repr(array.__dlpack__(max_version=(1, 0))))
        with self.assertRaises(BufferError):
            array.__dlpack__(copy=True)
        for stream in (None, 1, 2, -1, 12345):
            capsule = array.__dlpack__(stream=stream)
        tensor = managed_of(capsule).tensor
        self.assertEqual((tensor.device_type, tensor.device_id), self.place)
        self.assertEqual((tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset), (2, 64, 1, 0))
        self.assertEqual(tensor.shape[:tensor.ndim], list(image.shape))
        later = sim.image(out="device")  # which has memory of its own
        self.assertNotEqual(managed_of(later.__dlpack__()).tensor.data, tensor.data)
        del array, sim, later
        gc.collect()
        np.testing.assert_array_equal(numbers_at(tensor.data, image.shape), image)
        # Who takes the tensor renames the capsule, and calls the deleter when it is done.
        managed = managed_of(capsule)
        api.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")
        del capsule
        gc.collect()
        np.testing.assert_array_equal(numbers_at(tensor.data, image.shape), image)
        freed = len(logged("free")) if self.device == "cuda" else 0
        managed.deleter(ctypes.byref(managed))
        if self.device == "cuda":
            self.assertEqual(len(logged("free")), freed + 1)

    def test_cotangent_is_read_where_it_lies(self):
        sim = self.simulator()
        array = sim.image(out="device")
        wanted = sim.gradient("cell", cotangent=array.numpy())
        uploads = len(logged("upload")) if self.device == "cuda" else 0
        found = sim.gradient("cell", cotangent=array)
        self.assertEqual(list(found), list(wanted))
        for name, values in wanted.items():
            self.assertNotEqual(np.abs(values).max(), 0)
            np.testing.assert_array_equal(found[name], values)
        if self.device == "cuda":
            image = array.numpy().nbytes
            self.assertNotIn([str(image)], logged("upload")[uploads:])

    def factors(self, sim):
        """Structure factors that are an image: each panel is a plane of the box."""
        box = sim.structure_factors[0].shape
        panels = [{"offset_mm": [x, 0, 50], "fast": [1, 0, 0], "slow": [0, 1, 0]} for x in range(box[0])]
        pathlib.Path("panels.json").write_text(json.dumps(panels))
        made = self.simulator("--panels", "panels.json", "-detpixels_x", str(box[2]), "-detpixels_y", str(box[1]),
                              "-fluence", "1e30")
        return made.image(out="device")

    def test_structure_factors_are_read_where_they_lie(self):
        sim = self.simulator()
        before = sim.image()
        F = self.factors(sim)
        other = self.simulator()
        other.structure_factors = F.numpy(), sim.structure_factors[1]
        wanted = other.image()
        self.assertFalse(np.array_equal(wanted, before))
        uploads = len(logged("upload")) if self.device == "cuda" else 0
        np.testing.assert_array_equal(sim.image(out="device", F=F).numpy(), wanted)
        if self.device == "cuda":
            self.assertEqual(len(logged("upload")), uploads + 1)  # the small arrays
        np.testing.assert_array_equal(sim.image(), before)  # the simulator's own are what they were
        cotangent = sim.image(out="device")
        np.testing.assert_array_equal(sim.gradient("cell", cotangent=cotangent, F=F)["cell_a"],
                                      other.gradient("cell", cotangent=cotangent)["cell_a"])

    def refused(self, said, call, *words, error=ValueError, **named):
        with self.assertRaisesRegex(error, said):
            call(*words, **named)

    def test_what_cannot_be(self):
        sim = self.simulator()
        array, other = sim.image(out="device"), self.simulator("-detpixels", "31")
        self.refused(r"the cotangent on a GPU has to have the shape \(31, 31\)", other.gradient, "cell", cotangent=array)
        self.refused("F on a GPU has to have the shape", sim.image, out="device", F=array)
        self.refused('out="device"', sim.image, F=array)
        self.refused("out= needs an array", sim.image, out="gpu")
        self.refused("is not an array in the memory of a GPU", sim.image, out="device", F=np.ones(3), error=TypeError)
        on_host = self.simulator(device="cpu")
        self.assertIsInstance(on_host.image(out="device"), np.ndarray)
        self.refused("runs on the processor; give an array of the host", on_host.gradient, "cell", cotangent=array)
        listed = self.simulator("-psf", "gauss", "-psf_fwhm", "3000", "-psf_radius", "2")
        self.refused("this image is completed on the host", listed.gradient, "cell", cotangent=array)


class Cuda(Array):
    device, place = "cuda", (2, 0)

    def factors(self, sim):
        foreign = Foreign(np.random.default_rng(3).uniform(1, 90, sim.structure_factors[0].shape))
        self.addCleanup(foreign.free)
        return foreign

    def test_other_libraries(self):
        """Their work is ordered before the default stream's, for which we wait; no byte of it is copied by us."""
        sim = self.simulator()
        weights = np.random.default_rng(1).normal(size=sim.shape)
        wanted, foreign = sim.gradient("cell", cotangent=weights), Foreign(weights)
        uploads = len(logged("upload"))
        self.assertEqual(sim.gradient("cell", cotangent=foreign)["cell_a"], wanted["cell_a"])
        self.assertEqual(set(foreign.streams), {1})
        self.assertEqual(foreign.deleted, len(foreign.streams))
        self.assertNotIn([str(weights.nbytes)], logged("upload")[uploads:])
        foreign.free()

    def test_other_libraries_with_something_else(self):
        sim, weights = self.simulator(), np.ones((30, 30))
        for said, how in (("is not in the memory of Fake GPU", {"number": 1}), ("array of float64", {"bits": 32}),
                          ("one element after another", {"strides": (1, 30)})):
            foreign = Foreign(weights, **how)
            self.refused(said, sim.gradient, "cell", cotangent=foreign)
            foreign.free()

    def test_several_devices(self):
        self.refused("name one in place of all", self.simulator(device="all").image, out="device")


class OpenCl(Array):
    device, place = "opencl", (4, 0)


class Test(unittest.TestCase):
    def run_in(self, kind, **environment):
        with tempfile.TemporaryDirectory() as folder:
            draws = np.random.default_rng(2)
            pathlib.Path(folder, "f.hkl").write_text("".join(
                f"{h} {k} {l} {draws.uniform(1, 90):.3f}\n"
                for h in range(-4, 5) for k in range(-3, 4) for l in range(-5, 6)))
            if kind == "Cuda":
                for variable, grad in (("NB_FAKE_CUDA_TWIN", "none"), ("NB_FAKE_CUDA_TWIN_SUMS", "cell")):
                    environment[variable] = os.path.join(folder, variable + ".so")
                    subprocess.run([NB_COMPILE, *SMALL, f"--grad={grad}", "--target=gpu-on-cpu", "-o",
                                    environment[variable]], check=True, cwd=folder)
            done = subprocess.run([sys.executable, "-B", os.path.abspath(__file__), "--run", kind], cwd=folder, text=True,
                                  env=os.environ | environment | {"NB_CACHE_DIR": os.path.join(folder, "cache")},
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_cuda(self):
        self.run_in("Cuda", LD_LIBRARY_PATH=os.path.dirname(FAKE), NB_FAKE_CUDA="devices=2", NB_FAKE_CUDA_LOG=LOG)

    def test_opencl(self):
        if not os.path.exists(os.path.join(OPENCL, "env")):
            self.skipTest("there is no OpenCL runtime here; ./bootstrap opencl fetches one where pip is")
        self.run_in("OpenCl", OCL_ICD_VENDORS=f"{OPENCL}/vendors", LD_LIBRARY_PATH=f"{OPENCL}/venv/lib")


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        unittest.main(argv=[sys.argv[0], *sys.argv[2:], "-v"])
    NB_COMPILE, FAKE, OPENCL = map(os.path.abspath, sys.argv[-3:])
    unittest.main(argv=sys.argv[:-3], defaultTest="Test")
