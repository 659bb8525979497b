"""The parametrisation of stage A, written for nanobrag_torch: only the import differs."""

import time

import torch

import nanobragg
import nanobragg.compat.nanobrag_torch as port

port.alias()  # `import nanobrag_torch` is this package from here on
from nanobrag_torch.config import BeamConfig, CrystalConfig, DetectorConfig  # noqa: E402
from nanobrag_torch.models.experiment import ExperimentModel  # noqa: E402

crystal = CrystalConfig(cell_a=100.0, cell_b=100.0, cell_c=100.0, N_cells=(5, 5, 5))
detector = DetectorConfig(spixels=64, fpixels=64, pixel_size_mm=1.0, oversample=1, roi_xmin=16, roi_xmax=47, roi_ymin=16, roi_ymax=47)
beam = BeamConfig(wavelength_A=6.2, fluence=1e12)
bounds = {"h_min": -5, "h_max": 5, "k_min": -5, "k_max": 5, "l_min": -5, "l_max": 5}
grid = torch.full((11, 11, 11), 100.0, dtype=torch.float64)

# With its parameters at zero the model is the experiment itself.
data = ExperimentModel(crystal, detector, beam, dtype=torch.float64, hkl_data=grid, hkl_metadata=bounds)()
trusted = data > 0
variance = data.max() * (data.mean() + data)  # relative to the image, which has few photons

crystal.cell_a = 100.5  # a start that is a little off
model = ExperimentModel(crystal, detector, beam, dtype=torch.float64, param_init="stage_a", hkl_data=grid, hkl_metadata=bounds)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for step in range(30):
    optimizer.zero_grad()
    loss = (((model() - data)**2 / variance)[trusted]).sum()
    loss.backward()
    optimizer.step()
    if step == 0:
        first, begin, compiled = loss.item(), time.perf_counter(), nanobragg.counters()["compiles"]
print(f"loss {first:.4g} -> {loss.item():.4g}, {(time.perf_counter() - begin) / 29 * 1e3:.1f} ms per iteration")
assert loss.item() < first / 4
assert nanobragg.counters()["compiles"] == compiled  # new numbers compile nothing
