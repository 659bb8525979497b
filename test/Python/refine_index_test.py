"""Stills: from an image and a model's cell to orientation, distance and centre."""

import bz2
import contextlib
import csv
import dataclasses
import gzip
import importlib.util
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import numpy as np

import nanobragg as nb
from common import load_tests  # noqa: F401
from nanobragg import _core

for needed in ("scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

from scipy import ndimage

from nanobragg.refine import _files, _lattices, _report, _still_search, index
from nanobragg.refine.__main__ import main
from nanobragg.refine._background import Background
from nanobragg.refine._blocks import Blocks, Measurement
from nanobragg.refine._chain import alike, between, fit_chain, next_matrix
from nanobragg.refine._claim import Claim
from nanobragg.refine._crystal import cell_of, rotation
from nanobragg.refine._explain import Boxes, profile_error, simulators, squares
from nanobragg.refine._geometry import ISOTROPIC, Fitted, Detector, assign, attenuation_length, near_sphere, predict
from nanobragg.refine._indexing import orient, real_basis
from nanobragg.refine._indices import Candidates, Light, absent, by_each_other, by_model, chosen, in_setting
from nanobragg.refine._integration import box_levels
from nanobragg.refine._kept import Kept
from nanobragg.refine._lattices import STAGES, fit_stages, sharp_spots, without_pieces
from nanobragg.refine._modules import Modules
from nanobragg.refine._panels import BEAM
from nanobragg.refine._misfit import causes
from nanobragg.refine._model import Model
from nanobragg.refine._noise import Noise, no_numbers, noise_of
from nanobragg.refine._images import DiffractionImage, described, read_image
from nanobragg.refine._response import Response, counted
from nanobragg.refine._spot_fit import Known, SpotFit
from nanobragg.refine._spots import Spots, find_spots, lost_light, odd_pixels, usable_pixels
from nanobragg.refine._still import Still
from nanobragg.refine._still_fit import standing_modules
from nanobragg.refine._still_page import foretold
from nanobragg.refine._still_search import detectors_of
from nanobragg.refine._together import _compare_light, _modules, compare_fit
from nanobragg.refine._listed_stills import ListedStills
from nanobragg.refine._verdict import verdict
from nanobragg.refine._workers import each

FLUENCE = nb.Simulator.from_flags("-cell 50 50 50 90 90 90 -default_F 1 -N 5 -lambda 1 -distance 100")["fluence"]
REAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "shared", "real")
CELL, PIXELS, DISTANCE, CENTRE = (57.8, 57.8, 110.1, 90, 90, 90), 700, 130.0, (346.4, 352.9)
CRYSTAL = ["-default_F", "1", "-Na", "38", "-Nb", "38", "-Nc", "20", "-gauss_xtal", "-mosaic", "0.25", "--average=closed", "--cull=1e-6",
           "-divergence_sigma", "0.3", "0.15", "--bandwidth-sigma=0.05", "-fluence", "1e26"]
_ATTENUATION = attenuation_length("Si", 1.0)
DEPTH = _ATTENUATION * (1 - 0.32 / _ATTENUATION / np.expm1(0.32 / _ATTENUATION))  # mm in the sensor, in the mean


def factors():
    """Structure factors of 4/mmm, so that it does not matter which of the equivalent indices are found."""
    h, k, l = np.abs(np.mgrid[-30:31, -30:31, -55:56])
    values = np.random.default_rng(5).rayleigh(300, (31, 31, 56))[np.maximum(h, k), np.minimum(h, k), l]
    values[(h == 0) & (k == 0) & (l % 4 != 0)] = 0  # screw axes of P 41 21 2
    values[((h == 0) & (k % 2 != 0) & (l == 0)) | ((k == 0) & (h % 2 != 0) & (l == 0))] = 0
    return values, (-30, -30, -55)



def byte_offsets(image):
    """CBF's compression, in the plainest way."""
    out, last = bytearray(), 0
    for value in image.ravel().tolist():
        step, last = value - last, value
        if abs(step) < 128:
            out += step.to_bytes(1, "little", signed=True)
        elif abs(step) < 32768:
            out += b"\x80" + step.to_bytes(2, "little", signed=True)
        else:
            out += b"\x80\x00\x80" + step.to_bytes(4, "little", signed=True)
    return bytes(out)


def write_cbf(path, image, distance, centre):
    """A miniCBF as Pilatus detectors write it."""
    packed = byte_offsets(image)
    header = f"""###CBF: VERSION 1.5
data_test
_array_data.header_contents
;
# Detector: PILATUS
# Pixel_size 172e-6 m x 172e-6 m
# Silicon sensor, thickness 0.000320 m
# Count_cutoff 100000 counts
# Wavelength 1.00000 A
# Detector_distance {distance / 1000:.5f} m
# Beam_xy ({centre[0]:.2f}, {centre[1]:.2f}) pixels
# Polarization 0.990
;
_array_data.data
;
--CIF-BINARY-FORMAT-SECTION--
Content-Type: application/octet-stream;
     conversions="x-CBF_BYTE_OFFSET"
X-Binary-Size: {len(packed)}
X-Binary-Element-Type: "signed 32-bit integer"
X-Binary-Size-Fastest-Dimension: {image.shape[1]}
X-Binary-Size-Second-Dimension: {image.shape[0]}

"""
    content = header.replace("\n", "\r\n").encode() + b"\x0c\x1a\x04\xd5" + packed
    with open(path, "wb") as file:
        file.write(bz2.compress(content) if path.endswith(".bz2") else content)


def write_model(path, wrong=0.0, cell=CELL, other=False):
    """wrong: sigma of errors of log F. other: with the structure factors of another crystal."""
    values, lowest = factors()
    hkl = np.stack(np.meshgrid(*[np.arange(n) for n in (31, 31, 56)], indexing="ij"), -1).reshape(-1, 3)
    hkl = hkl[(hkl[:, 0] >= hkl[:, 1]) & hkl.any(axis=1)]
    F = values[tuple((hkl - lowest).T)]
    hkl, F = hkl[F > 0], F[F > 0]
    F *= np.exp(np.random.default_rng(9).normal(scale=wrong, size=len(F)))
    if other:
        F = np.random.default_rng(9).permutation(F)
    with open(path, "wb") as file:
        file.write(_core.mtz("P 41 21 2", [float(v) for v in cell], 1.0, [("F", "F"), ("SIGF", "Q")],
                             np.column_stack([hkl, F, np.ones(len(F))])))


def simulated(misset=(17, -41, 66), seed=1, other=None, edges=1.0):
    """Photons of a still with background, and the simulator. other: misset of a second crystal, which has half the light. edges: of the
    cell, times CELL's."""
    sim = nb.Simulator.from_flags(
        ["-cell", *(str(edges * edge) for edge in CELL[:3]), *map(str, CELL[3:]), *CRYSTAL, "-misset", *map(str, misset), "-lambda", "1", "-distance", str(DISTANCE + DEPTH),
         "-detpixels", str(PIXELS), "-pixel", "0.172"])
    sim["beam_center_fast"], sim["beam_center_slow"] = np.array(CENTRE) * 0.172e-3
    sim.structure_factors = factors()
    slow, fast = np.mgrid[:PIXELS, :PIXELS] + 0.5
    radius = np.hypot(fast - CENTRE[0], slow - CENTRE[1])
    background = 1 + 6 * np.exp(-((radius - 200) / 150)**2)
    background[330:360, :340] *= 0.02  # the beam stop's arm
    light = sim.image() + background
    if other is not None:
        light += 0.5 * simulated(other)[0].image()
    return sim, np.random.default_rng(seed).poisson(light)


def begun_nexus(file, image):
    """An NXmx file of one image at 1.2 A: a function that makes a group of a class, and the detector's group."""
    def group(name, kind):
        made = file.create_group(name)
        made.attrs["NX_class"] = kind
        return made

    group("entry", "NXentry"), group("entry/instrument", "NXinstrument"), group("entry/data", "NXdata")
    file["entry/data/data"] = image[None]
    group("entry/instrument/beam", "NXbeam")["incident_wavelength"] = 1.2
    return group, group("entry/instrument/detector", "NXdetector")


