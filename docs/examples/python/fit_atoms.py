"""Move atoms until the pixels of a still agree: coordinates -> F -> image -> gradient, in PyTorch."""

import math

import torch

import nanobragg as nb
from nanobragg.factors import box_rows
from nanobragg.torch import image

torch.set_default_dtype(torch.float64)
sim = nb.Simulator.from_flags("-cell 20 25 30 90 90 90 -default_F 1 -N 8 -gauss_xtal -mosaic 0.1 --average=closed "
                              "-misset 10 20 30 -lambda 1 -distance 60 -detpixels 128 -pixel 0.5 -fluence 1e28 --average-tolerance=2e-3")
edges = torch.tensor([20.0, 25.0, 30.0])  # cell edges, A
# P 21 21 21: the rotations are diagonal.
rotations = torch.tensor([[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]])
shifts = torch.tensor([[0, 0, 0], [0.5, 0, 0.5], [0, 0.5, 0.5], [0.5, 0.5, 0]])
n = 12  # Miller indices go from -n to n
unique = torch.cartesian_prod(*3 * [torch.arange(n + 1)])  # asymmetric unit of reciprocal space


rows, lowest = box_rows(unique, "P 21 21 21")
rows = torch.from_numpy(rows)


def to_grid(F):
    """The box of Miller indices that the simulator takes, from F of the unique reflections."""
    return torch.where(rows >= 0, F[rows], 0)


def amplitudes(xyz, electrons=6.0, B=10.0):
    """|F| of the unique reflections, for fractional coordinates of the asymmetric unit."""
    atoms = (rotations[:, None] * xyz + shifts[:, None]).reshape(-1, 3)
    scattering = electrons * torch.exp(-B / 4 * ((unique / edges) ** 2).sum(-1))
    return scattering * torch.exp(2j * math.pi * (unique.double() @ atoms.T)).sum(-1).abs()


torch.manual_seed(1)
true = torch.rand(10, 3)
sim.structure_factors = to_grid(amplitudes(true)).numpy(), lowest
data = torch.from_numpy(sim.image())

xyz = (true + 0.2 * torch.randn(10, 3) / edges).requires_grad_()
optimizer = torch.optim.Adam([xyz], lr=5e-4)
for step in range(151):
    optimizer.zero_grad()
    loss = ((image(sim, F=to_grid(amplitudes(xyz))) - data) ** 2 / (data + 1)).mean()
    loss.backward()
    if step % 30 == 0:
        error = ((xyz - true) * edges).norm(dim=-1).mean().item()
        print(f"step {step:3}: chi-square {loss.item():.1e}, atoms off by {error:.3f} A")
    optimizer.step()
assert error < 0.01
