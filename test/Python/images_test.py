"""Images of many formats: what is taken from their headers, and that nb-refine indexes them."""

import importlib.util
import json
import os
import struct
import sys
import tempfile
import unittest

import numpy as np

from common import load_tests  # noqa: F401

for needed in ("scipy", "msgpack", "h5py", "fabio"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

import h5py
from fabio.bruker100image import Bruker100Image
from fabio.dtrekimage import DtrekImage
from fabio.edfimage import EdfImage
from fabio.OXDimage import OXDimage
from fabio.TiffIO import TiffIO

import refine_index_test
from refine_index_test import DEPTH, DISTANCE, begun_nexus, simulated, write_cbf, write_model

import nanobragg as nb
from nanobragg.refine import index
from nanobragg.refine._images import described, read_image
from nanobragg.refine._stated_geometry import Geometry
from nanobragg.refine._still_search import detectors_of

PIXEL = 0.172
FIRST, PIXELS = 170, 360  # a part of the image of refine_index_test: fewer spots are indexed sooner
CENTRE = tuple(place - FIRST for place in refine_index_test.CENTRE)
STANDS = DISTANCE + DEPTH  # mm, of detectors whose files do not say how thick their sensors are


def write_smv(path, image, lines, kind="<u2"):
    text = "".join(f"{key}={value};\n" for key, value in lines.items())
    with open(path, "wb") as file:
        file.write(f"{{\nHEADER_BYTES=1024;\nDIM=2;\nBYTE_ORDER=little_endian;\nSIZE1={image.shape[1]};\nSIZE2={image.shape[0]};\n{text}}}\f"
                   .ljust(1024).encode() + image.astype(kind).tobytes())


def adsc(path, image):
    write_smv(path, image, {"TYPE": "unsigned_short", "PIXEL_SIZE": PIXEL, "DISTANCE": STANDS, "WAVELENGTH": 1, "TIME": 2, "OSC_START": 5, "OSC_RANGE": 0.1,
                            "BEAM_CENTER_X": PIXEL * CENTRE[1], "BEAM_CENTER_Y": PIXEL * CENTRE[0]})


def rigaku(path, image):
    header = {"DETECTOR_NAMES": "D_", "D_SPATIAL_DISTORTION_INFO": f"{CENTRE[0]} {CENTRE[1]} {PIXEL} {PIXEL}", "SCAN_WAVELENGTH": "1.0",
              "D_GONIO_NAMES": "RotZ RotX/Swing RotY TransX TransY TransZ/Dist", "D_GONIO_VALUES": f"0 0 0 0 0 {STANDS}",
              "ROTATION": "5 5.1 0.1 2 0 0 0 0 0 0", "SATURATED_VALUE": "1048512"}
    DtrekImage(data=image.astype("i4"), header=header).write(path)


def mar(path, image):
    """A TIFF of one tag list, Rayonix' header at byte 1024 and pixels at 4096; numbers are 10 larger than photons."""
    size = image.shape[0]
    tags = [(256, 3, size), (257, 3, size), (258, 3, 16), (259, 3, 1), (262, 3, 1), (273, 4, 4096), (277, 3, 1), (278, 3, size), (279, 4, 2 * size * size)]
    head = bytearray(struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags))
    head += bytes(4096 - len(head))
    for at, value in ((80, size), (84, size), (88, 2), (104, 65535), (640, round(1000 * STANDS)), (644, round(1000 * CENTRE[0])),
                      (648, round(1000 * CENTRE[1])), (656, 2000), (772, round(1e6 * PIXEL)), (776, round(1e6 * PIXEL)), (780, 10000), (908, 100000)):
        struct.pack_into("<i", head, 1024 + at, value)
    with open(path, "wb") as file:
        file.write(bytes(head) + (image + 10).astype("<u2").tobytes())


def bruker(path, image):
    header = {"DETTYPE": f"CCD-TEST {10 / PIXEL * 512 / PIXELS:.6f} 0", "DISTANC": f"{STANDS / 10:.5f} {STANDS / 10:.5f}", "WAVELEN": "1.0 1.0 1.0",
              "CENTER": "0 0 {:.2f} {:.2f}".format(*CENTRE), "ANGLES": "0.0 0.0 0.0 54.7", "CUMULAT": "2.0", "START": "5", "INCREME": "0.1"}
    Bruker100Image(data=image.astype("i4"), header=header).write(path)