class OfASimulatedStill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.sim, cls.photons = simulated()
        cls.photons[200:210] = -1  # a gap
        cls.photons[50, 60] = 90000  # hot
        cls.photons[400, 77] = 200000  # beyond the cutoff
        cls.image, cls.model = (os.path.join(cls.folder.name, name) for name in ("still.cbf.bz2", "model.mtz"))
        # The header is wrong by 1 % of the distance and some pixels.
        write_cbf(cls.image, cls.photons, DISTANCE * 1.01, (CENTRE[0] + 2, CENTRE[1] - 1.5))
        write_model(cls.model)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_reads_as_it_lies(self):
        read = read_image(self.image)
        np.testing.assert_array_equal(read.photons, np.where(self.photons < 0, np.nan, self.photons))
        self.assertAlmostEqual(read.distance, DISTANCE * 1.01)
        self.assertEqual((read.material, read.cutoff), ("Si", 100000))
        self.assertAlmostEqual(read.thickness, 0.32)
        np.testing.assert_array_equal(nb.read_image(self.image), self.photons)

    def test_nexus_and_imgcif_say_where_the_detector_stands(self):
        """A detector on an arm that is turned by two-theta, its fast pixels upward, in both ways of writing it: 250 mm to its plane,
        whose nearest place is 10 mm along fast and 20 mm along slow."""
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        image, angle = np.arange(12, dtype="i4").reshape(3, 4), np.radians(20.0)
        nexus, full = (os.path.join(self.folder.name, name) for name in ("arm.nxs", "arm.cbf"))
        with h5py.File(nexus, "w") as file:
            group, detector = begun_nexus(file, image)
            detector["sensor_thickness"], detector["sensor_material"], detector["saturation_value"] = 0.32e-3, b"Si", 9
            detector["x_pixel_size"] = detector["y_pixel_size"] = 0.1
            detector["x_pixel_size"].attrs["units"] = detector["y_pixel_size"].attrs["units"] = "mm"
            group("entry/instrument/detector/module", "NXdetector_module")

            def axis(name, value, unit, kind, vector, above):
                node = file.create_dataset(f"entry/instrument/detector/{name}", data=value)
                node.attrs.update({"units": unit, "transformation_type": kind, "vector": vector, "depends_on": above})

            base = "/entry/instrument/detector/"
            # The beam is along z, x to the left and y upward.
            axis("arm", 20.0, "deg", "rotation", (0, 1, 0), ".")
            axis("length", 0.25, "m", "translation", (0, 0, 1), base + "arm")
            axis("module/module_offset", 22.360679775, "mm", "translation", (20 / 500**0.5, -10 / 500**0.5, 0), base + "length")
            axis("module/fast_pixel_direction", 0.1, "mm", "translation", (0, 1, 0), base + "module/module_offset")
            axis("module/slow_pixel_direction", 0.1, "mm", "translation", (-1, 0, 0), base + "module/module_offset")
        header = """_diffrn_radiation_wavelength.wavelength 1.2
_array_intensities.overload 9
loop_
_array_structure_list.index
_array_structure_list.precedence
_array_structure_list.axis_set_id
2 2 SLOW 1 1 FAST
loop_
_array_structure_list_axis.axis_set_id
_array_structure_list_axis.axis_id
_array_structure_list_axis.displacement
_array_structure_list_axis.displacement_increment
FAST FAST 0.0 0.1 SLOW SLOW 0.0 0.1
loop_
_diffrn_scan_frame_axis.axis_id
_diffrn_scan_frame_axis.angle
_diffrn_scan_frame_axis.displacement
ARM 20.0 0.0 LENGTH 0.0 250.0
loop_
_axis.id
_axis.type
_axis.depends_on
_axis.vector[1] _axis.vector[2] _axis.vector[3]
_axis.offset[1] _axis.offset[2] _axis.offset[3]
ARM rotation . 0 1 0 . . .
LENGTH translation ARM 0 0 -1 0 0 0
FAST translation LENGTH 0 1 0 -20 -10 0 # 'of SLOW'
SLOW translation FAST 1 0 0 0 0 0
"""
        packed = byte_offsets(image)
        with open(full, "wb") as file:
            file.write(("###CBF: VERSION 1.5\ndata_x\n" + header + "_array_data.data\n;\n--CIF-BINARY-FORMAT-SECTION--\n"
                        'Content-Type: application/octet-stream;\n conversions="x-CBF_BYTE_OFFSET"\n'
                        f'X-Binary-Size: {len(packed)}\nX-Binary-Element-Type: "signed 32-bit integer"\n'
                        "X-Binary-Size-Fastest-Dimension: 4\nX-Binary-Size-Second-Dimension: 3\n\n").encode()
                       + b"\x0c\x1a\x04\xd5" + packed)
        arm = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
        for path in (nexus, f"{nexus}:0", full):
            with self.subTest(path):
                read = read_image(path)
                np.testing.assert_array_equal(read.photons, image)
                self.assertEqual((read.wavelength, read.cutoff), (1.2, 9))
                detector, = detectors_of(read)
                fast, slow, normal = detector.axes()
                np.testing.assert_allclose(fast, (0, 1, 0), atol=1e-9)
                np.testing.assert_allclose(slow, arm @ (1, 0, 0), atol=1e-9)
                np.testing.assert_allclose(normal, arm @ (0, 0, -1), atol=1e-9)
                foot = detector.corner() + 10 * fast + 20 * slow
                np.testing.assert_allclose(foot, 250 * normal, atol=1e-6)
        self.assertAlmostEqual(read_image(nexus).thickness, 0.32)

    def test_nexus_says_units_and_pixels_that_are_none(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        image = np.array([[1, 65535, 65534], [3, 40000, 5]], "u2")
        master, data = (os.path.join(self.folder.name, name) for name in ("units_master.h5", "units_data_000001.h5"))
        with h5py.File(data, "w") as file:
            file["entry/data/data"] = np.array([image, image + 1])
        with h5py.File(master, "w") as file:
            _, detector = begun_nexus(file, image)
            del file["entry/data/data"], file["entry/instrument/beam/incident_wavelength"]
            file["entry/data/data_000001"] = h5py.ExternalLink(os.path.basename(data), "/entry/data/data")
            file["entry/instrument/beam/incident_wavelength"] = 0.12
            file["entry/instrument/beam/incident_wavelength"].attrs["units"] = "nm"
            detector["x_pixel_size"] = detector["y_pixel_size"] = 1e-4
            detector["detector_distance"], detector["beam_center_x"], detector["beam_center_y"] = 0.2, 1, 1
            detector["sensor_material"], detector["sensor_thickness"] = "Cadmium Telluride", 1e-3
            detector["description"], detector["detectorSpecific/pixel_mask"] = "EIGER2", [[0, 0, 0], [0, 0, 1]]
        read = read_image(master)
        with h5py.File(master, "a") as file:  # truth values in the place where NXmx has its mask
            file["entry/instrument/detector/pixel_mask"] = np.array([[False, True, False], [False, False, True]])
        np.testing.assert_array_equal(read_image(master).photons, read.photons)
        with h5py.File(master, "a") as file:
            del file["entry/instrument/detector/pixel_mask"]
        np.testing.assert_array_equal(read.photons, [[1, np.nan, np.nan], [3, 40000, np.nan]])
        self.assertAlmostEqual(read.wavelength, 1.2)
        self.assertEqual(read.material, "CdTe")
        np.testing.assert_array_equal(read_image(f"{master}:1").photons, [[2, 0, np.nan], [4, 40001, np.nan]])
        with self.assertRaisesRegex(nb.FileError, "has 2 frames"):
            read_image(f"{master}:2")
        with h5py.File(master, "a") as file:
            file["entry/instrument/beam/incident_wavelength"].attrs["units"] = "eV"
        with self.assertRaisesRegex(nb.FileError, "wavelength is in 'eV', which is not a known unit"):
            read_image(master)

    def test_smv_headers(self):
        path = os.path.join(self.folder.name, "a.img")

        def write(lines):
            text = ("{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=4;\nSIZE2=3;\nPIXEL_SIZE=0.1;\n"
                    f"DISTANCE=150;\nWAVELENGTH=0.98;\n{lines}}}\f")
            with open(path, "wb") as file:
                file.write(text.ljust(512).encode() + np.arange(12, dtype="<u2").tobytes())

        write("BEAM_CENTER_X=0.1;\nBEAM_CENTER_Y=0.3;\nOSC_START=7;\nOSC_RANGE=0.5;\n")
        read = read_image(path)
        np.testing.assert_array_equal(read.photons, np.arange(12).reshape(3, 4))
        np.testing.assert_allclose(read.centre, (3, 1))
        self.assertEqual((read.distance, read.wavelength, read.pixel), (150, 0.98, 0.1))
        self.assertEqual((read.start, read.step, read.counting), (7, 0.5, False))
        write("BEAM_CENTER_X=0.1;\nBEAM_CENTER_Y=0.3;\nXDS_ORGX=2;\nXDS_ORGY=1.5;\n")
        self.assertEqual(read_image(path).centre, (1.5, 1.0))
        write("BEAM_CENTER_X=2;\nBEAM_CENTER_Y=1;\n")  # pixels
        with self.assertRaisesRegex(nb.FileError, "beam at pixel 10, 20, far off a detector of 4 x 3"):
            read_image(path)
        write("BEAM_CENTER_X=2;\n")
        with self.assertRaisesRegex(nb.FileError, "does not say BEAM_CENTER_Y; give --geometry"):
            read_image(path)
        write("BEAM_CENTER_X=0.1;\nBEAM_CENTER_Y=0.3 furlong;\n")
        with self.assertRaisesRegex(nb.FileError, "BEAM_CENTER_Y is in 'furlong', which is not a known unit of a length"):
            read_image(path)
        write("BEAM_CENTER_X=0.1;\nBEAM_CENTER_Y=0.3;\nCOMPRESSION=PCK;\n")
        with self.assertRaisesRegex(nb.FileError, "its pixels are PCK"):
            read_image(path)
        write("BEAM_CENTER_X=0.1;\nBEAM_CENTER_Y=0.3;\n")
        with open(path, "rb") as file:
            content = file.read()

        def rewritten(change):
            with open(path, "wb") as file:
                file.write(change(content))
            return read_image(path)

        # The header keeps its length.
        text, pixels = content[:512], content[512:]
        windows = text.rstrip().replace(b"\n", b"\r\n").ljust(512)
        np.testing.assert_array_equal(rewritten(lambda _: windows + pixels).photons, read.photons)
        with self.assertRaisesRegex(nb.FileError, "lines end in CR LF: it was copied as text"):
            rewritten(lambda _: windows + pixels.replace(b"\n", b"\r\n"))
        with self.assertWarnsRegex(nb.Warning, "2 bytes after its 4 x 3 pixels"):
            rewritten(lambda whole: whole + b"\0\0")
        wide = text.rstrip().replace(b"unsigned_short", b"long_integer").ljust(512)
        np.testing.assert_array_equal(rewritten(lambda _: wide + np.arange(12, dtype="<i4").tobytes()).photons, read.photons)

    def test_sensors(self):
        self.assertAlmostEqual(1 / attenuation_length("CdTe", 0.31003), 18.3 * 0.585, delta=0.3)  # NIST: photoelectric, cm2/g
        self.assertGreater(attenuation_length("CdTe", 12.39842 / 26.7), 2 * attenuation_length("CdTe", 12.39842 / 26.72))
        barrel, other = (os.path.join(self.folder.name, name) for name in ("barrel.cbf", "other.cbf"))
        write_cbf(barrel, np.zeros((4, 4), int), DISTANCE, (2, 2))
        with open(barrel, "rb") as file:
            content = file.read()
        with open(other, "wb") as file:
            file.write(content.replace(b"Silicon", b"Diamond"))
        with self.assertWarnsRegex(nb.Warning, "sensor of Diamond is not known"):
            read_image(other)
        with open(barrel, "wb") as file:
            file.write(content.replace(b"PILATUS", b"PILATUS 12M, S/N 120-0100"))
        with self.assertRaisesRegex(nb.FileError, "of a PILATUS 12M, a barrel.*--geometry"):
            read_image(barrel)

    def test_modules_of_nexus_stand_where_they_are_said_to(self):
        """Two of 4 x 6 pixels in one image, the second turned by a quarter about the beam."""
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        image, path = np.arange(48.0).reshape(8, 6) - 3, os.path.join(self.folder.name, "modules.nxs")
        with h5py.File(path, "w") as file:
            group, detector = begun_nexus(file, image)
            detector["x_pixel_size"] = detector["y_pixel_size"] = 1e-4
            detector["underload_value"] = -2.5
            corners = np.array([[10.0, 5, 200], [-3, 1, 200]])  # mm, the beam along z
            for i, (corner, fast, slow) in enumerate(zip(corners, ((-1, 0, 0), (0, 1, 0)), ((0, -1, 0), (-1, 0, 0)))):
                module = group(f"entry/instrument/detector/module{i}", "NXdetector_module")
                module["data_origin"], module["data_size"] = (4 * i, 0), (4, 6)
                length = np.linalg.norm(corner)
                for name, value, vector, above in (("module_offset", length, corner / length, "."), ("fast_pixel_direction", 0.1, fast, "module_offset"),
                                                   ("slow_pixel_direction", 0.1, slow, "module_offset")):
                    node = module.create_dataset(name, data=value)
                    node.attrs.update({"units": "mm", "transformation_type": "translation", "vector": vector, "depends_on": above})
        read = read_image(path)
        detector, = detectors_of(read)
        corner, fast, slow, _ = detector.placed()
        np.testing.assert_allclose(corner, corners * (-1, 1, -1), atol=1e-9)
        np.testing.assert_allclose(fast, [(1, 0, 0), (0, 1, 0)], atol=1e-9)
        np.testing.assert_allclose(slow, [(0, -1, 0), (1, 0, 0)], atol=1e-9)
        parts = [read.photons[part] for part in detector.panels.parts(None)]
        np.testing.assert_array_equal(parts, np.where(image < -2.5, np.nan, image).reshape(2, 4, 6))
        at = np.array([(1.5, 2.5), (3.25, detector.panels.begin[1, 0] + 0.5)])
        np.testing.assert_allclose(detector.meet(detector.scattering_vectors(at) + (0, 0, -1 / 1.2)), at, atol=1e-6)

    def test_nexus_that_leads_astray_is_refused(self):
        """Links are followed only where it is safe, and no pipe or circle ends or delays this process."""
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        image, folder = np.arange(12, dtype="i4").reshape(3, 4), self.folder.name
        pipe, inside = os.path.join(folder, "pipe.h5"), os.path.join(folder, "inside")
        os.mkfifo(pipe)
        os.mkdir(inside)
        with open(os.path.join(folder, "secret"), "wb") as file:
            file.write(bytes(48))

        def tried(name, change):
            path = os.path.join(inside, name + ".nxs")
            with h5py.File(path, "w") as file:
                _, detector = begun_nexus(file, image)
                detector["x_pixel_size"] = detector["y_pixel_size"] = 1e-4
                detector["detector_distance"], detector["beam_center_x"], detector["beam_center_y"] = 0.2, 2, 1
                change(file, detector)
            return read_image(path)

        def itself(file, detector):
            layout = h5py.VirtualLayout((3, 4), "i4")
            layout[:] = h5py.VirtualSource(".", "/entry/instrument/detector/pixel_mask", (3, 4))
            detector.create_virtual_dataset("pixel_mask", layout)

        def link(target, name="pixel_mask"):
            return lambda file, detector: detector.__setitem__(name, target)

        np.testing.assert_array_equal(tried("plain", lambda *_: None).photons, image)
        with self.assertWarnsRegex(nb.Warning, "pixel_mask has 2 x 2 pixels and its image 3 x 4"):
            tried("small", lambda file, detector: detector.create_dataset("pixel_mask", data=np.ones((2, 2))))
        np.testing.assert_array_equal(tried("circle", link(h5py.SoftLink("/entry"), "again")).photons, image)
        external = [(os.path.join(folder, "secret"), 0, 48)]
        for name, change, says in (
                ("itself", itself, "virtual data set over virtual"),
                ("storage", lambda file, detector: detector.create_dataset("pixel_mask", (3, 4), "i4", external=external), "external storage"),
                ("outside", link(h5py.ExternalLink("../pipe.h5", "/mask")), "not in its folder"),
                ("loop", link(h5py.SoftLink("/entry/instrument/detector/pixel_mask")), "circle"),
                ("text", link(b"near", "count_time"), "a number is needed")):
            with self.subTest(name):
                with self.assertRaisesRegex(nb.FileError, says):
                    tried(name, change)
        with self.assertRaisesRegex(nb.FileError, "not a regular file"):
            read_image(pipe)

    def test_a_damaged_image_costs_itself_and_a_run_goes_on_where_it_ended(self):
        good, out = os.path.join(self.folder.name, os.fsdecode(b"=good<script>\xff.cbf.bz2")), os.path.join(self.folder.name, "resumed")
        damaged = os.path.join(self.folder.name, os.fsdecode(b"d\xff.cbf.gz"))
        shutil.copyfile(self.image, good)
        with open(damaged, "wb") as file:
            packed = bytearray(gzip.compress(b"###CBF: VERSION 1.5\n" * 5000))
            packed[40:60] = bytes(20)
            file.write(packed)
        words = ["index", good, damaged, f"--model={self.model}", f"--out={out}", "--workers=2", "--positions-only"]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(main(words), 0)
        self.assertIn("1 of 2 images indexed", said.getvalue())
        self.assertIn("cannot be unpacked", said.getvalue())
        with open(os.path.join(out, "shots.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["status"] for row in rows], ["indexed", "rejected"])
        with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
            self.assertNotIn("<script>", file.read())
        self.assertEqual(len(os.listdir(os.path.join(out, "finished"))), 2)
        with mock.patch.object(_still_search, "read_image", side_effect=AssertionError("read again")), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main([*words, "--resume"]), 0)
        with open(os.path.join(out, "shots.csv")) as file:
            self.assertEqual(list(csv.DictReader(file)), rows)
        # A damaged result is made again, and so are all for another question.
        kept = os.path.join(out, "finished", sorted(os.listdir(os.path.join(out, "finished")))[0])
        with open(kept, "r+b") as file:
            file.seek(100)
            file.write(b"\0\0\0\0\0\0\0\0")
        with contextlib.redirect_stdout(io.StringIO()) as again, contextlib.redirect_stderr(io.StringIO()) as warned:
            self.assertEqual(main([*words, "--resume", "--workers=1"]), 0)
        self.assertIn("is damaged", warned.getvalue())
        self.assertIn("1 of 2 images indexed", again.getvalue())

    def test_what_is_kept_runs_nothing(self):
        class Evil:
            def __reduce__(self):
                return os.mkdir, (os.path.join(folder, "made"),)

        folder = os.path.join(self.folder.name, "kept")
        kept = Kept(folder, True)
        kept.put("a" * 64, Evil())
        with self.assertWarns(nb.Warning):
            self.assertIsNone(kept.get("a" * 64))
        self.assertFalse(os.path.exists(os.path.join(folder, "made")))

    def test_a_process_that_dies_costs_its_shot(self):
        def work(number):
            if number == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return number

        self.assertEqual(sorted(each(work, list(range(6)), 2, lambda number, why: 100 + number)), [0, 1, 3, 4, 5, 102])

    def test_one_run_at_a_time_writes_a_folder(self):
        out = os.path.join(self.folder.name, "claimed")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            claim = Claim(out)
            self.assertEqual(main(["index", self.image, f"--model={self.model}", f"--out={out}"]), 1)
            claim.release()
        self.assertIn("another nb-refine is writing its results there", said.getvalue())
        together = Claim(out, together=True), Claim(out, together=True)
        with self.assertRaises(nb.FileError):
            Claim(out)
        for one in together:
            one.release()

    def test_tables_say_nothing_that_runs(self):
        path = os.path.join(self.folder.name, "table.csv")
        _report.write_table(path, [["=cmd()", "-1.5", "@x", 3, "\udcff"]])
        with open(path) as file:
            self.assertEqual(file.read(), "'=cmd(),-1.5,'@x,3,\\udcff\n")
        self.assertEqual(_report.table(["<b>"], [["\x1b[31m"]]).count("<b>"), 0)

    def test_files_that_cannot_be_written_are_named(self):
        os.mkdir(os.path.join(self.folder.name, "a.csv"))
        with self.assertRaisesRegex(nb.FileError, "a.csv: cannot be written"):
            _files.write_file(os.path.join(self.folder.name, "a.csv"), b"1")
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.endswith(".part")], [])

    def test_headers_are_read_in_time_that_grows_with_them(self):
        path = os.path.join(self.folder.name, "slow.cbf")
        write_cbf(path, np.zeros((4, 4), int), DISTANCE, (2, 2))
        with open(path, "rb") as file:
            pixels = b"--CIF-BINARY" + file.read().partition(b"--CIF-BINARY")[2]
        cif = "_axis.vector[1] 1\n_array_structure_list_axis.axis_id 1\nloop_\n_axis.id\n_axis.depends_on\n"
        chain = "".join(f"a{i} a{i + 1}\n" for i in range(20000))
        for header, says in (("# Detector: " * 100000, "does not say"), ("# Pixel_size 1e-6 m x " * 100000, "does not say"),
                             (cif + "\n;x" * 100000 + "\n", "as CIF"), (cif + "'a " * 100000, "as CIF"),
                             (cif + chain + "_array_data.data\n;\n", "along which axes"),
                             (cif + "a b\n" * 20000 + "_array_data.data\n;\n", "along which axes")):
            with open(path, "wb") as file:
                file.write(b"###CBF: VERSION 1.5\ndata_x\n" + header.encode() + b"\n" + pixels)
            begin = time.process_time()
            with self.assertRaisesRegex(nb.FileError, says):
                read_image(path)
            self.assertLess(time.process_time() - begin, 5)

    def test_numbers_of_headers_are_finite(self):
        path = os.path.join(self.folder.name, "nan.cbf")
        write_cbf(path, np.zeros((4, 4), int), DISTANCE, (1e999 - 1e999, 2))
        with self.assertRaisesRegex(nb.FileError, "Beam_xy|centre"):
            read_image(path)
        write_cbf(path, np.zeros((4, 4), int), DISTANCE, (3, 2))
        with open(path, "rb") as file:
            content = file.read()
        for said, other, says in ((b"# Polarization 0.990", b"# Polarization 1e999", "a polarization of inf"),
                                  (b" m\r\n# Beam_xy", b" mm\r\n# Beam_xy", "a distance of 0.13 mm; from 1 to 50000 mm"),
                                  (b"e-6 m x 172e-6", b"e-6 m x 100e-6", "nb-refine needs square pixels"),
                                  (b") pixels", b") mm", r"write it as \(FAST, SLOW\) pixels"),
                                  (b"# Beam_xy (3", b"# Beam_xy (300", "beam at pixel 300, 2, far off a detector of 4 x 4"),
                                  (b"1.00000 A", b"1,00000 A", "'1,00000 A' for # Wavelength, and a number is needed"),
                                  (b"1.00000 A", b"1.0 furlong", "in 'furlong', which is not a known unit of a wavelength")):
            with open(path, "wb") as file:
                file.write(content.replace(said, other))
            with self.assertRaisesRegex(nb.FileError, says):
                read_image(path)

    def test_a_list_that_names_a_pipe_is_refused(self):
        os.mkfifo(os.path.join(self.folder.name, "pipe.cbf"))
        with self.assertRaisesRegex(nb.FileError, "not a regular file"):
            _files.read_named_image(os.path.join(self.folder.name, "pipe.cbf"))

    def test_packed_images_unpack_to_no_more_than_an_image(self):
        for name, pack in (("bomb.cbf.bz2", bz2.compress), ("bomb.cbf.gz", gzip.compress)):
            path = os.path.join(self.folder.name, name)
            with open(path, "wb") as file:
                one = pack(bytes(1 << 20))
                file.write(one * 600)
            with self.assertRaisesRegex(nb.FileError, "unpacks to more than 512 MiB"):
                read_image(path)

    def test_headers_that_lie_are_told(self):
        """Sides that are exchanged, and a wavelength without its unit."""
        slow, fast = np.indices((300, 400))
        image = np.random.default_rng(1).poisson(5 + 100 * np.exp(-((slow - 140)**2 + (fast - 190)**2) / 1e4))
        path = os.path.join(self.folder.name, "lies.cbf")
        write_cbf(path, image, DISTANCE, CENTRE)
        with open(path, "rb") as file:
            content = file.read()
        np.testing.assert_array_equal(read_image(path).photons, image)

        def changed(*changes):
            new = content
            for before, after in changes:
                self.assertIn(before, new)
                new = new.replace(before, after)
            with open(path, "wb") as file:
                file.write(new)
            return path

        with self.assertRaisesRegex(nb.FileError, "its header says 300 x 400 pixels, and it looks like 400 x 300"):
            read_image(changed((b"Fastest-Dimension: 400", b"Fastest-Dimension: 300"), (b"Second-Dimension: 300", b"Second-Dimension: 400")))
        with self.assertWarnsRegex(nb.Warning, "wavelength of 0.1 A, which is unusual"):
            read_image(changed((b"# Wavelength 1.0", b"# Wavelength 0.1")))

    def test_what_cannot_be_read_is_refused_in_one_sentence(self):
        def says(path):
            still, = index([path], self.model, workers=1)
            self.assertEqual(still.status, "rejected")
            self.assertNotIn("\n", still.why)
            return still.why

        two, text, none = (os.path.join(self.folder.name, name) for name in ("two.cbf", "text.img", "none.cbf"))
        write_cbf(two, np.zeros((4, 4), int), DISTANCE, CENTRE)
        with open(two, "rb") as file:
            content = file.read()
        with open(two, "ab") as file:
            file.write(content[content.index(b"--CIF"):])
        with open(text, "w") as file:
            file.write("no image")
        self.assertIn("has 2 panels and does not say where they stand; give --geometry", says(two))
        self.assertIn("neither CBF nor SMV nor NXmx", says(text))
        self.assertIn("No such file", says(none))

    def test_masks_what_the_data_say(self):
        pixels = usable_pixels(np.where(self.photons < 0, np.nan, self.photons), 100000)
        self.assertFalse(pixels.usable[50, 60] or pixels.usable[400, 77] or pixels.usable[205].any())
        self.assertEqual(pixels.why, {"gaps": 10 * PIXELS, "overloads": 1, "hot": 1, "dead": 0})
        self.assertGreater(pixels.usable.mean(), 0.98)

    def test_finds_orientation_distance_and_centre(self):
        out = os.path.join(self.folder.name, "out")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(main(["index", self.image, f"--model={self.model}", f"--out={out}", "--workers=1"]), 0)
        self.assertIn("1 of 1 images indexed", said.getvalue())
        with open(os.path.join(out, "shots.csv")) as file:
            row, = csv.DictReader(file)
        self.assertGreater(int(row["indexed"]), 0.9 * int(row["spots"]))
        self.assertLess(abs(float(row["distance_mm"]) - DISTANCE), 0.02)
        self.assertLess(abs(float(row["beam_fast_px"]) - CENTRE[0]), 0.05)
        self.assertLess(abs(float(row["beam_slow_px"]) - CENTRE[1]), 0.05)
        self.assertLess(float(row["rms_px"]), 0.2)
        # The numbers of the simulation. Larger blocks in a weaker beam give almost the same light: the photons of a spot
        # are known, the scale times the number of cells, which is the cube of that along an axis. The smaller divergence
        # is a ninth of a pixel.
        self.assertLess(float(row["chi2"]), 1.3)
        self.assertEqual(row["sets"], "1")
        self.assertGreater(int(row["unseen"]), 10)
        self.assertLess(abs(float(row["chi2_unseen"]) - 1), 0.15)
        for name, truth, part in (("mosaicity_deg", 0.25, 0.02), ("cells_a", 38, 0.15),
                                  ("divergence_h_mrad", 0.3, 0.05), ("divergence_v_mrad", 0.15, 0.2)):
            self.assertAlmostEqual(float(row[name]), truth, delta=part * truth, msg=name)
        cells = np.prod([float(row[f"cells_{axis}"]) for axis in "abc"])
        photons = float(row["scale"]) * cells / (1e26 / FLUENCE * 38 * 38 * 20)
        self.assertLess(abs(photons - 1), 0.02)
        self.assertLess(abs(float(row["chi2_background"]) - 1), 0.03)
        self.assertTrue(0.5 * 30 * 340 < int(row["shadow"]) < 1.3 * 30 * 340, row["shadow"])
        with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
            page = file.read()
        for name, of_row, unit in (("divergence horizontal", "divergence_h_mrad", "mrad"), ("size a", "cells_a", "cells"), ("set 0: scale", "scale", "times")):
            value = re.search(rf"<td>{name}</td><td>([^<]*)</td><td>[^<]*</td><td>{unit}", page)[1]
            self.assertAlmostEqual(float(value) / float(row[of_row]), 1, 3, name)
        self.assertIn("distance (mm)", page)
        self.assertIn(f"indexed spots ({row['indexed']})", page)
        # The simulator reads what was written, and has the reflections where the spots are.
        table = _files.read_reflections(os.path.join(out, "indexed.refl"))
        pixel = 0.172
        np.testing.assert_allclose(table["xyzobs.mm.value"][:, :2], pixel * table["xyzobs.px.value"][:, :2])
        np.testing.assert_allclose(table["xyzobs.mm.variance"][:, :2], pixel**2 / 12)
        np.testing.assert_allclose(np.linalg.norm(table["s1"], axis=1), 1)  # at 1 A
        self.assertEqual(set(table["flags"]), {_files.INDEXED})
        again = nb.Simulator.from_flags(["--expt", os.path.join(out, "indexed.expt"), *CRYSTAL])
        again.structure_factors = factors()
        one, other = self.sim.image(), again.image()
        lit = np.zeros_like(one, bool)
        for fast0, fast1, slow0, slow1 in table["bbox"][:, :4]:
            lit[max(slow0, 0):slow1, max(fast0, 0):fast1] = True
        self.assertGreater(np.corrcoef(one[lit], other[lit])[0, 1], 0.8)
        self.assertLess(np.corrcoef(one[lit], np.roll(other, 4, 0)[lit])[0, 1], 0.5)

    def test_panels_that_do_not_count_photons(self):
        """A detector of four panels, one of them upside down, with a gain, a zero and read-out noise that no file says."""
        random, half = np.random.default_rng(4), PIXELS // 2
        numbers = 4.3 * simulated()[1] + 11 + random.normal(scale=3.0, size=(PIXELS, PIXELS))
        numbers[(300, 480, 650), (400, 90, 500)] = 262143  # where its numbers end
        parts = [numbers[s:s + half, f:f + half] for s in (0, half) for f in (0, half)]
        parts[1] = parts[1][::-1, ::-1]
        header = ["_diffrn_radiation_wavelength.wavelength 1.0", "_array_intensities.undefined_value -400"]
        lists, steps, axes = [], [], []
        for i, (s, f, sign) in enumerate(((0, 0, 1), (half, PIXELS, -1), (half, 0, 1), (half, half, 1))):
            if sign > 0:
                s = i // 2 * half
            corner = [0.172 * (f - CENTRE[0]), 0.172 * (CENTRE[1] - s)]
            lists += [f"A P{i} 1 {half} 1 F{i}", f"A P{i} 2 {half} 2 S{i}"]
            steps += [f"F{i} F{i} 0 0.172 S{i} S{i} 0 0.172"]
            axes += [f"S{i} translation Z 0 {-sign} 0 {corner[0]} {corner[1]} 0", f"F{i} translation S{i} {sign} 0 0 0 0 0"]
        loop = lambda category, names, rows: ["loop_", *(f"_{category}.{name}" for name in names.split()), *rows]
        header += loop("array_structure_list", "array_id array_section_id index dimension precedence axis_set_id",
                       [f"A . {i} {n} {i} ." for i, n in ((1, half), (2, half), (3, 4))] + lists)
        header += loop("array_structure_list_section", "array_id id index start",
                       [f"A P{i} {k} {at}" for i in range(4) for k, at in ((1, 1), (2, 1), (3, i + 1))])
        header += loop("array_structure_list_axis", "axis_set_id axis_id displacement displacement_increment", steps)
        header += loop("axis", "id type depends_on vector[1] vector[2] vector[3] offset[1] offset[2] offset[3]",
                       ["Z translation . 0 0 1 0 0 0", *axes])
        header += loop("diffrn_scan_frame_axis", "axis_id angle displacement", [f"Z 0 {-1.004 * (DISTANCE + DEPTH)}"])
        packed = byte_offsets(np.rint(np.array(parts)).astype(int))
        image, out = (os.path.join(self.folder.name, name) for name in ("panels.cbf", "panels"))
        with open(image, "wb") as file:
            file.write("\n".join(["###CBF: VERSION 1.5", "data_x", *header, "_array_data.data", ";", "--CIF-BINARY-FORMAT-SECTION--",
                                  "Content-Type: application/octet-stream;", ' conversions="x-CBF_BYTE_OFFSET"',
                                  f"X-Binary-Size: {len(packed)}", 'X-Binary-Element-Type: "signed 32-bit integer"',
                                  f"X-Binary-Size-Fastest-Dimension: {half}", f"X-Binary-Size-Second-Dimension: {half}",
                                  "X-Binary-Size-Third-Dimension: 4", "", ""]).encode() + b"\x0c\x1a\x04\xd5" + packed)
        read = read_image(image)
        detector = next(iter(detectors_of(read)))
        self.assertEqual([list(panel.shape) for panel in standing_modules(detector, read.photons.shape)], [[half, half]] * 4)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main(["index", image, f"--model={self.model}", f"--out={out}", "--workers=1", "--sets=1"]), 0)
        with open(os.path.join(out, "shots.csv")) as file:
            row, = csv.DictReader(file)
        self.assertGreater(int(row["indexed"]), 0.85 * int(row["spots"]))
        self.assertEqual(row["overloads"], "3")
        self.assertAlmostEqual(float(row["gain"]), 4.3, delta=0.2)
        self.assertAlmostEqual(float(row["zero"]), 11 - 9 / 4.3, delta=1.5)
        self.assertLess(abs(float(row["distance_mm"]) - DISTANCE - DEPTH), 0.05)
        self.assertLess(abs(float(row["chi2_background"]) - 1), 0.1)
        self.assertLess(float(row["chi2"]), 1.3)
        self.assertLess(float(row["rms_px"]), 0.35)
        # The same detector by what came out, and the same image by its own panels.
        again = os.path.join(self.folder.name, "again")
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main(["index", image, f"--model={self.model}", f"--out={again}", "--workers=1", "--positions-only", "--gain=4.3",
                                   "--offset=11", "--readout=3", f"--geometry={os.path.join(out, 'integrated.expt')}"]), 0)
        with open(os.path.join(again, "shots.csv")) as file:
            other, = csv.DictReader(file)
        self.assertLess(float(other["rms_px"]), 0.3)
        self.assertLess(abs(float(other["distance_mm"]) - DISTANCE - DEPTH), 0.1)
        stills = ListedStills("", os.path.join(out, "integrated.expt"), os.path.join(out, "indexed.refl"))
        np.testing.assert_array_equal(stills.image(0), np.rint(np.array(parts)))

    def test_structure_factors_from_pixels(self):
        """Structure factors from a model that is wrong by 30 %, on two stills; a third is tested."""
        images = [self.image] + [os.path.join(self.folder.name, f"still{seed}.cbf.bz2") for seed in (2, 3)]
        for seed, image in zip((2, 3), images[1:]):
            _, photons = simulated(seed=seed)
            write_cbf(image, photons[100:-100, 100:-100], DISTANCE, np.array(CENTRE) - 100)
        wrong, out = (os.path.join(self.folder.name, name) for name in ("wrong.mtz", "together"))
        write_model(wrong, 0.3)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main(["index", *images, f"--model={wrong}", f"--out={out}", "--workers=2", "--sets=1",
                                   "--shared=structure_factors", "--test=2"]), 0)
        with open(os.path.join(out, "shots.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(float(rows[2]["chi2_model"]), 2.5)
        self.assertLess(float(rows[2]["chi2"]), 1.5)
        grid, lowest, _, _ = _core.structure_factors(os.path.join(out, "structure_factors.mtz:FPOST"), 2.0, 1.0, 0.35, 46.0)
        hkl = _files.read_reflections(os.path.join(out, "indexed.refl"))["miller_index"]
        values, first = factors()
        refined, truth = grid[tuple((hkl - lowest).T)], values[tuple((hkl - first).T)]
        seen = (refined > 0) & (truth > 100)
        self.assertGreater(np.corrcoef(np.log(refined[seen]), np.log(truth[seen]))[0, 1], 0.97)

    def test_intensities_tell_where_the_beam_is(self):
        """A header by which places of spots fit almost as well, with indices that are off by a lattice vector."""
        off = os.path.join(self.folder.name, "off.cbf")
        write_cbf(off, self.photons, DISTANCE, (CENTRE[0] + 22, CENTRE[1] - 9))
        placed, = index([off], " ".join(map(str, CELL)) + " P 41 21 2", workers=1, pixels=False)
        self.assertGreater(np.abs(np.array(placed.fitted.detector.centre) - CENTRE).max(), 4)
        still, = index([off], self.model, workers=1, sets=1)
        np.testing.assert_allclose(still.fitted.detector.centre, CENTRE, atol=0.5)
        self.assertEqual(verdict(still), ("good", ""))

    def test_a_turned_image_is_found_by_its_beam(self):
        """The header's beam is 117 pixels off where the image is turned by 90 degrees after it was cut."""
        cut, turned = self.photons[180:, :PIXELS - 180], os.path.join(self.folder.name, "turned.cbf")
        centre = np.array(CENTRE) - (0, 180)
        write_cbf(turned, np.ascontiguousarray(np.rot90(cut)), DISTANCE, centre)
        still, = index([turned], self.model, workers=1, pixels=False)
        np.testing.assert_allclose(still.fitted.detector.centre, (centre[1], cut.shape[1] - centre[0]), atol=0.5)
        self.assertGreater(still.indexed, 0.95 * still.spots)
        self.assertEqual(verdict(still), ("good", ""))

    def test_sharp_rings_are_no_spots(self):
        """Rings of ice, brighter on one side, which bring hundreds of spots by the light near by."""
        slow, fast = np.mgrid[:PIXELS, :PIXELS] + 0.5 - np.array(CENTRE)[::-1, None, None]
        radius, azimuth = np.hypot(slow, fast), np.arctan2(slow, fast)
        rings = sum((1 + 0.3 * np.sin(azimuth)) * np.exp(-((radius - at) / 1.3)**2 / 2) for at in (140, 152, 165, 215, 260))
        iced = os.path.join(self.folder.name, "iced.cbf")
        clear, = index([self.image], self.model, workers=1, pixels=False)
        for light in (60 + 100 * rings, 20 * rings):
            photons = np.where(self.photons >= 0, self.photons + np.random.default_rng(4).poisson(light), -1)
            write_cbf(iced, photons, DISTANCE, CENTRE)
            still, = index([iced], self.model, workers=1, pixels=False)
            self.assertGreater(still.indexed, 0.95 * still.spots)
            self.assertGreater(still.indexed, 0.6 * clear.indexed)
            self.assertLess(still.rms_px, 0.35)
            self.assertLess(still.chi2_parts["rings"], 1.3)
            self.assertEqual(verdict(still), ("good", ""))

    def test_a_verdict_tells_wrong_models(self):
        """The same still by a cell of which an axis is 4 % longer, by structure factors of another crystal, and by bad ones of its own."""
        found = []
        for name, how in (("right", {}), ("longer", {"cell": (*CELL[:2], 1.04 * CELL[2], *CELL[3:])}), ("other", {"other": True}),
                          ("rough", {"wrong": 1.0})):
            path = os.path.join(self.folder.name, f"{name}.mtz")
            write_model(path, **how)
            still, = index([self.image], path, workers=1, sets=1, pixels=name != "longer")
            found.append(verdict(still))
        self.assertEqual(found[0], ("good", ""))
        self.assertNotEqual(found[1][0], "good")
        self.assertEqual(found[2][0], "bad")
        self.assertIn("another crystal", found[2][1])
        self.assertEqual(found[3][0], "doubtful")
        self.assertIn("structure factors, or the parts of reflections on the sphere, are wrong", found[3][1])

    def test_verdicts_do_not_grow_with_the_light(self):
        """Spots whose shapes are off by a part of their light, however bright they are, and by twice as much."""
        slow, fast = np.mgrid[:15, :15] - 7
        shape = lambda width: np.tile((np.exp(-(slow**2 + fast**2) / (2 * width**2)) / (2 * np.pi * width**2)).ravel(), 40)
        box = np.repeat(np.arange(40), 225)
        found = []
        for photons, width in ((3e4, 1.5), (1e6, 1.5), (1e6, 2.2)):
            data = np.random.default_rng(1).poisson(10 + photons * shape(width)).astype(float)
            boxes = Boxes(np.zeros((len(data), 2), "i4"), data, np.full(len(data), 10.0), box, 40)
            still = Still(0, "", spots=40, indexed=40, rms_px=0.2)
            own = photons * shape(1.2)
            chi2 = ((data - 10 - own)**2 / (10 + own)).mean()
            still.explained = types.SimpleNamespace(chi2_profiles=chi2, profile_error=profile_error(boxes, own), chi2_unseen=1.0, unseen_light=0.0,
                                                    precision=np.ones(5), ratio=np.ones(5))
            found.append((still.explained.profile_error, verdict(still)[0]))
        self.assertAlmostEqual(found[0][0], found[1][0], delta=0.01)
        self.assertEqual([word for _, word in found], ["doubtful", "doubtful", "bad"])

    def test_stills_share_the_distance_and_tell_their_cells(self):
        edges, images = (0.9985, 1.0, 1.001), [os.path.join(self.folder.name, f"edges{i}.cbf") for i in range(3)]
        for i, image in enumerate(images):
            _, photons = simulated((17 + 31 * i, -41, 66), seed=i, edges=edges[i])
            write_cbf(image, photons[100:-100, 100:-100], DISTANCE * 1.005, np.array(CENTRE) - 100)
        out = os.path.join(self.folder.name, "cells")
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main(["index", *images, f"--model={self.model}", f"--out={out}", "--workers=1"]), 0)
        with open(os.path.join(out, "shots.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len({row["distance_mm"] for row in rows}), 1)
        for name in "ac":
            found = np.array([float(row[name]) for row in rows])
            np.testing.assert_allclose(found / found[1], np.array(edges) / edges[1], atol=1e-4)
        self.assertLess(max(float(row["chi2"]) for row in rows), 1.2)

    def test_stills_of_one_crystal_are_a_chain(self):
        """Turned by one degree from each to the next; the search finds nothing on the second."""
        images = [os.path.join(self.folder.name, f"turned{i}.cbf") for i in range(3)]
        for i, image in enumerate(images):
            write_cbf(image, simulated((17 + i, -41, 66), seed=i)[1], DISTANCE * 1.005, CENTRE)
        search = _still_search.lattices_of
        finds = mock.Mock(side_effect=lambda *how: search(*how) if finds.call_count != 2 else (_ for _ in ()).throw(_lattices.Rejected("no")))
        said = io.StringIO()
        with mock.patch.object(_still_search, "lattices_of", finds), mock.patch.object(_still_search, "lattices_anywhere", lambda found, *_: found), contextlib.redirect_stdout(said):
            out = os.path.join(self.folder.name, "chain")
            self.assertEqual(main(["index", *images, f"--model={self.model}", f"--out={out}", "--workers=1", "--chain", "--positions-only"]), 0)
        with open(os.path.join(out, "shots.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["status"] for row in rows], ["indexed"] * 3)
        self.assertEqual(len({(row["a"], row["c"], row["distance_mm"]) for row in rows}), 1)
        self.assertEqual(rows[0]["turned_deg"], "")
        for row in rows[1:]:
            self.assertLess(abs(float(row["turned_deg"]) - 1), max(0.005, 3 * float(row["turned_sigma_deg"])))
            self.assertLess(float(row["turned_sigma_deg"]), 0.01)
        self.assertRegex(said.getvalue(), r"turned1.cbf: turned by (1\.00|0\.99)\d\d \+- 0\.00\d\d degrees about")
        self.assertRegex(said.getvalue(), r"to the next by (1\.00|0\.99)\d\d degrees in the mean")
        wrong = io.StringIO()
        with contextlib.redirect_stderr(wrong):
            self.assertEqual(main(["index", *images, f"--model={self.model}", "--chain", "--restrain=distance=1"]), 1)
        self.assertIn("share their distance", wrong.getvalue())

    def test_two_crystals_on_one_image(self):
        """Orientations and cells of both within their sigmas."""
        missets = (17, -41, 66), (-52, 23, 8)
        image, out = (os.path.join(self.folder.name, name) for name in ("two.cbf.bz2", "two"))
        _, photons = simulated(missets[0], other=missets[1])
        middle = 200  # pixels of it are left out on each side, for the sake of time
        write_cbf(image, photons[middle:-middle, middle:-middle], DISTANCE, np.array(CENTRE) - middle)
        alone, = index([image], self.model, workers=1, lattices=1, pixels=False)
        still, = index([image], self.model, workers=1, sets=1, out=out)
        result = still.explained
        self.assertEqual((len(alone.lattices), len(still.lattices)), (1, 2))
        self.assertGreater(still.indexed, 0.9 * still.spots)
        self.assertLess(alone.indexed, 0.8 * still.spots)
        self.assertLess(max(result.chi2, *result.chi2_of), 1.4)
        self.assertLess(still.rms_px, 0.2)
        sigma, scales = dict(zip(result.names, result.sigma)), {}
        for k, lattice in enumerate(result.lattices):
            for misset in missets:
                x, y, z = (turn * np.pi / 180 for turn in np.diag(misset))
                # To where the beam is along -z and fast pixels along x.
                turned = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]) @ rotation(z) @ rotation(y) @ rotation(x)
                truth = turned @ np.diag(1 / np.array(CELL[:3]))
                same = np.linalg.inv(truth) @ lattice.matrix
                if np.abs(same - np.rint(same)).max() < 0.05:
                    break
            scales[misset] = lattice.scale
            left, strain, right = np.linalg.svd(lattice.matrix @ np.linalg.inv(truth @ np.rint(same)))
            turn = left @ right
            for i, angle in enumerate((turn[2, 1], turn[0, 2], turn[1, 0])):
                self.assertLess(abs(angle), 4 * sigma[f"lattice {k} set {k} orientation {i}"])
            of_cell = np.linalg.norm([value for name, value in sigma.items() if name.startswith(f"lattice {k} strain")])
            self.assertLess(np.abs(strain - 1).max(), 4e-3 * of_cell)
        self.assertAlmostEqual(scales[missets[1]] / scales[missets[0]], 0.5, delta=0.03)
        # One experiment for each, of one image; reflections are those of their own crystal.
        for name in ("indexed", "integrated"):
            listed = _files.read_experiments(os.path.join(out, f"{name}.expt"))
            self.assertEqual([(e["crystal"], e["imageset"], e["detector"], e["beam"]) for e in listed["experiment"]], [(0, 0, 0, 0), (1, 0, 0, 0)])
            table = _files.read_reflections(os.path.join(out, f"{name}.refl"))
            for k, one in enumerate(still.lattices):
                mine = table["id"] == k
                if name == "indexed":
                    self.assertEqual(mine.sum(), one.indexed.sum())
                    beneath = table["intensity.sum.variance"][mine] - table["intensity.sum.value"][mine]  # the background
                    self.assertGreater(beneath.min(), 0)
                    self.assertGreater(np.median(beneath / still.found.pixels[one.indexed]), 1)
                places, missing = predict(one.matrix, table["miller_index"][mine], one.detector)
                off = np.linalg.norm(places - table["xyzcal.px"][mine, :2], axis=1)
                self.assertLess(np.median(off), 0.3)
        values, lowest = factors()
        squares = values[tuple((table["miller_index"] - lowest).T)]**2
        self.assertGreater(np.corrcoef(squares, table["lp"] * table["intensity.prf.value"] / np.array(list(scales.values()))[table["id"]])[0, 1], 0.97)
        with open(os.path.join(out, "lattices.csv")) as file:
            self.assertEqual([int(row["spots"]) for row in csv.DictReader(file)], [one.indexed.sum() for one in still.lattices])

    def test_old_command_lines_are_understood(self):
        from nanobragg.refine._commands import named
        table = os.path.join(self.folder.name, "t.refl")
        for words, now in ((["a.cbf", "--model=m.pdb"], ["index", "a.cbf", "--model=m.pdb"]), (["a.cbf", "--model=m.pdb", "--energies=5,27"], ["laue"]),
                           (["a.expt", table, "--shared=panels", "--", "--model"], ["shared", "a.expt", table, "--parameters=panels", "--", "--model"]),
                           (["a.expt", table], ["stills", "a.expt", table])):
            self.assertEqual(named(words)[0][:len(now)], now)
            self.assertEqual(named(words)[1], now[0])
            self.assertEqual(named(named(words)[0]), (named(words)[0], None))
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main([self.image, f"--model={self.model}", "--gain=-2"]), 1)
        self.assertIn("deprecated; write nb-refine index", said.getvalue())
        self.assertIn("--gain is -2.0", said.getvalue())

    def test_shards_and_ranks_change_nothing(self):
        images = [os.path.join(self.folder.name, f"part{seed}.cbf.bz2") for seed in (4, 5)]
        for seed, image in zip((4, 5), images):
            write_cbf(image, simulated(seed=seed)[1], DISTANCE, CENTRE)
        whole, parts, ranks = (os.path.join(self.folder.name, name) for name in ("whole", "parts", "ranks"))
        words = ["index", *images, f"--model={self.model}", "--sets=1"]

        def says(*more):
            with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as warned:
                self.assertEqual(main([*words, *more]), 0)
            self.assertEqual(warned.getvalue(), "")
            return said.getvalue()

        says(f"--out={whole}")
        shards = [says(f"--out={parts}", f"--shard={shard}") for shard in ("0/2", "1/2", "0/2")]
        self.assertIn("1 images of other shards are not indexed yet", shards[0])
        self.assertIn("1 of 1 images of shard 0/2 indexed, the pixels of 0 explained", shards[0])
        self.assertIn("the pixels of 1 explained", shards[1])
        self.assertIn("the pixels of 1 explained", shards[2])
        self.assertEqual(set(os.listdir(parts)), {"finished", ".lock"})
        says(f"--out={parts}", "--resume")
        outs = [whole, parts]
        if importlib.util.find_spec("mpi4py") and shutil.which("mpirun"):
            ended = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, "-m", "nanobragg.refine", *words,
                                    f"--out={ranks}"], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertEqual(ended.stdout.count("2 of 2 images indexed"), 1)
            outs.append(ranks)
        columns = [_files.read_reflections(os.path.join(out, "integrated.refl")) for out in outs]
        for other in columns[1:]:
            for name, column in columns[0].items():
                np.testing.assert_array_equal(column, other[name], name)

    def test_a_stream_and_full_intensities(self):
        out = os.path.join(self.folder.name, "streamed")
        before = None
        for more in ([], ["--full-intensities", "--resume"]):
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(main(["index", self.image, f"--model={self.model}", "--sets=1", f"--out={out}", *more]), 0)
            table = _files.read_reflections(os.path.join(out, "integrated.refl"))
            crystal, = _files.read_experiments(os.path.join(out, "integrated.expt"))["crystal"]
            with open(os.path.join(out, "integrated.stream")) as file:
                stream = file.read()
            self.assertTrue(stream.startswith("CrystFEL stream format 2.3\n"))
            rows = [line.split() for line in stream.split("fs/px    ss/px panel\n")[1].split("End of reflections")[0].splitlines()]
            np.testing.assert_array_equal(np.array([row[:3] for row in rows], int), table["miller_index"])
            np.testing.assert_allclose([float(row[3]) for row in rows], table["intensity.sum.value"], atol=0.006)
            np.testing.assert_allclose([float(row[4])**2 for row in rows], table["intensity.sum.variance"], rtol=0.02, atol=0.05)
            np.testing.assert_allclose(np.array([row[7:9] for row in rows], float), table["xyzcal.px"][:, :2], atol=6e-4)
            stars = np.array([re.search(rf"{name}star = (\S+) (\S+) (\S+) nm", stream).groups() for name in "abc"], float) / 10
            real = np.array([crystal[f"real_space_{name}"] for name in "abc"]) * [-1, 1, -1]
            np.testing.assert_allclose(stars @ real.T, np.eye(3), atol=1e-5)
            radius = float(re.search(r"profile_radius = (\S+) nm", stream)[1]) / 10
            self.assertTrue(1e-4 < radius < 1e-2, radius)
            if more:
                self.assertGreater(len(before["d"]), len(table["d"]))
                some = before["partiality"] > 0.4
                np.testing.assert_allclose(table["intensity.sum.value"], (before["lp"] * before["intensity.prf.value"])[some])
                np.testing.assert_allclose(table["intensity.prf.variance"], (before["lp"]**2 * before["intensity.prf.variance"])[some])
                self.assertEqual((table["partiality"].min(), table["lp"].max()), (1, 1))
            before = table

    def test_refuses(self):
        def says(*words):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main(["index", *words]), 1)
            return said.getvalue()

        self.assertIn("--gain is -2.0", says(self.image, f"--model={self.model}", "--gain=-2"))
        self.assertIn("not an experiment list", says(self.image, f"--model={self.model}", f"--geometry={self.model}"))
        self.assertIn("--test needs --shared", says(self.image, f"--model={self.model}", "--test=0"))
        self.assertIn("lattices is 0", says(self.image, f"--model={self.model}", "--lattices=0"))
        self.assertIn("is not a number of this fit", says(self.image, f"--model={self.model}", "--fix=cel"))
        self.assertIn("is not a point spread; write gauss:80", says(self.image, f"--model={self.model}", "--psf=box:80"))
        self.assertIn("give --psf=gauss:80", says(self.image, f"--model={self.model}", "--restrain=psf=1"))
        self.assertIn("flags of nb-sim", says(self.image, f"--model={self.model}", "--", "-N", "3"))
        bare = os.path.join(self.folder.name, "bare.pdb")
        with open(bare, "w") as file:
            file.write("ATOM      1  CA  ALA A   1      10.000  12.000  20.000  1.00 20.00           C\n")
        self.assertIn("CRYST1", says(self.image, f"--model={bare}"))

    def test_darkness_is_rejected_with_its_reason(self):
        dark = os.path.join(self.folder.name, "dark.cbf")
        write_cbf(dark, np.random.default_rng(2).poisson(2.0, (200, 200)), DISTANCE, (100, 100))
        still, = index([dark], self.model, workers=1)
        self.assertEqual(still.status, "rejected")
        self.assertIn("spots", still.why)
        cut = os.path.join(self.folder.name, "cut.cbf.bz2")
        with open(self.image, "rb") as whole, open(cut, "wb") as file:
            file.write(whole.read()[:5000])
        still, = index([cut], self.model, workers=1)
        self.assertIn("copy or compress the file again", still.why)


