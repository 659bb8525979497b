"""The parametrisation of stage A: numbers without unit and bound, zero at the start, that are
mapped to an experiment."""

import copy
import dataclasses
import functools

import torch
from torch import nn

from .crystal import Crystal
from .detector import Detector


class _Params(nn.Module):
    """A configuration, of which some fields change with parameters ("stage_a") or do not
    ("frozen")."""

    def __init__(self, base_config, device, dtype, param_init, deltas):
        super().__init__()
        if param_init not in ("frozen", "stage_a"):
            raise ValueError(f"param_init is 'frozen' or 'stage_a', not {param_init!r}")
        self.device = torch.device("cpu") if device is None else device
        self.dtype = dtype
        self._base_config = dataclasses.replace(base_config)
        self._stacked = {}
        for name, shape in deltas.items():
            zero = torch.zeros(shape, device=self.device, dtype=dtype)
            setattr(self, name, nn.Parameter(zero) if param_init == "stage_a" else zero)

    def _base(self, name, value):
        self.register_buffer(name, torch.as_tensor(value, device=self.device, dtype=self.dtype).detach().clone())

    # As vectors: torch takes as long for the derivative of one number as for that of six.
    def _bases(self, *names):
        # They hardly ever change.
        parts = [self._buffers[f"base_{name}"] for name in names]
        state = [(id(part), part._version) for part in parts]
        known = self._stacked.get(names)
        if known is None or known[0] != state:
            known = self._stacked[names] = state, parts, torch.stack(parts)
        return known[2]

    def _deltas(self, *names):
        return torch.stack([getattr(self, f"delta_{name}") for name in names])

    def _with(self, **fields):
        # Not replace(): it would compute sizes and middles again.
        config = copy.copy(self._base_config)
        for name, value in fields.items():
            setattr(config, name, value)
        return config


class CrystalStageAParams(_Params):
    """Cell edges exp(delta), angles and misset 10 degrees tanh(delta) about the start."""

    def __init__(self, base_config, device=None, dtype=torch.float32, param_init="frozen", max_angle_delta_deg=10.0,
                 max_misset_delta_deg=10.0):
        super().__init__(base_config, device, dtype, param_init, {
            "delta_log_a": (), "delta_log_b": (), "delta_log_c": (), "delta_alpha_raw": (), "delta_beta_raw": (), "delta_gamma_raw": (),
            "delta_misset_raw": (3,)})
        self.max_angle_delta_deg, self.max_misset_delta_deg = float(max_angle_delta_deg), float(max_misset_delta_deg)
        for name in ("cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma"):
            self._base(f"base_{name}", getattr(base_config, name))
        for axis, value in zip("xyz", base_config.misset_deg):
            self._base(f"base_misset_{axis}", value)

    def build_config(self):
        lengths = self._bases("cell_a", "cell_b", "cell_c") * torch.exp(self._deltas("log_a", "log_b", "log_c"))
        angles = (self._bases("cell_alpha", "cell_beta", "cell_gamma")
                  + self.max_angle_delta_deg * torch.tanh(self._deltas("alpha_raw", "beta_raw", "gamma_raw")))
        misset = (self._bases("misset_x", "misset_y", "misset_z")
                  + self.max_misset_delta_deg * torch.tanh(self.delta_misset_raw)).unbind()
        return self._with(**dict(zip(("cell_a", "cell_b", "cell_c"), lengths.unbind())),
                          **dict(zip(("cell_alpha", "cell_beta", "cell_gamma"), angles.unbind())), misset_deg=misset)


@functools.lru_cache(maxsize=64)
def _largest(values, device, dtype):
    return torch.tensor(values, device=device, dtype=dtype)


