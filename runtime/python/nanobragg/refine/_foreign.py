"""Images of formats that fabio or dxtbx reads, where these packages are installed."""

import dataclasses
import importlib.util
import os
import re
import struct
import tempfile

import numpy

from .._errors import DATA_ERRORS, FileError, printable
from ._axes import Unplaced
from ._fabio import opened
from ._images import DiffractionImage, measured, of_mini_header
from ._units import NUMBER, factor

# Where words of headers have the numbers of a DiffractionImage: by the module of fabio, the names that a
# word may have, which of its numbers it is, and its unit in that of the DiffractionImage.
_ESRF = {"wavelength": (("WaveLength",), 0, 1e10), "distance": (("SampleDistance", "Distance"), 0, 1e3), "pixel": (("PSize_1",), 0, 1e3),
         "fast": (("Center_1",), 0, 1), "slow": (("Center_2",), 0, 1), "seconds": (("ExposureTime",), 0, 1)}
_BRUKER = {"wavelength": (("WAVELEN",), 0, 1), "distance": (("DISTANC",), -1, 10), "fast": (("CENTER",), -2, 1), "slow": (("CENTER",), -1, 1),
           "per_cm": (("DETTYPE",), 0, 1), "two_theta": (("ANGLES",), 0, 1), "seconds": (("ELAPSDR", "CUMULAT"), 0, 1), "start": (("START",), 0, 1),
           "step": (("INCREME",), 0, 1), "cutoff": (("CCDPARM",), -1, 1), "pedestal": (("NEXP",), 2, 1)}
_WORDS = {
    "edfimage": _ESRF, "brukerimage": _BRUKER, "bruker100image": _BRUKER,
    "mar345image": {"wavelength": (("Wavelength",), 0, 1), "distance": (("Distance",), 0, 1), "pixel": (("PixelLength",), 0, 1),
                    "two_theta": (("TwoTheta",), 0, 1), "seconds": (("TIME",), 0, 1), "start": (("StartPhi",), 0, 1)},
    "oxdimage": {"wavelength": (("Wavelength alpha",), 0, 1), "distance": (("Distance in mm",), 0, 1),
                 "pixel": (("Real pixel size x (mm)",), 0, 1), "fast": (("Beam center x",), 0, 1), "slow": (("Beam center y",), 0, 1),
                 "seconds": (("Exposure time in sec",), 0, 1), "cutoff": (("Overflow threshold",), 0, 1)}}
_KINDS = {"wavelength": "wavelength", "distance": "length", "pixel": "length", "seconds": "time"}
_EDGES = "PSize_1", "PSize_2"
# Beginnings of files that are no images, in small letters.
_KNOWN = {b"<!doctype html": "is a web page; download the image again", b"<html": "is a web page; download the image again",
          b"\xfd7zxz": "is packed by xz; unpack it (unxz)", b"(\xb5/\xfd": "is packed by zstd; unpack it (unzstd)", b"pk\x03\x04": "is a zip archive; unpack it",
          b"mtz ": "holds reflections (MTZ); give images"}
_MAR = 1024  # where the header of a MarCCD or Rayonix TIFF begins


def read_foreign(path, name, number, content):
    """The DiffractionImage in frame ``number`` of the file ``name``, which is neither CBF nor SMV nor
    HDF5. content: its bytes. FileError."""
    fabio = opened(path, name, number, content)
    if fabio is not None and (found := _by_words(path, *fabio, content)) is not None:
        return found
    found = by_dxtbx(path, name, number)
    if found is not None:
        return found
    if fabio is not None:
        raise Unplaced(f"{path}: its header does not say where its detector stands, as far as fabio ({fabio[0]}) and dxtbx read it; give "
                       "--geometry=FILE.expt, which does")
    what = next((said for start, said in _KNOWN.items() if content[:200].lstrip().lower().startswith(start)), None) if content else "is empty; copy it again"
    installed = any(map(importlib.util.find_spec, ("fabio", "dxtbx")))
    raise FileError(f"{path}: " + (what or "is neither CBF nor SMV nor NXmx" + (", and not known to fabio and dxtbx either; convert it to CBF" if installed else
                                                                              "; other formats need fabio or dxtbx (pip install fabio)")))