def ccd(gain, readout, zero, core, light, random, size=768):
    """Numbers of a CCD whose phosphor spreads the light of (size, size) pixels by a Gaussian of sigma ``core``, pixels; photons fall anywhere
    in a pixel."""
    fine = np.repeat(np.repeat(light / 9, 3, 0), 3, 1)
    spread = ndimage.gaussian_filter(random.poisson(fine).astype("f4"), 3 * core, mode="reflect").reshape(size, 3, size, 3).sum(axis=(1, 3))
    return np.rint(zero + gain * spread + random.normal(scale=readout, size=spread.shape))


class OfNoise(unittest.TestCase):
    def test_most_pixels_have_no_photon(self):
        for mean in (0.003, 0.05, 0.6):
            photons = np.random.default_rng(4).poisson(mean, (500, 500))
            self.assertEqual(noise_of(photons, photons >= 0), Noise())
        self.assertGreater(noise_of(3 * photons, photons >= 0).unit, 2)  # these are no photons
        slow, fast = np.mgrid[-250:250, -250:250]
        alone = np.random.default_rng(5).poisson(1e5 * np.exp(-((slow % 60 - 30)**2 + (fast % 60 - 30)**2) / 2) * (np.hypot(slow, fast) < 150))
        self.assertEqual(noise_of(alone, alone >= 0), Noise())  # spots without a background

    def test_neighbours_tell_the_gain(self):
        """Where a phosphor spreads light, the noise of single pixels shows a small part of the gain."""
        random, (slow, fast) = np.random.default_rng(3), np.indices((768, 768)) - 384
        for gain, readout, zero, core, low, high in ((1.5, 3.5, 0, 0.7, 200, 600), (2.5, 3.0, 40, 1.2, 50, 300)):
            with self.subTest(gain=gain):
                light = low + (high - low) * np.exp(-((np.hypot(slow, fast) - 150) / 120)**2)
                numbers = ccd(gain, readout, zero, core, light, random)
                noise = noise_of(numbers, np.ones(light.shape, bool), zero)
                self.assertAlmostEqual(noise.unit / noise.spread / gain, 1, delta=0.05)
                self.assertAlmostEqual(noise.core, core, delta=0.05)
                self.assertLess(noise.spread, 0.25)
                # Sums over many pixels vary as much more as the spread says.
                blocks = lambda image: image.reshape(24, 32, 24, 32).sum(axis=(1, 3))
                expected = blocks(ndimage.gaussian_filter(light, core))
                scatter = np.mean((blocks((numbers - zero) / gain) - expected)**2 / (expected + 1024 * (readout / gain)**2))
                self.assertAlmostEqual(scatter, 1, delta=0.2)
                single = np.mean(((numbers - zero) / gain - light)**2 / ((zero - noise.zero) / noise.unit + light * gain / noise.unit)) * (gain / noise.unit)**2
                self.assertAlmostEqual(single, 1, delta=0.1)
        counts = random.poisson(20.0, (512, 512)).astype(float)
        self.assertEqual(noise_of(counts, np.ones(counts.shape, bool)), Noise())

    def test_light_that_was_lost_is_found_by_its_neighbours(self):
        random, (slow, fast) = np.random.default_rng(3), np.indices((200, 200))
        spot = lambda at, height, width: height * np.exp(-((slow - at[0])**2 + (fast - at[1])**2) / (2 * width**2))
        light = random.poisson(400 + spot((50, 60), 300000, 2.0) + spot((120, 40), 50000, 1.0) + spot((150, 150), 140000, 1.5)).astype(float)
        light += random.poisson(spot((170, 100), 114000, 0.985))
        light[30:33, 150:153] = 63900  # at the limit, which a correction has lowered
        light += spot((100, 170), 9000, 0.8)
        light[100, 170:172] = 60000  # its neighbours are mixed with pixels that began again from zero
        lost = lost_light(light % 65536, 65535)
        self.assertTrue(lost[light > 65535].all() and lost[30:33, 150:153].all() and lost[99:102, 169:173].all())
        self.assertFalse(lost[100:140, 20:60].any(), "no pixel of this spot is too bright")
        self.assertLess(lost.sum(), 5 * (light > 65535).sum())
        pixels = usable_pixels(light % 65536, 65535, lost)
        self.assertEqual(pixels.why["overloads"], lost.sum())
        light[180, 20:30], light[20, 20], light[120, 100] = 3000, 0, 2000
        hot, dead = odd_pixels(light, ~lost, 0.8)
        self.assertTrue(hot[180, 20:30].all() and hot[120, 100] and dead[20, 20])
        # The middle of a spot whose rim alone is left, far below the limit.
        rim = spot((100, 100), 60000, 2.0)
        rim[99:102, 99:102] = 9000
        rim[100, 100] = 4000
        hollow = lost_light(np.where(light > 65535, 60000, light) + np.where(rim > 14000, 14000, rim), 65535) & (np.hypot(slow - 100, fast - 100) < 9)
        self.assertTrue(hollow[99:102, 99:102].all())
        self.assertLess(hollow.sum(), 26)
        self.assertLess(hot.sum() + dead.sum(), 16)
        spots, _ = find_spots(light, ~(lost | hot | dead), even=False, lost=lost)
        for at in ((60.5, 50.5), (40.5, 120.5), (150.5, 150.5)):
            self.assertLess(np.linalg.norm(spots.at - at, axis=1).min(), 0.4, str(at))

    def test_boxes_have_levels(self):
        """Backgrounds that differ from the image's, beside spots, and those that do not."""
        random, (slow, fast) = np.random.default_rng(3), np.indices((400, 400))
        at = np.stack(np.meshgrid(np.arange(10, 400, 20), np.arange(10, 400, 20)), -1).reshape(-1, 2) + 0.5
        light = sum(3000 * np.exp(-((slow - y)**2 + (fast - x)**2) / 2) for x, y in at - 0.5)
        true = random.normal(1, 0.05, len(at))
        for levels, within in ((true, 0.008), (np.ones(len(at)), 0.005)):
            whole = 200 * np.kron(levels.reshape(20, 20), np.ones((20, 20))) + light
            boxes = Boxes.around(at, 7, random.poisson(whole).astype(float), np.ones(light.shape, bool), np.full(light.shape, 200.0))
            found = box_levels(boxes, light[tuple(boxes.rows.T)] < 1)
            self.assertLess(np.std(found - levels), within)
            np.testing.assert_allclose(boxes.levelled(found).background, 200 * found[boxes.box])
        # Weak reflections are most of a faint image's background, and a box has two photons of it.
        faint = Boxes.around(at, 7, random.poisson(0.01 + light).astype(float), np.ones(light.shape, bool), np.full(light.shape, 0.025))
        np.testing.assert_allclose(box_levels(faint, light[tuple(faint.rows.T)] < 1e-3), 0.4, atol=0.04)
        faint.data[0] = 1e6  # light of a spot that the model has a pixel farther
        np.testing.assert_allclose(box_levels(faint, light[tuple(faint.rows.T)] < 1e-3), 0.4, atol=0.04)

    def test_backgrounds_have_parts(self):
        """A ring, a halo about a spot, and structure that a coarse field would not follow."""
        random, (slow, fast) = np.random.default_rng(3), np.indices((400, 400)) - 200
        radii = np.hypot(slow, fast).astype("f4")
        light = 300 + 60 * np.sin(slow / 25) * np.sin(fast / 25) + 120 * np.exp(-((radii - 100) / 4)**2 / 2) * (1 + 0.2 * np.sin(8 * np.arctan2(slow, fast)))
        halo = 200 * np.exp(-((slow - 120)**2 + (fast - 120)**2) / (2 * 6**2))
        spots = np.hypot(slow - 120, fast - 120) < 4
        background = Background(random.poisson(light + halo).astype(float), ~spots, radii)
        parts = background.parts(random.poisson(light + halo), spots)
        self.assertLess(parts["smooth"], 1.1)
        self.assertGreater(parts["rings"], 1.02)
        self.assertGreater(parts["haloes"], 1.3)

    def test_pixels_beside_a_gap_that_get_a_part_of_the_light_are_in_its_shadow(self):
        radii = np.hypot(*(np.indices((400, 400)) - 200)).astype("f4")
        inside, rim = radii < 180, (radii >= 177) & (radii < 180)
        counts = np.random.default_rng(5).poisson(np.where(rim, 600, 1000)).astype(float)
        background = Background(counts, inside, np.zeros_like(radii))
        self.assertTrue(background.shadows[rim].all())
        self.assertLess(background.shadows[radii < 174].mean(), 1e-3)
        self.assertAlmostEqual(background.chi2(counts), 1.0, delta=0.05)


    def test_the_rim_of_a_detector_has_no_numbers(self):
        numbers = np.random.default_rng(1).normal(200, 20, (64, 64)).round()
        numbers[0], numbers[:, -1] = 0, 0
        self.assertEqual(no_numbers(numbers).sum(), 127)
        # Numbers that are cut off at zero, in the dark, are numbers, and so is a photon in ten pixels.
        dark = np.maximum(np.random.default_rng(1).normal(1, 2, (64, 64)).round(), 0)
        self.assertFalse(no_numbers(dark).any())
        self.assertFalse(no_numbers(np.random.default_rng(1).poisson(0.1, (64, 64)).astype(float)).any())

    def test_photons_are_told_in_spite_of_faint_spots(self):
        """Streaks, more of them where there is more light, make noise grow faster than the light."""
        random, (slow, fast) = np.random.default_rng(1), np.indices((512, 512))
        light = 3 + 3 * slow / 512
        for at in random.uniform(0, 512, (1500, 2)):
            light += random.exponential(8 * (at[0] / 512)**2) * np.exp(-((slow - at[0])**2 / 8 + (fast - at[1])**2 / 40))
        counts = random.poisson(light).astype(float)
        every = np.ones(counts.shape, bool)
        self.assertEqual(noise_of(counts, every), Noise())
        self.assertNotEqual(noise_of(2.0 * counts, every), Noise())
        # These spots are no error of calibration, which photons do not have.
        for unit in (1.0, 2.0):
            read = DiffractionImage("", unit * counts, 1.0, 100.0, (0, 0), 0.1, counting=False)
            self.assertEqual(_still_search.in_photons(read, every, None).counting, unit == 1)

    def test_an_even_background_does_not_tell_the_gain(self):
        random, (slow, fast) = np.random.default_rng(1), np.indices((400, 400)) - 200
        said = []
        for light in (30 + 0.0 * slow, 10 + 60 * np.exp(-(slow**2 + fast**2) / 200**2)):
            numbers = 6.3 * random.poisson(light) + 40 + random.normal(0, 3, light.shape)
            read = DiffractionImage("", numbers, 1.0, 100.0, (0, 0), 0.1).in_photons(noise_of(numbers, np.ones(light.shape, bool)))
            said.append(next(line for line in described(read, light.shape, {}, False) if line.startswith("gain")))
        self.assertIn("the background is too even to tell gain from zero; give --gain and --offset", said[0])
        self.assertNotIn("too even", said[1])

    def test_the_noise_of_a_dark_detector_tells_no_gain(self):
        dark = 40 + np.random.default_rng(1).normal(0, 1.5, (512, 512))
        for numbers in (dark, np.rint(dark)):
            noise = noise_of(numbers, np.ones(numbers.shape, bool))
            self.assertGreater(noise.sigma, 0.5)
            self.assertAlmostEqual(noise.unit * (40 - noise.zero), 1.5**2, delta=0.15)

    def test_faint_pixels_have_the_variance_of_their_photons(self):
        counts, one = np.random.default_rng(1).poisson(0.1, 20000).astype(float), np.ones(20000)
        boxes = Boxes(np.zeros((20000, 2), int), counts, 0.1 * one, np.zeros(20000, int), 1)
        self.assertAlmostEqual(squares(boxes, 0 * one).mean(), 1, delta=0.1)

    def test_an_error_in_proportion_to_the_light_is_measured(self):
        random = np.random.default_rng(2)
        slow, fast = np.indices((256, 256)) - 128
        radii = np.hypot(slow, fast).astype("f4")
        light = 2000 + 6000 * np.exp(-(radii / 60)**2)
        for error in (0.0, 0.03):
            counts = random.poisson(light * random.normal(1, error, light.shape)).astype(float)
            background = Background(counts, np.ones(light.shape, bool), radii)
            self.assertAlmostEqual(background.calibration(counts), error, delta=0.003)
            self.assertAlmostEqual(background.chi2(counts, background.calibration(counts)), 1, delta=0.1)