def oxford(path, image):
    header = {"Distance in mm": STANDS, "Beam center x": CENTRE[0], "Beam center y": CENTRE[1], "Wavelength alpha": 1.0, "Exposure time in sec": 2.0,
              "Real pixel size x (mm)": PIXEL, "Real pixel size y (mm)": PIXEL}
    OXDimage(data=image.astype("i4"), header=header).write(path)


def esrf(path, image):
    header = {"SampleDistance": f"{STANDS / 1000} m", "PSize_1": f"{PIXEL / 1000} m", "PSize_2": f"{PIXEL / 1000} m", "Center_1": CENTRE[0],
              "Center_2": CENTRE[1], "WaveLength": "1e-10", "ExposureTime": "2.0"}
    EdfImage(data=image.astype("u2"), header=header).write(path)


def pilatus_tiff(path, image):
    lines = (f"# Pixel_size 172e-6 m x 172e-6 m\r\n# Silicon sensor, thickness 0.000320 m\r\n# Exposure_time 2.0 s\r\n# Count_cutoff 100000 counts\r\n"
             f"# Wavelength 1.0 A\r\n# Detector_distance {DISTANCE / 1000} m\r\n# Beam_xy ({CENTRE[0]}, {CENTRE[1]}) pixels\r\n")
    TiffIO(path, "wb+").writeImage(image.astype("i4"), info={"imageDescription": lines})


def dectris(path, image):
    """A master and its data file; 65535 in pixels that are none."""
    data = f"{path[:-len('_master.h5')]}_data_000001.h5"
    stored = image.astype("u2")
    stored[20:24] = 65535
    with h5py.File(data, "w") as file:
        file.create_dataset("entry/data/data", data=stored[None], chunks=(1, *image.shape), compression="gzip", compression_opts=1)
    with h5py.File(path, "w") as file:
        _, detector = begun_nexus(file, image)
        del file["entry/data/data"]
        file["entry/data/data_000001"] = h5py.ExternalLink(os.path.basename(data), "/entry/data/data")
        file["entry/instrument/beam/incident_wavelength"][...] = 1.0
        detector["description"], detector["count_time"] = "Dectris Eiger", 2.0
        detector["x_pixel_size"] = detector["y_pixel_size"] = PIXEL / 1000
        detector["detector_distance"], detector["beam_center_x"], detector["beam_center_y"] = DISTANCE / 1000, *CENTRE
        detector["sensor_material"], detector["sensor_thickness"] = "Si", 0.32e-3
        detector["detectorSpecific/countrate_correction_count_cutoff"] = 60000


def jungfrau(path, image):
    """NXmx of two modules, floats below zero where there is no light."""
    with h5py.File(path, "w") as file:
        group, detector = begun_nexus(file, image.astype("f4") - 0.25)
        file["entry/instrument/beam/incident_wavelength"][...] = 1.0
        detector["description"], detector["x_pixel_size"], detector["y_pixel_size"] = "JUNGFRAU 4M", PIXEL / 1000, PIXEL / 1000

        def axis(name, value, unit, vector, above):
            node = file.create_dataset(f"entry/instrument/detector/{name}", data=value)
            node.attrs.update({"units": unit, "transformation_type": "translation", "vector": vector, "depends_on": above})

        base, half = "/entry/instrument/detector/", PIXELS // 2
        axis("length", STANDS, "mm", (0, 0, 1), ".")
        for number, slow in enumerate((0, half)):
            module = f"module{number}"
            group(f"entry/instrument/detector/{module}", "NXdetector_module")
            corner = np.array([PIXEL * CENTRE[0], PIXEL * (CENTRE[1] - slow), 0.0])
            axis(f"{module}/module_offset", np.linalg.norm(corner), "mm", corner / np.linalg.norm(corner), base + "length")
            axis(f"{module}/fast_pixel_direction", PIXEL, "mm", (-1, 0, 0), base + f"{module}/module_offset")
            axis(f"{module}/slow_pixel_direction", PIXEL, "mm", (0, -1, 0), base + f"{module}/module_offset")
            file[f"entry/instrument/detector/{module}/data_origin"] = (slow, 0)
            file[f"entry/instrument/detector/{module}/data_size"] = (half, PIXELS)