def _by_words(path, kind, words, image, content):
    """The DiffractionImage by what the header says; None of kinds whose headers are not known here."""
    if kind in ("marccdimage", "tifimage") and (said := _mar_header(path, content, image.shape)) is not None:
        return DiffractionImage(path, measured(image), reader="header of a MarCCD or Rayonix TIFF", **said)
    lines = words.get("imageDescription", "").removeprefix("imageDescription=")  # as PyMca writes it
    if kind == "pilatusimage" or "# Pixel_size" in lines:
        header = "\n".join([lines, *(f"# {key} {value}" for key, value in words.items())])
        return of_mini_header(path, header, image, True, "header of a Pilatus TIFF")
    if kind not in _WORDS:
        return None
    said = {}
    for field, (names, which, unit) in _WORDS[kind].items():
        numbers = [re.findall(rf"({NUMBER}) *([A-Za-z\u00b5\u00c5]*)", words[name]) for name in names if name in words]
        if numbers and -len(numbers[0]) <= which < len(numbers[0]):
            number, own = numbers[0][which]
            said[field] = float(number) * (factor(path, field, own, _KINDS[field]) if own and field in _KINDS else unit)
    if per_cm := said.pop("per_cm", 0.0):  # pixels of a frame of 512
        said["pixel"] = 10 / per_cm * 512 / max(image.shape)
    if kind == "mar345image":
        said |= {"fast": image.shape[1] / 2, "slow": image.shape[0] / 2, "cutoff": 249862.0}
    if len({words[name].strip() for name in _EDGES if name in words}) > 1:
        raise FileError(f"{path}: its pixels are {' by '.join(words[name] for name in _EDGES)}; nb-refine needs square pixels")
    if missing := [field for field in ("wavelength", "distance", "pixel", "fast", "slow") if not said.get(field, 0.0) > 0]:
        names = (_WORDS[kind].get(field, ((field,),))[0][0] for field in missing)
        raise Unplaced(f"{path}: its header ({kind} of fabio) has no number for {', '.join(names)}; give --geometry=FILE.expt, which does")
    centre = said.pop("fast"), said.pop("slow")
    if not said.get("cutoff", 1.0) > 0:
        del said["cutoff"]
    return DiffractionImage(path, measured(image), centre=centre, counting=False, reader=f"words of the header ({kind} of fabio)", **said)


def _mar_header(path, content, shape):
    """Fields of a DiffractionImage by the header of Mar's and Rayonix' CCDs; None where the TIFF has
    none."""
    order = "<" if content.startswith(b"II") else ">"
    at = lambda offset: struct.unpack_from(f"{order}i", content, _MAR + offset)[0]
    if len(content) < 4 * _MAR or (at(84), at(80)) != shape:
        return None
    pedestal, overload = at(780) / 1000, at(104)
    if at(772) != at(776):
        raise FileError(f"{path}: its pixels are {at(772) * 1e-6:g} by {at(776) * 1e-6:g} mm; nb-refine needs square pixels")
    return {"wavelength": at(908) * 1e-5, "distance": at(640) / 1000, "centre": (at(644) / 1000, at(648) / 1000), "pixel": at(772) * 1e-6,
            "two_theta": at(668) / 1000, "seconds": at(656) / 1000, "cutoff": float(overload) if overload > 0 else numpy.inf,
            "pedestal": pedestal, "counting": False}


def by_dxtbx(path, name, number):
    """The DiffractionImage that dxtbx makes of frame ``number``; None of formats that it does not know,
    or where it is not installed."""
    try:
        from dxtbx.format.Registry import get_format_class_for_file
        from dxtbx.model.experiment_list import ExperimentListFactory
    except ImportError:
        return None
    from ._stated_geometry import Geometry
    try:
        kind = get_format_class_for_file(name)
        if kind is None:
            return None
        images = kind.get_imageset([os.path.abspath(name)])
        if not 0 <= number < len(images):
            raise FileError(f"{path}: has {len(images)} frames, counted from 0")
        with tempfile.TemporaryDirectory() as folder:
            listed = os.path.join(folder, "geometry.expt")
            ExperimentListFactory.from_imageset_and_crystal(images[number:number + 1], None).as_file(listed)
            geometry = Geometry.read(listed)
        parts = [numpy.where(mask.as_numpy_array(), data.as_numpy_array() - panel.get_pedestal(), -numpy.inf)
                 for data, mask, panel in zip(images.get_raw_data(number), images.get_mask(number), images.get_detector(number))]
        scan = images.get_scan()
    except FileError:
        raise
    except (*DATA_ERRORS, AssertionError) as error:
        raise FileError(f"{path}: dxtbx does not read it ({printable(error)})") from None
    geometry.elements = [dataclasses.replace(element, raw=(0, 0)) for element in geometry.elements]
    wide = max(part.shape[1] for part in parts)
    stacked = numpy.concatenate([numpy.pad(part, ((0, 0), (0, wide - part.shape[1])), constant_values=-numpy.inf) for part in parts])
    found = geometry.image(path, stacked, bool(re.search("pilatus|eiger|hypix", kind.__name__, re.I)))
    found.reader = f"dxtbx ({kind.__name__})"
    if scan is not None:
        found.start, found.step = scan.get_oscillation()
        found.seconds = float(scan.get_exposure_times()[min(number, len(scan) - 1)])
    return found