class OfResponse(unittest.TestCase):
    def test_counts_and_their_derivatives(self):
        light, background, own = np.array([0.0, 30.0, 9000.0, 40.0]), np.array([3.0, 0.5, 20.0, 1000.0]), np.array([1.0, 2.0, 0.7, 0.0])
        at = lambda light, lost, gain: counted(light, background, own, lost, np.exp(gain))
        np.testing.assert_allclose(at(light, 0.0, 0.0)[0], light)
        # A paralysable counter with this background, twice the light of the model and a gain.
        empty = 0.5 / 1.25  # nearly none of these are lost
        self.assertAlmostEqual(at(light, 1e-4, np.log(1.25))[0][1] * 2, 1.25 * (60 + empty) * np.exp(-1e-4 * (60 + empty)) - 0.5, places=3)
        for lost in (-1e-5, 0.0, 4e-5):
            values, *slopes = at(light, lost, 0.2)
            for slope, step in zip(slopes, ((1e-3, 0, 0), (0, 1e-9, 0), (0, 0, 1e-6))):
                up, down = (at(light + sign * step[0], lost + sign * step[1], 0.2 + sign * step[2])[0] for sign in (1, -1))
                np.testing.assert_allclose(slope, (up - down) / (2 * sum(step)), rtol=2e-5, atol=1e-3)

    def test_the_noise_of_neighbours_starts_the_point_spread(self):
        shape, width = Response(dead_time=1e-7).of_neighbours(0.8, 0.08).psf
        self.assertEqual(shape, "gauss")
        self.assertAlmostEqual(width, 150.7, 1)  # um, full width at half maximum
        self.assertEqual(Response(dead_time=1e-7).of_neighbours(0.8, 0.08).dead_time, 1e-7)
        self.assertIsNone(Response().of_neighbours(0.0, 0.08).psf, "a detector without")
        given = Response(("fiber", 80.0))
        self.assertEqual(given.of_neighbours(0.8, 0.08), given)

    def test_lost_counts_want_the_exposure(self):
        with self.assertRaisesRegex(ValueError, "do not say how long an exposure is"):
            Response(dead_time=1e-7).check(0.0, False)
        with self.assertRaisesRegex(ValueError, "do not say how long an exposure is"):
            Response().check(0.0, True)
        Response().check(0.0, False)
        Response(dead_time=1e-7).check(0.02, True)

    def test_point_spread_and_dead_time_come_back(self):
        """With the intensity of each spot free, and one that is wrong by a factor of two."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "still.expt")
            subprocess.run([sys.executable, "-m", "nanobragg.simulate", "-cell", *map(str, CELL), "-default_F", "1", "-N", "5", "-misset", "17", "-41",
                            "66", "-lambda", "1", "-distance", str(DISTANCE), "-detpixels", "300", "-pixel", "0.172", f"--write-expt={path}",
                            "-roi", "0", "1", "0", "1"], cwd=folder, check=True, capture_output=True)
            parts = nb.Expt(file=path), nb.Detector(**Response(("gauss", 172.0)).of_detector(0.172))
            sim, _ = simulators(parts, np.radians(0.25), 0.0005, 0.3e-3)
        sim.structure_factors = factors()
        bright = sim.image()
        rows = []
        while len(rows) < 25:
            slow, fast = np.unravel_index(bright.argmax(), bright.shape)
            bright[max(slow - 15, 0):slow + 15, max(fast - 15, 0):fast + 15] = 0
            rows.append((fast + 0.5, slow + 0.5))
        flat = np.full(bright.shape, 3.0)
        boxes = Boxes.around(np.array(rows), 7, flat, flat > 0, flat)
        boxes = boxes.with_reflections(np.ones((len(boxes.rows), 3), int))
        model = Blocks(sim, boxes, measurement=Measurement(response=Response(("gauss", 172.0)), seconds=0.01))
        truth, groups = np.zeros(model.size), np.array(model.groups())
        truth[groups == "psf"], truth[groups == "dead_time"], truth[groups == "mosaicity"] = np.log(1.4), 0.3, 0.1
        truth[model.names.index("set 0 scale 6")] = np.log(6000 / model.image(np.zeros(model.size)).max())
        described = list(model.described(truth, 0.01 * np.ones(model.size)))
        self.assertEqual(len(described), len(model.names))
        for name, value, sigma, unit in (("point spread", 172 * 1.4, 172 * 0.014, "µm"), ("dead time", 300, 10, "ns"), ("set 0: mosaicity b", 0.25 * np.exp(0.1), None, "degrees"),
                                         ("distance", 1e3 * sim["close_distance"], 0.01, "mm"), ("B", 0, 0.01, "Å²")):
            found, = (row for row in described if row[0] == name)
            self.assertAlmostEqual(found[1], value, 6, name)
            self.assertAlmostEqual(found[2], 0.01 * value if sigma is None else sigma, 6, name)
            self.assertEqual(found[3], unit)
        model.ratio = np.where(boxes.box == 3, 2.0, 1.0)
        expected = boxes.background + model.ratio * model.image(truth)
        free = np.isin(groups, ("psf", "dead_time", "mosaicity", "scale", "gain"))
        rows = model.jacobian(truth, free)
        for i in np.flatnonzero(free):
            step = 1e-4 * np.eye(model.size)[i]
            slope = (model.image(truth + step) - model.image(truth - step)) / 2e-4
            np.testing.assert_allclose(rows[i], slope, atol=2e-3 * np.abs(slope).max(), err_msg=model.names[i])
        data = np.random.default_rng(7).poisson(expected).astype(float)
        free[groups == "gain"] = free[groups == "scale"] = False
        fit = SpotFit(model, data, boxes.background, boxes.box, boxes.count)
        start = np.where(groups == "scale", truth, 0.0)
        model.ratio = 1.0
        x, image = fit.run(start, free, Known(start, np.full(model.size, np.inf), np.ones(model.size)), 100.0, 12, enough=1e-6)
        sigma = np.sqrt(np.diag(np.linalg.inv(fit.curvature)))
        np.testing.assert_array_less(np.abs(x - truth)[free] / sigma, 4)
        self.assertLess(sigma[np.isin(groups[free], ("psf", "dead_time"))].max(), 0.05)
        self.assertLess(abs(fit.cost(x, image, start, np.full(model.size, np.inf)) / len(data) - 1), 0.1)


def lattice_of(model, matrix, count, random, sphere=0.01):
    """A Fitted with spots of some nodes, and their light by the model's structure factors."""
    hkl = random.permutation(np.stack(np.meshgrid(*[np.arange(-9, 10)] * 3, indexing="ij"), -1).reshape(-1, 3))
    F = model.grid[tuple((hkl + 10).T)]
    hkl = hkl[F > 0][:count]
    light = model.grid[tuple((hkl + 10).T)]**2 * np.exp(random.normal(size=len(hkl)) - 3 * (hkl @ matrix.T)[:, 0]**2)
    detector = Detector(1.0, 0.1, 100.0, (500.0, 500.0))
    fitted = Fitted(matrix, detector, ISOTROPIC, hkl, np.ones(len(hkl), bool), random.normal(scale=0.2, size=(len(hkl), 2)),
                    random.normal(scale=sphere, size=len(hkl)))
    return fitted, Spots(np.zeros((len(hkl), 2)), light, np.ones(len(hkl)), np.zeros((len(hkl), 4)))