def imgcif(path, image):
    axes = f"""_diffrn_radiation_wavelength.wavelength 1.0
loop_
_array_structure_list.index
_array_structure_list.dimension
_array_structure_list.precedence
_array_structure_list.axis_set_id
1 {PIXELS} 1 FAST 2 {PIXELS} 2 SLOW
loop_
_array_structure_list_axis.axis_set_id
_array_structure_list_axis.axis_id
_array_structure_list_axis.displacement
_array_structure_list_axis.displacement_increment
FAST FAST 0.0 {PIXEL} SLOW SLOW 0.0 {PIXEL}
loop_
_diffrn_scan_frame_axis.axis_id
_diffrn_scan_frame_axis.angle
_diffrn_scan_frame_axis.displacement
LENGTH 0.0 {-STANDS}
loop_
_axis.id
_axis.type
_axis.depends_on
_axis.vector[1] _axis.vector[2] _axis.vector[3]
_axis.offset[1] _axis.offset[2] _axis.offset[3]
LENGTH translation . 0 0 1 0 0 0
SLOW translation LENGTH 0 -1 0 {-PIXEL * CENTRE[0]} {PIXEL * CENTRE[1]} 0
FAST translation SLOW 1 0 0 0 0 0
"""
    write_cbf(path, image, DISTANCE, CENTRE)
    with open(path, "rb") as file:
        content = file.read()
    begin, end = content.index(b"_array_data.header_contents"), content.index(b"_array_data.data")
    with open(path, "wb") as file:
        file.write(content[:begin] + axes.encode() + content[end:])


def plain_tiff(path, image):
    TiffIO(path, "wb+").writeImage(image.astype("u2"))


def jpeg2000(path, image):
    from PIL import Image
    Image.fromarray(image.astype("u2")).save(path, irreversible=False)


# Each format: a file's name, its writer, whether the file says where the detector stands, and the reader that says so.
FORMATS = {
    "Pilatus miniCBF": ("a.cbf", lambda path, image: write_cbf(path, image, DISTANCE, CENTRE), True, "header of miniCBF"),
    "imgCIF": ("a_full.cbf", imgcif, True, "axes of imgCIF"),
    "ADSC SMV": ("a.img", adsc, True, "header of SMV"),
    "d*TREK SMV": ("a.osc", rigaku, True, "header of SMV"),
    "Rayonix TIFF": ("a.mccd", mar, True, "MarCCD or Rayonix"),
    "Pilatus TIFF": ("a_pilatus.tif", pilatus_tiff, True, "Pilatus TIFF"),
    "Bruker SFRM": ("a.sfrm", bruker, True, "bruker100image of fabio"),
    "Oxford": ("a_oxford.img", oxford, True, "oxdimage of fabio"),
    "EDF": ("a.edf", esrf, True, "edfimage of fabio"),
    "Eiger master": ("a_master.h5", dectris, True, "distance and beam of HDF5"),
    "Jungfrau NXmx": ("a.nxs", jungfrau, True, "modules of NXmx"),
    "TIFF": ("a.tif", plain_tiff, False, "stands.expt"),
    "JPEG 2000": ("a.jp2", jpeg2000, False, "stands.expt"),
}


def write_geometry(path):
    panel = {"name": "", "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [-PIXEL * CENTRE[0], PIXEL * CENTRE[1], -STANDS],
             "image_size": [PIXELS, PIXELS], "pixel_size": [PIXEL, PIXEL], "trusted_range": [0, 65000], "thickness": 0, "material": "", "mu": 0}
    content = {"__id__": "ExperimentList", "experiment": [{"__id__": "Experiment", "beam": 0, "detector": 0}],
               "beam": [{"direction": [0, 0, 1], "wavelength": 1.0}], "detector": [{"panels": [panel]}], "crystal": [], "goniometer": [],
               "scan": [], "imageset": []}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


