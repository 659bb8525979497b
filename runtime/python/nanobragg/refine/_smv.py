"""Headers of SMV images, as detectors of ADSC, Rayonix and Rigaku and nb-sim write them."""

import re

from .. import _core
from .._errors import FileError
from ._axes import Unplaced
from ._fabio import read_pixels

START = b"{\nHEADER_BYTES="


def _words(content):
    size = re.match(rb"\s*(\d+)", content[len(START):])
    text = content[:int(size[1]) if size else 512].split(b"\0")[0].decode("latin-1")
    return {key.strip(): value.strip() for key, equals, value in (entry.partition("=") for entry in re.split("[;\n]", text)) if equals}


def pixels(path, name, content):
    """The numbers of an SMV image; those that are not of unsigned 16 bits by fabio. FileError."""
    said = _words(content)
    kind = said.get("Data_type", said.get("TYPE", "unsigned_short")).replace(" ", "_")
    if not kind.startswith("unsigned_short"):
        if (image := read_pixels(path, name, 0, content)) is None:
            raise FileError(f"{path}: its pixels are {kind}, which need fabio (pip install fabio)")
        return image
    return _core.parse_image(path, content)


def _numbers(path, said, key):
    """All numbers of a word, none where there is no such word."""
    try:
        return [float(text) for text in re.findall(r"(?<![A-Za-z0-9_])[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?", said.get(key, ""))]
    except ValueError:
        raise FileError(f"{path}: its header has no number for {key}: {said[key]}") from None


def read_header(path, content, shape):
    """The header of an image of this shape (slow, fast), as fields of a Photograph by their names.
    The beam centre is read as ADSC's detectors have it, BEAM_CENTER_X downward; nb-sim's own
    XDS_ORGX and XDS_ORGY go before it. FileError."""
    said = _words(content)
    if said.get("DETECTOR_NAMES"):
        return _of_rigaku(path, said)

    def number(key, default=None):
        return next(iter(_numbers(path, said, key)), default)

    wanted = {key: number(key) for key in ("PIXEL_SIZE", "DISTANCE", "WAVELENGTH", "BEAM_CENTER_X", "BEAM_CENTER_Y")}
    if missing := [key for key, value in wanted.items() if value is None]:
        raise Unplaced(f"{path}: its header does not say {', '.join(missing)}; give --geometry=FILE.expt, which does")
    pixel, distance, wavelength, downward, across = wanted.values()
    two_theta = number("TWOTHETA", 0.0)
    own = number("XDS_ORGX"), number("XDS_ORGY")
    centre = tuple(v - 0.5 for v in own) if None not in own and not two_theta else (across / pixel, downward / pixel) if pixel > 0 else (0, 0)
    if not two_theta and any(not -n < at < 2 * n for at, n in zip(centre, shape[::-1])):
        raise FileError(f"{path}: its header has the beam at {across:g}, {downward:g} mm (BEAM_CENTER_Y, _X), far off a detector of "
                        f"{shape[1] * pixel:.4g} x {shape[0] * pixel:.4g} mm; correct the header, or give --geometry=FILE.expt")
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
    distance = next((value for name, value in at.items() if "dist" in name or name == "tz"), None)
    wavelength = numbers("SCAN_WAVELENGTH") or numbers("SOURCE_WAVELENGTH")
    if len(place) < 4 or distance is None or not wavelength:
        raise Unplaced(f"{path}: its header does not say {own}SPATIAL_DISTORTION_INFO, the distance in {own}GONIO_VALUES, and "
                       "SCAN_WAVELENGTH; give --geometry=FILE.expt, which says where the detector stands")
    # Start, end, step and seconds of the rotation.
    start, _, step, seconds = (numbers("ROTATION") + 4 * [0.0])[:4]
    return {"wavelength": wavelength[-1], "distance": distance, "centre": tuple(place[:2]), "pixel": place[2],
            "two_theta": next((value for name, value in at.items() if "theta" in name), 0.0), "counting": False,
            "cutoff": next(iter(numbers("SATURATED_VALUE")), 65535.0), "start": start, "step": step, "seconds": seconds}