def model_of(group, cell, random):
    """A Model whose structure factors have the symmetry of a space group."""
    hkl = np.stack(np.meshgrid(*[np.arange(-10, 11)] * 3, indexing="ij"), -1).reshape(-1, 3).astype(np.int32)
    unit, absent = (_core.to_asymmetric_unit(group, hkl)[i] for i in (1, 4))
    of = np.unique(unit, axis=0, return_inverse=True)[1].reshape(-1)
    grid = np.where(absent, 0, random.rayleigh(100, of.max() + 1)[of]).reshape(21, 21, 21)
    return Model("", np.array(cell, float), _core.indexing_choices(group, cell, 0.0)[0], grid, (-10, -10, -10))


class OfMisfits(unittest.TestCase):
    def test_causes(self):
        """Each cause is told by its share of chi-square."""
        rng, shape, width = np.random.default_rng(3), (240, 240), 1.4
        at = np.array([(x, y) for x in range(20, 230, 25) for y in range(20, 230, 25)], float) + rng.uniform(0, 1, (81, 2))
        slow, fast = np.mgrid[:240, :240] + 0.5

        def light(places, sigma, scale):
            return sum(s * np.exp(-((fast - x)**2 + (slow - y)**2) / 2 / sigma**2) for (x, y), s in zip(places, scale))

        flat, one = np.full(shape, 5.0), np.full(81, 500.0)
        for cause, data, model in (("away from their reflections", light(at + (0.4, 0), width, one), light(at, width, one)),
                                   ("differ from their profiles", light(at, 1.7, one), light(at, width, one)),
                                   ("intensities differ", light(at, width, one * rng.uniform(0.5, 1.5, 81)), light(at, width, one))):
            photons = rng.poisson(data + flat).astype(float)
            boxes = Boxes.around(at, 7, photons, photons >= 0, flat)
            boxes = boxes.with_reflections(np.column_stack([boxes.box, 0 * boxes.box, 0 * boxes.box]))
            boxes.panel = 0 * boxes.box
            image = model[tuple(boxes.rows.T)]
            own = image * (boxes.sums(data[tuple(boxes.rows.T)]) / boxes.sums(image))[boxes.box]
            result = types.SimpleNamespace(image=image if "intensities" in cause else own, light=own, unseen=0, rms_px=0.4, lattices=[types.SimpleNamespace(matrix=np.eye(3))])
            detector = types.SimpleNamespace(scattering_vectors=lambda at: np.ones((len(at), 3)))
            still = types.SimpleNamespace(explained=result, of=np.zeros(81, int), boxes=boxes, spots=81, shape=shape,
                                          fitted=types.SimpleNamespace(detector=detector), found=types.SimpleNamespace(at=at))
            (most, why), *others = causes(still, boxes, 81)
            self.assertIn(cause, why)
            self.assertGreater(most, 1.5 * max((amount for amount, _ in others), default=0), (cause, others))


