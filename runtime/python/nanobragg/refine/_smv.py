"""Headers of SMV images, as detectors of ADSC, Rayonix and Rigaku and nb-sim write them."""

import re
import warnings

import numpy

from .._errors import FileError, Warning
from ._axes import Unplaced
from ._units import factor, first

_LEVEL = 0.01  # degrees by which a detector's axes may be turned that are said to be level
_START = re.compile(rb"{\s*HEADER_BYTES\s*=\s*(\d*)")


def is_smv(content):
    """Whether bytes begin as an SMV image does."""
    return bool(_START.match(content))


def _words(content):
    text = content[:int(_START.match(content)[1] or 512)].split(b"\0")[0].decode("latin-1")
    return {key.strip(): value.strip() for key, equals, value in (entry.partition("=") for entry in re.split("[;\n]", text)) if equals}


# Numbers of pixels by the names of ADSC and of d*TREK; "mad" is what some of ADSC's cameras write.
_KINDS = {"unsigned_short": "u2", "unsigned_short_int": "u2", "mad": "u2", "signed_short": "i2", "short_int": "i2", "long_integer": "i4",
          "signed_long": "i4", "long_int": "i4", "unsigned_long": "u4", "unsigned_long_int": "u4", "signed_char": "i1", "unsigned_char": "u1",
          "float": "f4", "float_ieee": "f4"}


def pixels(path, content):
    """The numbers of an SMV image. FileError."""
    said = _words(content)
    kind = said.get("Data_type", said.get("TYPE", "unsigned_short")).replace(" ", "_").lower()
    if kind not in _KINDS or said.get("COMPRESSION", "none").lower() not in ("none", ""):
        raise FileError(f"{path}: its pixels are {said.get('COMPRESSION', kind)}; write them as unsigned_short, long_integer or float, not compressed")
    if (order := said.get("BYTE_ORDER", "little_endian").lower()) not in ("little_endian", "big_endian"):
        raise FileError(f"{path}: its header has BYTE_ORDER={order}; it must be little_endian or big_endian")
    size, dtype = int(_START.match(content)[1] or 512), numpy.dtype(_KINDS[kind]).newbyteorder("<" if order[0] == "l" else ">")
    slow, fast = (int(next(iter(_numbers(path, said, key)), 0)) for key in ("SIZE2", "SIZE1"))
    more = len(content) - size - dtype.itemsize * slow * fast
    if min(slow, fast) < 1 or more < 0 or size < 512:
        raise FileError(f"{path}: has {len(content)} bytes, and its header says {size} (HEADER_BYTES) and {fast} x {slow} pixels (SIZE1, SIZE2) of "
                        f"{dtype.itemsize}; copy the file again or correct the header")
    if more and b"\r" in content[:size]:
        raise FileError(f"{path}: has {more} bytes more than its pixels need, and its lines end in CR LF: it was copied as text; copy it again as binary")
    if more:
        warnings.warn(f"{path}: has {more} bytes after its {fast} x {slow} pixels; look whether HEADER_BYTES, SIZE1, SIZE2 and TYPE are right", Warning,
                      stacklevel=2)
    return numpy.frombuffer(content, dtype, slow * fast, size).reshape(slow, fast).astype(float)


def _numbers(path, said, key):
    """All numbers of a word, none where there is no such word."""
    try:
        return [float(text) for text in re.findall(r"(?<![A-Za-z0-9_])[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?", said.get(key, ""))]
    except ValueError:
        raise FileError(f"{path}: its header has no number for {key}: {said[key]}") from None


def read_header(path, content):
    """The header as fields of a DiffractionImage by their names. The beam centre is read as ADSC's
    detectors have it, BEAM_CENTER_X downward; nb-sim's own XDS_ORGX and XDS_ORGY go before it.
    FileError."""
    said = _words(content)
    if said.get("DETECTOR_NAMES"):
        return _of_rigaku(path, said)

    def number(key, default=None):
        return next(iter(_numbers(path, said, key)), default)

    wanted = ("PIXEL_SIZE", "DISTANCE", "WAVELENGTH", "BEAM_CENTER_X", "BEAM_CENTER_Y")
    if missing := [key for key in wanted if not said.get(key)]:
        raise Unplaced(f"{path}: its header does not say {', '.join(missing)}; give --geometry=FILE.expt, which does")
    pixel, distance, wavelength, downward, across = (first(path, key, said[key], *(("wavelength", "A") if key == "WAVELENGTH" else ("length", "mm")))
                                                     for key in wanted)
    two_theta = number("TWOTHETA", 0.0)
    own = number("XDS_ORGX"), number("XDS_ORGY")
    centre = tuple(v - 0.5 for v in own) if None not in own and not two_theta else (across / pixel, downward / pixel) if pixel > 0 else (0, 0)
    return {"wavelength": wavelength, "distance": distance, "centre": centre, "pixel": pixel, "two_theta": two_theta, "counting": False,
            "cutoff": number("CCD_IMAGE_SATURATION", 65535.0), "start": number("OSC_START", number("PHI", 0.0)),
            "step": number("OSC_RANGE", 0.0), "seconds": number("TIME", 0.0), "pedestal": number("IMAGE_PEDESTAL", number("ADC_OFFSET"))}


def _of_rigaku(path, said):
    """The words of d*TREK, of which those of the detector begin with its name."""
    own = said["DETECTOR_NAMES"].split()[0]
    numbers = lambda key: _numbers(path, said, key)
    place, stand = numbers(f"{own}SPATIAL_DISTORTION_INFO"), numbers(f"{own}GONIO_VALUES")
    names = [name.lower() for name in said.get(f"{own}GONIO_NAMES", "").split()]
    at = {name: value for name, value in zip(names, stand)}
    units = dict(zip(names, said.get(f"{own}GONIO_UNITS", "").split()))
    distance = next((value * factor(path, name, units.get(name, "mm"), "length") for name, value in at.items() if "dist" in name or name == "tz"), None)
    wavelength = numbers("SCAN_WAVELENGTH") or numbers("SOURCE_WAVELENGTH")
    if len(place) < 4 or distance is None or not wavelength:
        raise Unplaced(f"{path}: its header does not say {own}SPATIAL_DISTORTION_INFO, the distance in {own}GONIO_VALUES, and "
                       "SCAN_WAVELENGTH; give --geometry=FILE.expt, which says where the detector stands")
    two_theta = next((value for name, value in at.items() if "theta" in name or "swing" in name), 0.0)
    turned = [name for name, value in at.items() if name.startswith("rot") and "theta" not in name and "swing" not in name and abs(value) > _LEVEL]
    if turned:
        raise Unplaced(f"{path}: its detector is turned by {', '.join(turned)} ({own}GONIO_VALUES); give --geometry=FILE.expt, which says where it stands")
    if abs(place[2] - place[-1]) > 1e-3 * abs(place[-1]):
        raise FileError(f"{path}: its pixels are {place[2]:g} by {place[-1]:g} mm; nb-refine needs square pixels")
    # Start, end, step and seconds of the rotation.
    start, _, step, seconds = (numbers("ROTATION") + 4 * [0.0])[:4]
    return {"wavelength": wavelength[-1], "distance": distance, "centre": tuple(place[:2]), "pixel": place[2],
            "two_theta": two_theta, "counting": False,
            "cutoff": next(iter(numbers("SATURATED_VALUE")), 65535.0), "start": start, "step": step, "seconds": seconds}
