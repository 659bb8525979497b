"""Headers of SMV images, as ADSC's detectors and nb-sim write them."""

import re

from .._errors import FileError

START = b"{\nHEADER_BYTES="


def read_header(path, content, shape):
    """The header of an image of this shape (slow, fast), as fields of a Photograph by their names. The beam centre is
    read as ADSC's detectors have it, BEAM_CENTER_X downward; nb-sim's own XDS_ORGX and XDS_ORGY go before it. FileError."""
    size = re.match(rb"\s*(\d+)", content[len(START):])
    text = content[:int(size[1]) if size else 512].split(b"\0")[0].decode("latin-1")
    said = {key.strip(): value.strip() for key, equals, value in (entry.partition("=") for entry in re.split("[;\n]", text)) if equals}

    def number(key, default=None):
        found = re.match(r"[-+0-9.eE]+", said.get(key, ""))
        try:
            return float(found[0]) if found else default
        except ValueError:
            raise FileError(f"{path}: its header has no number for {key}: {said[key]}") from None

    wanted = {key: number(key) for key in ("PIXEL_SIZE", "DISTANCE", "WAVELENGTH", "BEAM_CENTER_X", "BEAM_CENTER_Y")}
    if missing := [key for key, value in wanted.items() if value is None]:
        raise FileError(f"{path}: its header does not say {', '.join(missing)}; give --geometry=FILE.expt, which does")
    pixel, distance, wavelength, downward, across = wanted.values()
    two_theta = number("TWOTHETA", 0.0)
    own = number("XDS_ORGX"), number("XDS_ORGY")
    centre = tuple(v - 0.5 for v in own) if None not in own and not two_theta else (across / pixel, downward / pixel) if pixel > 0 else (0, 0)
    if not two_theta and any(not -n < at < 2 * n for at, n in zip(centre, shape[::-1])):
        raise FileError(f"{path}: its header has the beam at {across:g}, {downward:g} mm (BEAM_CENTER_Y, _X), far off a detector of "
                        f"{shape[1] * pixel:.4g} x {shape[0] * pixel:.4g} mm; correct the header, or give --geometry=FILE.expt")
    return {"wavelength": wavelength, "distance": distance, "centre": centre, "pixel": pixel, "two_theta": two_theta, "counting": False,
            "cutoff": number("CCD_IMAGE_SATURATION", 65535.0), "start": number("OSC_START", number("PHI", 0.0)),
            "step": number("OSC_RANGE", 0.0), "seconds": number("TIME", 0.0)}