class OfIndices(unittest.TestCase):
    def test_choices_that_a_lattice_allows(self):
        for group, cell, count in (("P 1", (50, 55, 62, 82, 97, 108), 1), ("C 1 2 1", (75, 52, 61, 90, 113, 90), 1),
                                   ("P 41 21 2", CELL, 1), ("P 41", CELL, 2), ("P 1 2 1", (40, 60, 90, 90, 90.1, 90), 2),
                                   ("P 3", (55, 55, 71, 90, 90, 120), 4), ("P 6", (58, 58, 75, 90, 90, 120), 2),
                                   ("I 2 3", (78, 78, 78, 90, 90, 90), 2), ("P 2 2 2", (50, 50.15, 50.3, 90, 90, 90), 6),
                                   ("R 3 :H", (75, 75, 92, 90, 90, 120), 8), ("R 3 :H", (75, 75, 120, 90, 90, 120), 2)):
            choices = Model("", np.array(cell, float), group).choices()
            self.assertEqual(len(choices), count, group)
            np.testing.assert_array_equal(choices[0], np.eye(3))
        with self.assertRaisesRegex(nb.FileError, "no space group 'P 5'"):
            _core.indexing_choices("P 5", CELL, 1.0)
        import gemmi
        for group in gemmi.spacegroup_table_itb():
            with self.subTest(group.xhm()):
                self.assertEqual(_core.indexing_choices(group.hall, CELL, 0.0)[0], group.hall)

    def test_light_tells_the_choice(self):
        random = np.random.default_rng(3)
        for group, cell in (("P 41", CELL), ("R 3 :H", (75, 75, 120, 90, 90, 120))):
            model = model_of(group, cell, random)
            choices, known = model.choices(), by_model(model)
            one, spots = lattice_of(model, np.linalg.inv(real_basis(np.array(cell))).T, 300, random)
            other = dataclasses.replace(one, hkl=np.rint(one.hkl @ np.linalg.inv(choices[1])).astype(int), matrix=one.matrix @ choices[1].T)
            for lattice, right in ((one, 0), (other, 1)):
                candidates = Candidates(lattice, choices, spots, model.system)
                best, margin = chosen(candidates.likelihoods(map(known, candidates.hkl)))
                self.assertEqual(best, right, group)
                self.assertGreater(margin, 5)
                np.testing.assert_allclose(candidates.lattices[best].matrix, one.matrix)
                np.testing.assert_array_equal(candidates.lattices[best].hkl, one.hkl)
            # A rhombohedral lattice whose indices are those of the reverse setting.
            reverse = dataclasses.replace(one, hkl=one.hkl * (-1, -1, 1), matrix=one.matrix * (-1, -1, 1))
            back = in_setting(reverse, spots, model)
            self.assertEqual(bool((back.hkl == reverse.hkl).all()), group == "P 41")
            # Light of no crystal tells nothing, and resolution that light and model have in common does not either.
            spots.light = random.permutation(spots.light)
            self.assertLess(abs(Light.of_spots(one, spots.light).agreement(known(one.hkl))), 4)
            self.assertLess(abs(Light.of_spots(one, np.exp(-50 * (one.hkl @ one.matrix.T)[:, 0]**2)).agreement(-50 * ((one.hkl @ one.matrix.T)**2).sum(axis=1))), 4)

    def test_rhombohedral_stills_have_allowed_indices(self):
        """Places of spots are the same by the indices of the reverse setting, which half of all searches end with."""
        group, cell, shape = "R 3 2:H", (64, 64, 81, 90, 90, 120), 600
        hkl = _core.to_asymmetric_unit(group, np.stack(np.meshgrid(*[np.arange(-20, 21)] * 3, indexing="ij"), -1).reshape(-1, 3))
        hkl = np.unique(hkl[1][~hkl[4].astype(bool)], axis=0)
        random = np.random.default_rng(6)
        with tempfile.TemporaryDirectory() as folder:
            model, *images = (os.path.join(folder, name) for name in ("model.mtz", *(f"{k}.cbf" for k in range(4))))
            with open(model, "wb") as file:
                file.write(_core.mtz(group, list(map(float, cell)), 1.0, [("F", "F"), ("SIGF", "Q")],
                                     np.column_stack([hkl, random.rayleigh(300, len(hkl)), np.ones(len(hkl))])))
            for image in images:
                sim = nb.Simulator.from_flags(["-hkl", model, "-N", "25", "-gauss_xtal", "-mosaic", "0.2", "--average=closed", "-fluence", "3e25", "-lambda", "1",
                                               "-distance", str(DISTANCE + DEPTH), "-detpixels", str(shape), "-pixel", "0.172",
                                               "-misset", *map(str, random.uniform(-180, 180, 3))])
                write_cbf(image, random.poisson(sim.image() + 1), DISTANCE, (shape / 2, shape / 2))
            for still in index(images, model, workers=1, pixels=False):
                self.assertGreater(still.indexed, 0.9 * still.spots)
                self.assertFalse(absent(group, still.fitted.hkl[still.fitted.indexed]).any())

    def test_pixels_tell_what_parts_of_reflections_hide(self):
        """Light of a sharp crystal, whose parts on the sphere differ by more than its intensities."""
        random = np.random.default_rng(4)
        model = model_of("P 21 21 21", (45, 58, 71, 90, 90, 90), random)
        one, spots = lattice_of(model, np.linalg.inv(real_basis(model.cell)).T, 60, random)
        known, still = by_model(model)(one.hkl), Still(0, "", lattices=[one], found=spots)
        spots.light = spots.light * random.exponential(size=60)**4
        _compare_light([still], model)
        before = still.alike
        for logs, right in ((random.normal(0, 0.1, 60), True), (random.permutation(known) - known, False)):
            still.alike, ratio = before, np.exp(logs)
            still.explained = types.SimpleNamespace(hkl=one.hkl, ratio=ratio, precision=1e4 / ratio**2, lattices=[one], sigma=np.ones(20))
            compare_fit(still, model)
            (self.assertGreater if right else self.assertLess)(still.alike, 10 if right else 4)

    def test_stills_agree_without_a_model(self):
        """Twenty stills of a crystal of four choices, each with a tenth of all reflections."""
        random = np.random.default_rng(5)
        model = model_of("P 3", (55, 55, 71, 90, 90, 120), random)
        choices, lattices, turned = model.choices(), [], random.integers(0, 4, 20)
        for turn in turned:
            one, spots = lattice_of(model, np.linalg.inv(real_basis(model.cell)).T, 300, random)
            one = dataclasses.replace(one, hkl=np.rint(one.hkl @ np.linalg.inv(choices[turn])).astype(int),
                                      matrix=one.matrix @ choices[turn].T)
            lattices.append(Candidates(one, choices, spots, model.system))
        found = by_each_other(lattices, model.hall)
        # All of them, up to a choice that is common.
        first = lattices[0].lattices[found[0][0]].matrix
        unit = lambda hkl: _core.to_asymmetric_unit(model.hall, hkl.astype(np.int32))[1]
        some = random.integers(-9, 10, (20, 3))
        for one, (best, margin) in zip(lattices, found):
            same = np.rint(np.linalg.inv(one.lattices[best].matrix) @ first).astype(int)
            np.testing.assert_array_equal(unit(some @ same.T), unit(some))
            self.assertGreater(margin, 2)


