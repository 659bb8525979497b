"""Attributes of simtbx.nanoBragg: their start values, and which flags of nb-sim they become."""

import numpy

from .._errors import unknown


class shapetype:
    Square, Round, Gauss, Tophat = "square", "round", "gauss", "tophat"
    Gauss_argchk, Fiber, Unknown = "gauss", "fiber", "unknown"


class convention:
    Custom, ADXV, MOSFLM, XDS, DIALS, DENZO = "custom", "adxv", "mosflm", "xds", "dials", "denzo"


class pivot:
    Beam, Sample = "beam", "sample"


def _shape(value):
    flags = {"square": "-square_xtal", "round": "-round_xtal", "gauss": "-gauss_xtal", "tophat": "-tophat_spots"}
    if value not in flags:
        raise ValueError(unknown("xtal_shape", value, flags))
    return [flags[value]]


# Attribute -> (start value, flag; None: without one). A flag function turns the value into words.
def _one(flag, scale=1):
    return lambda v: [flag, repr(float(v) * scale)]


def _whole(flag):
    return lambda v: [flag, str(int(v))]


def _vector(flag):
    return lambda v: [flag, *(repr(float(x)) for x in v)]


def _switch(flag):
    return lambda v: [flag] if v else []


def _pair(first, second):
    return lambda v: [first, repr(float(v[0])), second, repr(float(v[1]))]


def _of_cctbx(array):
    """Indices and amplitudes of a miller array of cctbx, in P1 with Friedel mates."""
    array = array.expand_to_p1().generate_bijvoet_mates()
    return [tuple(hkl) for hkl in array.indices()], numpy.array(list(array.data()), dtype=float)