class DetectorStageAParams(_Params):
    """Distance exp(delta), rotations 5 degrees tanh(delta), beam centre 5 pixels tanh(delta)."""

    def __init__(self, base_config, device=None, dtype=torch.float32, param_init="frozen", max_tilt_delta_deg=5.0,
                 beam_shift_pixels=5.0):
        super().__init__(base_config, device, dtype, param_init, {
            "delta_log_distance_mm": (), "delta_rotx_raw": (), "delta_roty_raw": (), "delta_rotz_raw": (), "delta_twotheta_raw": (),
            "delta_beam_s_raw": (), "delta_beam_f_raw": ()})
        self.max_tilt_delta_deg, self.beam_shift_pixels = float(max_tilt_delta_deg), float(beam_shift_pixels)
        for name, field in (("base_distance_mm", "distance_mm"), ("base_rotx_deg", "detector_rotx_deg"),
                            ("base_roty_deg", "detector_roty_deg"), ("base_rotz_deg", "detector_rotz_deg"),
                            ("base_twotheta_deg", "detector_twotheta_deg"), ("base_beam_center_s_mm", "beam_center_s"),
                            ("base_beam_center_f_mm", "beam_center_f"), ("pixel_size_mm", "pixel_size_mm")):
            self._base(name, getattr(base_config, field))

    def build_config(self):
        shift = self.beam_shift_pixels * float(self._buffers["pixel_size_mm"])
        largest = _largest((self.max_tilt_delta_deg,) * 4 + (shift,) * 2, self.device, self.dtype)
        moved = (self._bases("rotx_deg", "roty_deg", "rotz_deg", "twotheta_deg", "beam_center_s_mm", "beam_center_f_mm")
                 + largest * torch.tanh(self._deltas("rotx_raw", "roty_raw", "rotz_raw", "twotheta_raw", "beam_s_raw", "beam_f_raw")))
        return self._with(
            distance_mm=self.base_distance_mm * torch.exp(self.delta_log_distance_mm),
            **dict(zip(("detector_rotx_deg", "detector_roty_deg", "detector_rotz_deg", "detector_twotheta_deg", "beam_center_s",
                        "beam_center_f"), moved.unbind())))


class BeamStageAParams(_Params):
    """Fluence exp(delta)."""

    def __init__(self, base_config, device=None, dtype=torch.float32, param_init="frozen"):
        super().__init__(base_config, device, dtype, param_init, {"delta_log_fluence": ()})
        self._base("base_fluence", base_config.fluence)

    def build_config(self):
        return self._with(fluence=self.base_fluence * torch.exp(self.delta_log_fluence))


class ExperimentModel(nn.Module):
    """Crystal, detector and beam with the parameters of stage A; ``forward`` is the image."""

    def __init__(self, crystal_config, detector_config, beam_config, device=None, dtype=torch.float32, param_init="frozen",
                 hkl_data=None, hkl_metadata=None):
        super().__init__()
        self.device = torch.device("cpu") if device is None else device
        self.dtype = dtype
        self.crystal_params = CrystalStageAParams(crystal_config, self.device, dtype, param_init)
        self.detector_params = DetectorStageAParams(detector_config, self.device, dtype, param_init)
        self.beam_params = BeamStageAParams(beam_config, self.device, dtype, param_init)
        self.set_structure_factors(hkl_data, hkl_metadata)

    def set_structure_factors(self, hkl_data, hkl_metadata):
        """A grid [h, k, l] and its bounds h_min, h_max, k_min, ..."""
        self._external_hkl_metadata = hkl_metadata
        self._external_hkl_data = None if hkl_data is None else torch.as_tensor(hkl_data).to(device=self.device, dtype=self.dtype)

    def _build_simulator(self):
        from ..simulator import Simulator
        beam = self.beam_params.build_config()
        crystal = Crystal(self.crystal_params.build_config(), beam, device=self.device, dtype=self.dtype)
        crystal.hkl_data, crystal.hkl_metadata = self._external_hkl_data, self._external_hkl_metadata
        detector = Detector(self.detector_params.build_config(), device=self.device, dtype=self.dtype)
        return Simulator(crystal, detector, beam_config=beam, device=self.device, dtype=self.dtype), crystal, detector, beam

    def forward(self, pixel_batch_size=None, oversample=None, oversample_omega=None, oversample_polar=None, oversample_thick=None):
        return self._build_simulator()[0].run(pixel_batch_size, None, oversample, oversample_omega, oversample_polar, oversample_thick)
