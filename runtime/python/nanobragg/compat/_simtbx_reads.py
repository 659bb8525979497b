"""What attributes of simtbx.nanoBragg are where they were not set: read from the simulator, as simtbx reads them from its own."""

import numpy


def _vector(name):
    return lambda s, t: tuple(s[name])


def _traced(name, scale=1):
    return lambda s, t: tuple(t()[name] * scale)


def _whole(name):
    return lambda s, t: int(s[name]) if name in s else 1


def _hit(s, t):
    """Where the beam meets the plane of the detector: m from the sample, and along fast and slow from the first pixel's corner."""
    trace, beam = t(), s["beam_direction"]
    corner, normal = trace["pix0_vector_meters"], trace["odet_vec"]
    distance = (normal @ corner) / (normal @ beam)
    return distance, *((distance * beam - corner) @ trace[axis] for axis in ("fdet_vec", "sdet_vec"))


def beam_center(s, t):
    """mm along fast and slow."""
    if "beam_center_fast" in s:
        return s["beam_center_fast"] * 1e3, s["beam_center_slow"] * 1e3
    return tuple(x * 1e3 for x in _hit(s, t)[1:])


def _distance(s, t):
    return (s["distance"] if "distance" in s else _hit(s, t)[0]) * 1e3


def _adxv(s, t):
    fast, slow = beam_center(s, t)
    return fast, s.shape[-2] * s["pixel_size"] * 1e3 - slow


def _mosflm(s, t):
    half = s["pixel_size"] * 1e3 / 2
    fast, slow = beam_center(s, t)
    return slow - half, fast - half


def _denzo(s, t):
    return beam_center(s, t)[::-1]


def _close(s, t):
    """Of the point that is closest to the sample, pixels from 1."""
    trace = t()
    return tuple(-trace[axis] @ trace["pix0_vector_meters"] / s["pixel_size"] + 0.5 for axis in ("fdet_vec", "sdet_vec"))


def _origin(s, t):
    x, y, z = t()["pix0_vector_meters"] * 1e3
    return z, y, -x


def _amatrix(s, t):
    return t()["reciprocal_basis"].reshape(3, 3).T * 1e-10  # rows a*, b*, c*


# What -Xbeam and -Ybeam are; in other conventions along fast and slow. Axes make a convention of one's own.
CENTERS = {"mosflm": _mosflm, "denzo": _denzo, "adxv": _adxv}
AXES = {"fdet_vector", "sdet_vector", "odet_vector", "beam_vector", "polar_vector", "spindle_axis", "twotheta_axis"}

# Attribute -> its value of a simulator and of a function that traces its first pixel.
READS = {
    "fdet_vector": _traced("fdet_vec"), "sdet_vector": _traced("sdet_vec"), "odet_vector": _traced("odet_vec"),
    "beam_vector": _vector("beam_direction"), "polar_vector": _vector("polarization_axis"),
    "polar_B_vector": lambda s, t: tuple(numpy.cross(s["beam_direction"], s["polarization_axis"])),
    "spindle_axis": _vector("spindle_axis"), "twotheta_axis": _vector("twotheta_axis"),
    "close_distance_mm": lambda s, t: t()["close_distance_meters"] * 1e3, "distance_mm": _distance,
    "pix0_vector_mm": _traced("pix0_vector_meters", 1e3), "dials_origin_mm": _origin, "XDS_ORGXY": _close,
    "adxv_beam_center_mm": _adxv, "mosflm_beam_center_mm": _mosflm, "denzo_beam_center_mm": _denzo,
    "phisteps": _whole("phi_steps"), "mosaic_domains": _whole("mosaic_domains"), "detector_thicksteps": _whole("layers"),
    "phistep_deg": lambda s, t: numpy.degrees(s["osc"]) / int(s["phi_steps"]) if "osc" in s else 0.0,
    "Amatrix": _amatrix,
}
READ_ONLY = {"pix0_vector_mm": "distance_mm, beam_center_mm and the detector's axes", "dials_origin_mm": "close_distance_mm and XDS_ORGXY",
             "adxv_beam_center_mm": "beamcenter_convention and beam_center_mm", "denzo_beam_center_mm": "beamcenter_convention and beam_center_mm",
             "mosflm_beam_center_mm": "beamcenter_convention and beam_center_mm"}