class OfFurtherLattices(unittest.TestCase):
    def test_one_without_spots_of_its_own_is_none(self):
        """Tails of a crystal's spots make no second crystal of spots that are the first one's."""
        spots = Spots(np.zeros((100, 2)), np.ones(100), np.ones(100), np.zeros((100, 4)))
        lattice = lambda turn, which: Fitted(rotation(np.array([0, 0, turn])) / 50, None, ISOTROPIC, indexed=np.isin(np.arange(100), which),
                                             off=np.zeros((100, 2)), missing=np.zeros(100))
        first = lattice(0.0, range(90))
        for own, count, chance in (((*range(60, 90), *range(90, 98)), 1, 0), (range(70, 98), 1, 0), (range(84, 98), 2, 0), (range(80, 98), 1, 100)):
            other = lattice(0.5, own)
            without = lattice(0.0, sorted({*range(90)} - {*own}))
            with mock.patch.object(_lattices, "orientation", side_effect=[first, other, _lattices.Rejected("")]), \
                    mock.patch.object(_lattices, "assign", side_effect=lambda one, *_, **more: one), \
                    mock.patch.object(_lattices, "refit", side_effect=lambda *_: [without, other]), \
                    mock.patch.object(_lattices, "_by_chance", return_value=chance):
                self.assertEqual(len(_lattices.lattices_of(spots, [None], mock.Mock(cell=(50, 50, 50, 90, 90, 90)), 3)), count)

    def test_an_axis_along_the_beam(self):
        """Nodes of a long axis near the beam are dense: an orientation that is off by a degree takes
        the next node in a part of the image, and fits as many spots, a pixel off."""
        random, cell = np.random.default_rng(0), np.array([57.9, 57.9, 150.2, 90, 90, 90])
        model, detector = Model("", cell, _core.indexing_choices("P 41 21 2", cell.tolist(), 0.0)[0]), Detector(1.0, 0.172, 200.0, (500.0, 500.0))
        turn = rotation(np.radians([3.0, -5.0, 0.0])) @ rotation(np.array([0, 0, 0.7]))
        truth = Fitted(turn @ np.linalg.inv(real_basis(cell * (1.0008, 1.0008, 0.999, 1, 1, 1))).T, Detector(1.0, 0.172, 200.3, (501.0, 501.0)), ISOTROPIC)
        at = near_sphere(truth, (1000, 1000), np.radians(0.22))
        at = at[random.random(len(at)) < 0.6] + random.normal(scale=0.15, size=(1, 2))
        spots = Spots(at, random.exponential(1000, len(at)), np.full(len(at), 5), np.zeros((len(at), 4), int))
        for axis in np.eye(3)[:2]:
            begun = rotation(np.radians(1.6) * axis) @ turn, 1.0, 0.45, np.zeros(3)
            with mock.patch.object(_lattices, "orient", return_value=begun):
                found = _lattices.orientation(spots, [detector], model)
            same = np.linalg.inv(truth.matrix) @ found.matrix
            np.testing.assert_allclose(same, np.rint(same), atol=0.012)

    def test_three_of_a_dense_pattern(self):
        """Four in ten spots are near reflections of any lattice, so that two thirds of the spots of
        the third one are near another's, too."""
        random, cell = np.random.default_rng(3), np.array([104.2, 73.6, 122.6, 90, 90, 90])
        model, detector = Model("", cell, _core.indexing_choices("I 2 2 2", cell.tolist(), 0.0)[0]), Detector(0.963, 0.172, 99.8, (500.0, 500.0))
        at = []
        for part in (0.35, 0.3, 0.15):
            truth = Fitted(rotation(random.normal(size=3)) @ np.linalg.inv(real_basis(cell)).T, detector, ISOTROPIC)
            places = near_sphere(truth, (1000, 1000), np.radians(0.25))
            at.append(places[random.random(len(places)) < part])
        at = np.concatenate(at) + random.normal(scale=0.15, size=(sum(map(len, at)), 2))
        spots = Spots(at, random.exponential(1000, len(at)), np.full(len(at), 5), np.zeros((len(at), 4), int))
        self.assertEqual(len(_lattices.lattices_of(spots, [detector], model, 3)), 3)

    def test_pieces_of_a_spot_and_spots_of_one_pixel(self):
        matrix, detector = rotation(np.array([0.1, 0.2, 0.3])) / 50, Detector(1.0, 0.1, 100.0, (500.0, 500.0))
        lattice = Fitted(matrix, detector, ISOTROPIC)
        at = near_sphere(lattice, (1000, 1000), np.radians(0.5))[::7]
        pieces = Spots(np.concatenate([at, at[:3] + (0, 5)]), np.append(np.full(len(at), 300.0), [100.0] * 3), np.full(len(at) + 3, 4),
                       np.tile([10, 12, 20, 22], (len(at) + 3, 1)))
        pieces.boxes[-3:, 3] = 27
        whole = without_pieces(pieces, assign(lattice, pieces.at, 2.5, lattice.reach))
        self.assertEqual(len(whole), len(at))
        brighter = whole.light == 400
        np.testing.assert_allclose(sorted(whole.at[brighter].tolist()), sorted((at[:3] + (0, 1.25)).tolist()))
        self.assertEqual(whole.boxes[brighter].tolist(), [[10, 12, 20, 27]] * 3)
        self.assertTrue((whole.pixels[brighter] == 8).all())
        # Pieces of arcs are farther off along their ring, and no farther across it.
        away = at - 500.5
        along = away[:, ::-1] * (-1, 1) / np.linalg.norm(away, axis=1)[:, None]
        outer = np.linalg.norm(away, axis=1) > 300
        for direction, count in ((4 * along, outer.sum()), (2 * along[:, ::-1] * (1, -1), 0)):
            found = assign(lattice, at + direction, 2.5, np.radians(2), arc=np.radians(1.0)).indexed
            self.assertGreaterEqual(found[outer].sum(), 0.9 * count)
            self.assertLessEqual(found[outer].sum(), count + 0.1 * outer.sum())
        hot = np.zeros((1000, 1000), bool)
        hot[tuple(np.floor(at[:6, ::-1]).astype(int).T)] = True
        hot[0, 0] = True
        self.assertEqual(sharp_spots(hot, lattice).sum(), 6)
        self.assertFalse(sharp_spots(np.roll(hot, 10, 1), lattice).any(), "hot pixels anywhere are no spots")


class OfSmallCells(unittest.TestCase):
    def test_few_spots_at_low_angles(self):
        """A molecule's crystal, one of whose spots is within 4 A."""
        random, cell = np.random.default_rng(2), np.array([8.1, 11.3, 14.2, 90, 104, 90])
        model, detector = Model("", cell, _core.indexing_choices("P 1 21 1", cell.tolist(), 0.0)[0]), Detector(0.7, 0.12, 60.0, (500.0, 500.0))
        truth = Fitted(rotation(random.normal(size=3)) @ np.linalg.inv(real_basis(cell)).T, detector, ISOTROPIC)
        at = near_sphere(truth, (1000, 1000), np.radians(0.3)) + random.normal(scale=0.2)
        self.assertLess((np.linalg.norm(detector.scattering_vectors(at), axis=1) < 0.25).sum(), 10)
        spots = Spots(at, random.exponential(1000, len(at)), np.full(len(at), 5), np.zeros((len(at), 4), int))
        found, = _lattices.lattices_of(spots, [detector], model, 1)
        self.assertGreater(found.indexed.sum(), 0.9 * len(at))


class OfPlaces(unittest.TestCase):
    def test_what_neighbours_foretell(self):
        random = np.random.default_rng(5)
        direction = random.normal(size=(600, 3)) * (1, 1, 0.1)
        direction /= np.linalg.norm(direction, axis=1)[:, None]
        angle = np.radians(random.uniform(-0.3, 0.3, 600))
        around = np.arctan2(direction[:, 1], direction[:, 0])
        noise = 0.1 * random.normal(size=(600, 2))
        both, by_direction, by_angle = foretold(np.sin(2 * around + angle / np.radians(0.1))[:, None] * (1, 0.5) + noise, direction, angle)
        self.assertGreater(both, 0.7)
        self.assertLess(max(by_direction, by_angle), 0.2)
        both, by_direction, by_angle = foretold(np.sin(2 * around)[:, None] * (1, 0.5) + noise, direction, angle)
        self.assertGreater(by_direction, 0.8)
        self.assertLess(by_angle, 0.1)
        self.assertLess(max(foretold(noise, direction, angle)), 0.05)


class OfGeometry(unittest.TestCase):
    def test_rings_of_a_swung_detector_are_no_circles(self):
        """Sharp rings in the scattering angle, on a detector that is swung by 30 degrees."""
        shape, truth = (500, 600), Detector.turned(1.0, 0.172, 100.0, (300.0, 250.0), (np.radians(-30), 0.0))
        slow, fast = np.mgrid[:500, :600] + 0.5
        q = truth.scattering_vectors(np.column_stack([fast.ravel(), slow.ravel()]))
        angle = np.degrees(2 * np.arcsin(np.linalg.norm(q, axis=1) / 2)).reshape(shape)
        light = 4 + sum(30 * np.exp(-((angle - ring) / 0.4)**2) for ring in (20, 30, 40))
        photons = np.random.default_rng(6).poisson(light).astype(float)
        there = np.ones(shape, bool)
        chi2 = Background(photons, there, truth.radii(shape)).chi2(photons)
        self.assertLess(abs(chi2 - 1), 0.1)
        circles = np.hypot(fast - truth.centre[0], slow - truth.centre[1])
        self.assertGreater(Background(photons, there, circles).chi2(photons), 1.15)
        # Near the beam, and on a detector across it, radii are those of circles.
        across = Detector(1.0, 0.172, 200.0, (300.0, 250.0))
        np.testing.assert_allclose(across.radii(shape), np.hypot(fast - 300, slow - 250), rtol=1e-4)

    def test_scattering_vectors_are_where_they_meet(self):
        detector = Detector(1.0, 0.172, 150.0, (300.5, 280.25), (0.01, -0.02), 0.45, 0.26)
        at = np.random.default_rng(3).uniform(0, 600, (50, 2))
        s0 = np.array([0, 0, -1.0])
        back = detector.meet(detector.scattering_vectors(at) + s0)
        np.testing.assert_allclose(back, at, atol=2e-2)  # parallax at the place itself, to first order

    def test_a_distortion_that_stills_share_is_found(self):
        random, shape = np.random.default_rng(5), (1024, 1000)
        at = random.uniform(0, 1, (2000, 2)) * shape[::-1]
        x, y = (2 * at / shape[::-1] - 1).T
        field, still = np.column_stack([0.5 * (1.5 * y**2 - 0.5), 0.8 * (2.5 * x**3 - 1.5 * x)]), np.arange(2000) % 6
        noise, photons = random.normal(0, 0.3, (2000, 2)), np.full(2000, 1000.0)
        wrong = random.random(2000) < 0.1
        noise[wrong] *= 8
        begin = Modules.of_gaps(np.zeros(shape, bool))
        self.assertFalse(begin.fitted(at, noise, photons, still, True).distortion)
        self.assertFalse(begin.fitted(at, 0.05 * (field + noise), photons, still, True).distortion)  # is worth nothing
        modules = begin.fitted(at, field + noise, photons, still, True)
        np.testing.assert_allclose(modules.off(at), field, atol=0.15)
        self.assertLess((modules.off(at) - field).std(), 0.05)
        again = modules.fitted(at, field - modules.off(at) + noise, photons, still, True)
        np.testing.assert_allclose(again.off(at), modules.off(at), atol=0.02)
        np.testing.assert_allclose(modules.steps()[modules.step(at)], modules.off(at), atol=0.2)
        # A single still tells it, too: to one part of its spots by the others.
        some = slice(0, 500)
        lattice = types.SimpleNamespace(detector=Detector(1.0, 0.08, 57.0, (510.0, 500.0), modules=begin), indexed=np.ones(500, bool),
                                        off=-(field + noise)[some])
        alone = _modules([Still(0, "", found=Spots(at[some], photons[some], *np.zeros((2, 500), int)), lattices=[lattice])])
        self.assertLess((alone.off(at) - field).std(), 0.1)
        detector = Detector(1.0, 0.08, 57.0, (510.0, 500.0), modules=modules)
        back = detector.meet(detector.scattering_vectors(at) + np.array([0, 0, -1.0]))
        np.testing.assert_allclose(back, at, atol=0.03)

    def test_all_reflections_near_the_sphere_are_predicted(self):
        detector = Detector(1.0, 0.172, 90.0, (150.0, 160.0), (0.02, 0.0))
        fitted = Fitted(np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0] / [31, 40, 52], detector, ISOTROPIC)
        sphere = np.radians(0.5)
        at = near_sphere(fitted, (310, 300), sphere)
        hkl = np.stack(np.meshgrid(*[np.arange(-30, 31)] * 3, indexing="ij"), -1).reshape(-1, 3)
        places, missing = predict(fitted.matrix, hkl[hkl.any(axis=1)], detector)
        on = (np.abs(missing) < sphere) & (places >= 0).all(axis=1) & (places < [300, 310]).all(axis=1)
        self.assertGreater(on.sum(), 50)
        np.testing.assert_allclose(np.sort(at, axis=0), np.sort(places[on], axis=0))

    def test_two_theta_is_found(self):
        """A header says how far the detector is turned, and not about which axis; its distance is 0.3 % off."""
        read = DiffractionImage("x", np.ones((1000, 900)), 1.0, 150.5, (450.0, 500.0), 0.172, two_theta=30.0)
        for tilts in ((0.0, np.radians(30)), (-np.radians(30), 0.0)):
            truth = Detector.turned(1.0, 0.172, 150.0, (450.0, 500.0), tilts)
            # The plane's nearest place is where the beam would meet it if nothing were turned.
            fast, slow, normal = truth.axes()
            foot = truth.corner() + 0.172 * (450 * fast + 500 * slow)
            np.testing.assert_allclose(foot, 150.0 * normal, atol=1e-9)
            cell = np.array((57.8, 57.8, 150.1, 90, 90, 90))
            turn = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
            matrix = np.linalg.det(turn) * turn @ np.linalg.inv(real_basis(cell)).T
            hkl = np.stack(np.meshgrid(*[np.arange(-40, 41)] * 3, indexing="ij"), -1).reshape(-1, 3)
            hkl = hkl[np.linalg.norm(hkl @ matrix.T, axis=1) < 0.45]
            at, missing = predict(matrix, hkl[hkl.any(axis=1)], truth)
            at = at[(np.abs(missing) < 4e-3) & (at > 0).all(axis=1) & (at < (900, 1000)).all(axis=1)]
            found = [(orient(d.scattering_vectors(at), np.ones(len(at)), cell) or (None, 1, 0, 0), d)
                     for d in detectors_of(read)]
            (turn, scale, part, _), best = max(found, key=lambda one: one[0][2])
            np.testing.assert_allclose(best.tilts, tilts)
            best.distance *= scale
            start = Fitted(turn @ np.linalg.inv(real_basis(cell)).T, best, ISOTROPIC)
            spots = Spots(at, np.ones(len(at)), np.ones(len(at)), np.zeros((len(at), 4)))
            fitted = fit_stages(start, spots, "tetragonal", STAGES)
            self.assertGreater(fitted.indexed.mean(), 0.98)
            self.assertLess(fitted.rms(fitted.indexed), 0.02)
            self.assertLess(abs(fitted.detector.distance - truth.distance), 0.01)

    def test_anisotropic_mosaicity_moves_spots(self):
        matrix = np.diag([1 / 58, 1 / 58, 1 / 110])
        hkl = np.array([[5, 3, 2], [-7, 2, 4], [3, -9, 1]])
        detector = Detector(1.0, 0.172, 150.0, (300, 300))
        alike, missing = predict(matrix, hkl, detector)
        other, same = predict(matrix, hkl, detector, np.array([0.8, 0.0, 0.0, 0.0, 0.0]))
        np.testing.assert_array_equal(missing, same)
        self.assertGreater(np.abs(alike - other).max(), 0.5)

    def test_other_wavelengths_move_spots(self):
        """Where blocks are hardly turned a reflection is where Bragg's law has it at another wavelength."""
        matrix, hkl = rotation(np.array([0.3, 0.1, -0.2])) / 50, np.array([[5, 3, 2], [-7, 2, 4], [3, -9, 1]])
        q = hkl @ matrix.T
        wave = -(q * q).sum(axis=1) / (2 * q[:, 2])  # 1/A, times the beam along -z
        detector = Detector(1.0, 0.1, 100.0, (500.0, 500.0))
        detector.wavelength = 1 / np.median(np.abs(wave))
        ray = q + np.abs(wave)[:, None] * BEAM
        places, _ = predict(matrix, hkl[np.sign(wave) == np.sign(wave[0])], detector, np.array([0, 0, 0, 0, 1e4]))
        np.testing.assert_allclose(places, detector.meet(ray)[np.sign(wave) == np.sign(wave[0])], atol=1e-3)

    def test_any_cell_is_oriented(self):
        """With a third of the spots at random and scattering vectors 1 % too long."""
        random = np.random.default_rng(4)
        for cell in ((57.8, 57.8, 150.1, 90, 90, 90), (79, 79, 38, 90, 90, 90), (40, 62, 71, 90, 104, 90),
                     (50, 55, 62, 82, 97, 108), (92, 92, 130, 90, 90, 120), *[(75, 52, 61, 90, 113, 90)] * 3):
            basis = np.linalg.inv(real_basis(np.array(cell, float))).T
            turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
            turn *= np.sign(np.linalg.det(turn))
            hkl = np.stack(np.meshgrid(*[np.arange(-40, 41)] * 3, indexing="ij"), -1).reshape(-1, 3)
            q = hkl @ (turn @ basis).T
            length = np.linalg.norm(q, axis=1)
            excess = np.linalg.norm(q + [0, 0, -1], axis=1) - 1
            near = (np.abs(excess) < 4e-3 * length) & (length < 0.4) & (length > 0)
            q, excess = q[near], excess[near]
            choice = random.permutation(len(q))[:250]
            q = q[choice] - excess[choice, None] * (q[choice] + [0, 0, -1])
            false = random.normal(size=(80, 3))
            false *= random.uniform(0.05, 0.4, (80, 1)) / np.linalg.norm(false, axis=1)[:, None]
            spots = 1.01 * np.vstack([q, false]) + random.normal(scale=2e-4, size=(len(q) + 80, 3))
            found, scale, part, _ = orient(spots, np.ones(len(spots)), np.array(cell, float))
            self.assertAlmostEqual(scale, 1.01, delta=2e-3, msg=str(cell))
            if cell[0] < 50:  # with the beam 10 pixels of 0.172 mm off at 350 mm
                off = np.array([0.004, -0.003, 0.0])
                *_, shifted, away = orient(spots + off, np.ones(len(spots)), np.array(cell, float), True)
                self.assertGreater(shifted, 0.6, msg=str(cell))
                np.testing.assert_allclose(away, off, atol=1.5e-3, err_msg=str(cell))
                far = q[np.linalg.norm(q, axis=1) > 0.32]  # the detector is far from the beam
                self.assertIsNotNone(orient(far, np.ones(len(far)), np.array(cell, float), True))
            # The same lattice: what turns one into the other maps indices on whole numbers.
            same = np.linalg.inv(turn @ basis) @ found @ basis
            np.testing.assert_allclose(same, np.rint(same), atol=0.02, err_msg=str(cell))