class OfManyFormats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.photons = simulated()[1][FIRST:FIRST + PIXELS, FIRST:FIRST + PIXELS]
        cls.at = lambda _, name: os.path.join(cls.folder.name, name)
        cls.geometry, cls.model = (os.path.join(cls.folder.name, name) for name in ("stands.expt", "model.mtz"))
        write_geometry(cls.geometry)
        write_model(cls.model)
        for name, writer, *_ in FORMATS.values():
            writer(os.path.join(cls.folder.name, name), cls.photons)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_headers_say_what_was_written(self):
        for kind, (name, _, placed, reader) in FORMATS.items():
            with self.subTest(kind):
                image = read_image(self.at(name), None if placed else Geometry.read(self.geometry))
                self.assertIn(reader, image.reader)
                self.assertAlmostEqual(image.wavelength, 1.0, 6)
                self.assertAlmostEqual(image.pixel, PIXEL, 5)
                detector = next(detectors_of(image))
                thick = image.thickness > 0
                self.assertAlmostEqual(detector.distance, DISTANCE if thick else STANDS, 2)
                beam = detector.meet(np.array([[0.0, 0.0, -1.0]]))[0]
                offset = np.array([0.0, image.panels.begin[1, 0] - PIXELS // 2]) if image.panels else 0
                np.testing.assert_allclose(beam - offset, CENTRE, atol=0.02)
                photons = image.photons if image.panels is None else np.vstack([image.photons[part] for part in
                                                                                         image.panels.parts(None)])
                known = np.isfinite(photons)
                self.assertGreater(known.mean(), 0.98)
                shift = {"Jungfrau NXmx": -0.25, "Rayonix TIFF": 10}.get(kind, 0)
                np.testing.assert_allclose(photons[known], self.photons[known] + shift)
                lines = list(described(image, image.photons.shape, {"gaps": 7}))
                self.assertEqual([line.partition(":")[0] for line in lines], ["geometry", "wavelength", "exposure", "gain", "masks"])
                self.assertIn(reader, lines[0])
        self.assertEqual(read_image(self.at("a_master.h5")).cutoff, 60000)
        self.assertEqual(read_image(self.at("a.mccd")).pedestal, 10)
        for name in ("a.mccd", "a.img", "a.osc", "a_oxford.img", "a.edf", "a.sfrm", "a_master.h5", "a_pilatus.tif"):
            self.assertEqual(read_image(self.at(name)).seconds, 2, name)
        for name in ("a.img", "a.osc", "a.sfrm"):
            self.assertEqual((read_image(self.at(name)).start, read_image(self.at(name)).step), (5, 0.1), name)

    def test_all_are_indexed(self):
        for placed in (True, False):
            names = [self.at(name) for name, _, says, _ in FORMATS.values() if says == placed]
            for still in index(names, self.model, pixels=False, workers=1, geometry=None if placed else self.geometry):
                with self.subTest(still.image):
                    self.assertEqual(still.status, "indexed", still.why)
                    self.assertGreater(still.indexed, 0.9 * still.spots)
                    self.assertLess(still.rms_px, 0.35)

    def test_damage_costs_one_shot_and_one_sentence(self):
        """Files that end too early, and one whose beginning alone is right."""
        names = []
        for name, *_ in FORMATS.values():
            with open(self.at(name), "rb") as file:
                content = file.read()
            for suffix, part in (("half", content[:len(content) // 2]), ("begin", content[:300])):
                names.append(self.at(f"{suffix}_{name}"))
                with open(names[-1], "wb") as file:
                    file.write(part)
        whole = self.at("a.img")
        stills = index([*names, whole], self.model, pixels=False, workers=1)
        for still in stills[:-1]:
            with self.subTest(still.image):
                self.assertEqual(still.status, "rejected")
                self.assertIn(os.path.basename(still.image), still.why)
                self.assertNotIn("\n", still.why)
        self.assertEqual(stills[-1].status, "indexed")

    def test_formats_that_nobody_knows(self):
        path = self.at("a.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("Dear diary\n" * 100)
        with self.assertRaisesRegex(nb.FileError, "neither CBF nor SMV nor NXmx"):
            read_image(path)
        with self.assertRaisesRegex(nb.FileError, "give --geometry=FILE.expt"):
            read_image(self.at("a.tif"))


if __name__ == "__main__":
    unittest.main()
