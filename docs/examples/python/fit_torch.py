"""Refine an experiment as a PyTorch module: with Adam and a custom loss."""

import torch

import nanobragg as nb
from nanobragg.torch import NBImage

flags = ("-cell 70 80 90 90 90 90 -misset 10 20 30 -default_F 100 -N 8 -lambda 1 -distance 100 -detpixels 48 -pixel 0.5 "
         "-fluence 1e28 -oversample 1")
sim = nb.Simulator.from_flags(flags)
data = torch.tensor(sim.image())
sim.set(misset_z=30.05 * nb.degree, cell_a=70.05 * nb.angstrom)  # a guess

# Parameters start at 0, which is the guess; one unit of misset is 0.1 degrees, and the cell stays within bounds.
model = NBImage(sim, "cell_a,misset", bounds={"cell_a": (69 * nb.angstrom, 71 * nb.angstrom)}, scale={"misset": 0.1 * nb.degree})
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(120):
    optimizer.zero_grad()
    # Differences of square roots, so that the brightest spots do not dominate; any torch code is possible.
    loss = (torch.sqrt(model() + 1e-3) - torch.sqrt(data + 1e-3)).square().sum()
    loss.backward()
    optimizer.step()
    if step == 0:
        first = loss.item()
    if step % 20 == 0:
        print(f"{step:3} {loss.item():.4g}")
sim = model.update()
print(f"cell_a {sim['cell_a'] / nb.angstrom:.4f} A, misset {sim['misset'] / nb.degree} degrees")
assert loss.item() < first / 20