@unittest.skipUnless(os.path.isdir(os.path.join(REAL, "thaumatin")), "skipped: there are no images of ../shared/real")
class OfCysteine(unittest.TestCase):
    """B. Williams, R. Gildea, G. Winter, doi 10.5281/zenodo.51405, CC-BY 4.0."""

    nightly = True
    def test_a_full_header_says_what_dials_refined(self):
        """Within its refinement, which turned two-theta by 0.4 degrees and moved the plane by 1.5 mm."""
        folder = os.path.join(REAL, "l_cysteine")
        detector, = detectors_of(read_image(os.path.join(folder, "l-cyst_01_00001.cbf.gz")))
        panel, = _files.read_experiments(os.path.join(folder, "l_cysteine_dials_output_indexed.expt"))["detector"][0]["panels"]
        fast, slow, _ = detector.axes()
        np.testing.assert_allclose(fast, panel["fast_axis"], atol=0.01)
        np.testing.assert_allclose(slow, panel["slow_axis"], atol=0.01)
        np.testing.assert_allclose(detector.corner(), panel["origin"], atol=2)


@unittest.skipUnless(os.path.isdir(os.path.join(REAL, "thaumatin")), "skipped: there are no images of ../shared/real")
class OfChains(unittest.TestCase):
    def test_turns_come_out(self):
        """Places that err by 0.3 pixels and light by a factor of e; one still has other indices of the same lattice."""
        random, turn = np.random.default_rng(2), np.radians(1.0) * np.array([0.6, 0.8, 0.0])
        model = model_of("P 4", (20.0, 20.0, 26.0, 90, 90, 90), random)
        known = by_model(model)
        first = np.linalg.qr(random.normal(size=(3, 3)))[0] @ np.diag([1 / 19.95, 1 / 19.95, 1 / 26.1])
        truth = Detector(0.9, 0.08, 57.0, (520.0, 500.0))
        begin = dataclasses.replace(truth, centre=(520.4, 499.7))
        every = np.stack(np.meshgrid(*[np.arange(-10, 11)] * 3, indexing="ij"), -1).reshape(-1, 3)
        every = every[every.any(axis=1) & np.isfinite(known(every))]
        lattices, spots, matrices = [], [], []
        for k in range(5):
            matrices.append(rotation(k * turn) @ first)
            at, missing = predict(matrices[-1], every, truth)
            seen = np.abs(missing) < np.radians(1.0)
            hkl, at, missing = every[seen], at[seen] + random.normal(0, 0.3, (seen.sum(), 2)), missing[seen]
            curve = -np.log1p((missing / np.radians(0.15))**2)
            light = np.exp(known(hkl) + curve + random.normal(0, 1, len(at)) + 5)
            spots.append(Spots(at, light, np.ones(len(at)), np.zeros((len(at), 4))))
            off = rotation(random.normal(0, 5e-4, 3)) @ matrices[-1]
            lattices.append(Fitted(off, begin, ISOTROPIC, hkl, np.ones(len(at), bool), np.zeros_like(at), missing))
        other = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
        lattices[3] = dataclasses.replace(lattices[3], hkl=lattices[3].hkl @ other, matrix=lattices[3].matrix @ np.linalg.inv(other).T)
        lattices = alike(lattices, spots, model)
        self.assertLess(np.linalg.norm(between(lattices[2].matrix, lattices[3].matrix)), np.radians(1.2))
        sigmas = []
        for light in (None, known):
            fitted, turns = fit_chain(lattices, spots, "tetragonal", light)
            for found in turns:
                self.assertLess(abs(found.angle - 1), 3.5 * found.sigma)
                self.assertLess(np.linalg.norm(np.radians(found.angle) * found.axis - turn), 4 * np.radians(found.sigma))
            sigmas.append(np.mean([found.sigma for found in turns]))
            np.testing.assert_allclose(fitted[0].detector.centre, truth.centre, atol=0.15)
            self.assertEqual(len({tuple(np.round(cell_of(one.matrix), 6)) for one in fitted}), 1)
        self.assertLess(sigmas[1], 0.8 * sigmas[0])
        np.testing.assert_allclose(next_matrix(matrices[:2]), matrices[2], atol=1e-9)


class OfKinds(unittest.TestCase):
    """Simulated stills of crystals and beams that differ from a protein's at 0.1 degrees."""

    nightly = True
    USUAL = {"cell": (45, 58, 71, 90, 90, 90), "finest": 1.6, "B": 20, "mosaic": 0.12, "bandwidth": 0.05, "divergence": 0.2, "N": 25, "fluence": 2e26,
             "beam": (), "chi2": 1.1, "within": 0.05}
    SHARP = {"mosaic": 0.01, "bandwidth": 0.01, "divergence": 0.05, "N": 200, "chi2": 2}

    def stills(self, seed, group, count=1, **changes):
        """So many stills of one crystal, indexed."""
        how = {**self.USUAL, **changes}
        random, cell = np.random.default_rng(seed), how["cell"]
        with tempfile.TemporaryDirectory() as folder:
            model, *images = (os.path.join(folder, name) for name in ("model.mtz", *(f"still_{k}.cbf" for k in range(count))))
            hkl = np.stack(np.meshgrid(*(np.arange(int(edge / how["finest"]) + 1) for edge in cell[:3]), indexing="ij"), -1).reshape(-1, 3)
            squares = ((hkl / np.array(cell[:3]))**2).sum(axis=1)
            hkl, squares = (one[(squares > 0) & (squares < how["finest"]**-2)] for one in (hkl, squares))
            F = np.sqrt(random.exponential(size=len(hkl))) * 400 * np.sqrt(np.prod(cell[:3]) / 1e5) * np.exp(-how["B"] * squares / 4)
            with open(model, "wb") as file:
                file.write(_core.mtz(group, list(map(float, cell)), 1.0, [("F", "F"), ("SIGF", "Q")], np.column_stack([hkl, F, 0.01 * F])))
            for number, image in enumerate(images):
                subprocess.run([sys.executable, "-m", "nanobragg.simulate", "-hkl", model, "-seed", str(seed + 100 * number), "-mosaic", str(how["mosaic"]), f"--bandwidth-sigma={how['bandwidth']}",
                                "-divergence_sigma", str(how["divergence"]), "-lambda", "1", "-N", str(how["N"]), "-distance", "110", "-gauss_xtal",
                                "--average=closed", "-water", "0.2", "-polar", "0.99", "-detpixels", "1000", "-pixel", "0.12", "-fluence",
                                str(how["fluence"]), "-misset", *map(str, random.uniform(-180, 180, 3)), "-nopgm", "--quiet", *how["beam"],
                                f"--cbf={image}"], check=True, cwd=folder)
            found = index(images, model, workers=1)
        for still in found:
            self.assertEqual(len(still.lattices), 1)
            self.assertIsNotNone(still.explained, still.why)
        return found

    def test_all_are_explained(self):
        small = {"cell": (8.1, 11.3, 14.2, 90, 90, 90), "finest": 0.7, "B": 1, "N": 120, "fluence": 1e25, "beam": ("-lambda", "0.7", "-distance", "60")}
        for name, changes in {"small": small, "weak": {"fluence": 6e24}, "faint": {"fluence": 3e23, "within": 0.15}, "dark": {"fluence": 1.2e25, "mosaic": 0.3, "divergence": 0.5, "beam": ("-distance", "190")}, "pink": {"bandwidth": 1, "fluence": 4e26}, "wide": {"mosaic": 0.9, "fluence": 4e26, "within": 0.15},
                              "corner": {"beam": ("-Xbeam", "10", "-Ybeam", "15")},
                              "sharp": self.SHARP}.items():
            for seed in (3, 5):
                with self.subTest(name, seed=seed):
                    still, = self.stills(seed, "P 21 21 21", **changes)
                    self.assertEqual(verdict(still)[0], "good")
                    self.assertGreater(still.indexed, 0.8 * still.spots)
                    self.assertLess(still.rms_px, 0.5)
                    how = {**self.USUAL, **changes}
                    self.assertLess(still.explained.chi2, how["chi2"])
                    self.assertGreater(still.explained.chi2, 0.85)
                    self.assertAlmostEqual(still.explained.lattices[0].mosaicity / how["mosaic"], 1, delta=how["within"])

    def test_sharp_spots_of_millions_of_photons(self):
        """From the moments of spots, which are up to 0.4 pixels off, to pixels that agree to their
        noise; and the distance that the stills share is not known well enough for these."""
        stills = self.stills(11, "P 21 21 21", count=6, **self.SHARP)
        self.assertLess(np.median([still.explained.chi2 for still in stills]), 2)
        for still in stills:
            self.assertTrue(still.shared)
            self.assertLess(still.explained.chi2_profiles, 3)
            self.assertAlmostEqual(still.explained.lattices[0].mosaicity / 0.01, 1, delta=0.05)


class OfThaumatin(unittest.TestCase):
    """Stills of the staff of DLS I24 (2019), data repository of DIALS, CC-BY 4.0."""

    nightly = True
    MODEL = os.path.join(REAL, "models", "thaumatin_dimple.pdb")

    def test_a_still_is_explained(self):
        """By the structure factors of the model; with one set of blocks it ends at 3 and more."""
        still, = index([os.path.join(REAL, "thaumatin", "thau_3_2_0013.cbf.bz2")], self.MODEL)
        self.assertIsNotNone(still.explained, still.why)
        self.assertLess(still.explained.chi2, 3)
        self.assertLess(still.explained.chi2_profiles, 2)
        self.assertLess(still.rms_px, 0.5)
        self.assertTrue(345.5 < still.distance_mm < 347)
        self.assertGreater(still.explained.lattices[0].sets, 1)

    def test_stills_are_indexed(self):
        names = [os.path.join(REAL, "thaumatin", f"thau_3_2_{n:04}.cbf.bz2") for n in (1, 5, 13, 17)]
        *stills, empty = index(names, self.MODEL, pixels=False)
        self.assertEqual(empty.status, "rejected")
        for still in stills:
            with self.subTest(still.image):
                self.assertEqual(still.status, "indexed", still.why)
                self.assertGreater(still.indexed, 0.85 * still.spots)
                self.assertTrue(345.5 < still.distance_mm < 348)
                self.assertLess(still.rms_px, 0.85)
                self.assertLess(abs(still.chi2_background - 1), 0.1)
        # The start that was made by hand, to equivalent indices.
        given = _files.read_experiments(os.path.join(REAL, "thaumatin", "start_frame05.expt"))["crystal"][0]
        real = np.array([given[f"real_space_{n}"] for n in "abc"])
        same = real @ stills[1].fitted.matrix
        np.testing.assert_allclose(same, np.rint(same), atol=0.02)
        self.assertAlmostEqual(abs(np.linalg.det(np.rint(same))), 1)


def nearest_rotation(matrix):
    """Without the strain between two cells, which changes the trace by more than some degrees do."""
    left, _, right = np.linalg.svd(matrix)
    return left @ right


@unittest.skipUnless(os.path.isdir(os.path.join(REAL, "snase")), "skipped: there are no images of ../shared/real")
class OfNuclease(unittest.TestCase):
    """Stills of staphylococcal nuclease in P 41 on a CCD, two degrees apart: M. Wall, data repository of lunus, BSD-3."""

    nightly = True

    def test_all_stills_have_the_same_choice_of_indices(self):
        """By F of the model, and by each other: the crystal is turned by two degrees from each to the next."""
        folder = os.path.join(REAL, "snase")
        images = [os.path.join(folder, f"snc_newhead_{n:05}.img.bz2") for n in range(1, 24, 2)]
        alike = [np.linalg.matrix_power(np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]), n) for n in range(4)]
        for model, sure in ((os.path.join(folder, "1stn_atoms.pdb"), 3.5), ("48.5 48.5 63.5 90 90 90 P 41", 0.0)):
            stills = index(images, model, pixels=False)
            for one, other in zip(stills, stills[1:]):
                turns = [nearest_rotation(other.fitted.matrix @ turn @ np.linalg.inv(one.fitted.matrix)) for turn in alike]
                self.assertLess(min(abs(np.degrees(np.arccos((np.trace(turn) - 1) / 2)) - 2) for turn in turns), 0.5)
            self.assertGreater(min(still.margins[0] for still in stills), sure)
            self.assertEqual({len(still.lattices) for still in stills}, {1})

    def test_the_angles_of_a_chain(self):
        images = [os.path.join(REAL, "snase", f"snc_newhead_{n:05}.img.bz2") for n in range(1, 24, 2)]
        stills = index(images, os.path.join(REAL, "snase", "1stn_atoms.pdb"), pixels=False, chain=True)
        angles = np.array([still.turn.angle for still in stills[1:]])
        self.assertLess(np.abs(angles - 2).max(), 0.04)
        self.assertLess(abs(angles.mean() - 2), 0.005)
        self.assertGreater(min(still.margins[0] for still in stills), 20)
        self.assertLess(max(still.rms_px for still in stills), 0.7)


if __name__ == "__main__":
    unittest.main()