ATTRIBUTES = {
    "unit_cell_Adeg": ((78.0, 78.0, 38.0, 90.0, 90.0, 90.0), _vector("-cell")),
    "Ncells_abc": ((1, 1, 1), lambda v: ["-Na", str(int(v[0])), "-Nb", str(int(v[1])), "-Nc", str(int(v[2]))]),
    "xtal_size_mm": (None, lambda v: ["-xtal_thick", repr(float(v[0])), "-xtal_width", repr(float(v[1])), "-xtal_height",
                                      repr(float(v[2]))]),
    "xtal_shape": ("square", _shape),
    "missets_deg": ((0.0, 0.0, 0.0), _vector("-misset")),
    "default_F": (0.0, _one("-default_F")),
    "interpolate": (None, lambda v: ["-interpolate" if v else "-nointerpolate"]),
    "mosaic_spread_deg": (0.0, _one("-mosaic")),
    "mosaic_domains": (None, _whole("-mosaic_domains")),
    "mosaic_seed": (None, _whole("-mosaic_seed")),
    "distance_mm": (100.0, _one("-distance")),
    "close_distance_mm": (None, _one("-close_distance")),
    "pixel_size_mm": (0.1, _one("-pixel")),
    "detpixels_fastslow": ((1024, 1024), lambda v: ["-detpixels_f", str(int(v[0])), "-detpixels_s", str(int(v[1]))]),
    "detector_twotheta_deg": (0.0, _one("-twotheta")),
    "detector_rotation_deg": ((0.0, 0.0, 0.0), lambda v: [w for f, x in zip("xyz", v) for w in (f"-detector_rot{f}", repr(float(x)))]),
    "curved_detector": (False, _switch("-curved_det")),
    "point_pixel": (False, _switch("-point_pixel")),
    "detector_thick_mm": (0.0, _one("-detector_thick", 1e3)),
    "detector_attenuation_length_mm": (0.234, _one("-detector_absorb", 1e3)),
    "detector_thicksteps": (None, _whole("-detector_thicksteps")),
    "beam_center_mm": (None, _pair("-Xbeam", "-Ybeam")),
    "XDS_ORGXY": (None, _pair("-ORGX", "-ORGY")),
    "beamcenter_convention": (None, lambda v: [f"-{v}"]),
    "detector_pivot": (None, lambda v: ["-pivot", v]),
    "fdet_vector": (None, _vector("-fdet_vector")),
    "sdet_vector": (None, _vector("-sdet_vector")),
    "odet_vector": (None, _vector("-odet_vector")),
    "beam_vector": (None, _vector("-beam_vector")),
    "polar_vector": (None, _vector("-polar_vector")),
    "spindle_axis": (None, _vector("-spindle_axis")),
    "twotheta_axis": (None, _vector("-twotheta_axis")),
    "oversample": (0, _whole("-oversample")),
    "region_of_interest": (None, lambda v: ["-roi", *(str(int(x)) for x in (*v[0], *v[1]))]),
    "wavelength_A": (1.0, _one("-lambda")),
    "energy_eV": (None, _one("-energy")),
    "fluence": (125932015286227086360700780544.0, _one("-fluence")),
    "flux": (0.0, _one("-flux")),
    "exposure_s": (1.0, _one("-exposure")),
    "beamsize_mm": (0.1, _one("-beamsize")),
    "polarization": (0.0, _one("-polar")),
    "nopolar": (False, _switch("-nopolar")),
    "dispersion_pct": (0.0, _one("-dispersion")),
    "dispsteps": (None, _whole("-dispsteps")),
    "divergence_hv_mrad": (None, _pair("-hdivrange", "-vdivrange")),
    "divsteps_hv": (None, lambda v: ["-hdivsteps", str(int(v[0])), "-vdivsteps", str(int(v[1]))]),
    "divstep_hv_mrad": (None, _pair("-hdivstep", "-vdivstep")),
    "round_div": (True, lambda v: ["-round_div" if v else "-square_div"]),
    "phi_deg": (0.0, _one("-phi")),
    "osc_deg": (0.0, _one("-osc")),
    "phisteps": (None, _whole("-phisteps")),
    "phistep_deg": (None, _one("-phistep")),
    # Of the picture and not of the physics.
    "spot_scale": (1.0, None), "quantum_gain": (1.0, None), "adc_offset_adu": (40.0, None), "seed": (None, None), "progress_meter": (False, None),
    "printout": (False, None), "verbose": (0, None), "integral_form": (False, None), "Amatrix": (None, None), "Fhkl_tuple": (None, None),
    "xray_source_XYZ": (None, None), "xray_source_wavelengths_A": (None, None), "xray_source_intensity_fraction": (None, None),
    "raw_pixels": (None, None), "mask": (None, None), "F000": (None, None),
    # Of background, point spread and noise; those of length in mm.
    "Fbg_vs_stol": (None, None), "default_Fbg": (0.0, None), "amorphous_sample_size_mm": ((0.0, 0.0, 0.0), None),
    "amorphous_density_gcm3": (1.0, None), "amorphous_molecular_weight_Da": (18.0, None), "detector_psf_type": ("fiber", None),
    "detector_psf_fwhm_mm": (0.08, None), "detector_psf_kernel_radius_pixels": (0, None), "readout_noise_adu": (3.0, None),
    "flicker_noise_pct": (0.0, None), "detector_calibration_noise_pct": (3.0, None), "calib_seed": (123456789, None),
}
SAME = {"unit_cell_tuple": "unit_cell_Adeg", "Ncells": "Ncells_abc"}
# Other names of attributes -> what they set.
DERIVED = {
    "detpixels_slowfast": lambda sim, v: ("detpixels_fastslow", (v[1], v[0])),
    "detsize_fastslow_mm": lambda sim, v: ("detpixels_fastslow", tuple(round(x / sim.pixel_size_mm) for x in v)),
    "amorphous_sample_thick_mm": lambda sim, v: ("amorphous_sample_size_mm", (v, *sim.amorphous_sample_size_mm[1:])),
    "polar_B_vector": lambda sim, v: ("polar_vector", tuple(numpy.cross(v, sim.beam_vector))),
    "detector_thickstep_mm": lambda sim, v: ("detector_thicksteps", max(1, round(sim.detector_thick_mm / v))),
    "Fhkl": lambda sim, v: ("Fhkl_tuple", _of_cctbx(v)),
    "Amatrix_RUB": lambda sim, v: ("Amatrix", numpy.linalg.inv(numpy.array(v, dtype=float).reshape(3, 3)).T),
}
ELSEWHERE = {
    "to_cbf": "no writer of CBF files; write to_smv_format, or give the flags to nb-sim --cbf",
    "to_nexus_nxmx": "no writer of NeXus files; write to_smv_format, or give the flags to nb-sim --nexus",
    "add_nanoBragg_spots_cuda": "no way of its own to a GPU; give device='cuda'", "as_explist": "no dxtbx; nb-sim --write-expt writes one",
    "set_mosaic_blocks_sym": "no symmetry of mosaic blocks; give all of them to set_mosaic_blocks",
}
