"""spot_finder.py IMAGE...: a spot finder that is trained on simulated frames alone.

The network is trained on the processor, or read from --model if that file exists. For each image it
writes NAME.spots.txt with fast and slow in pixels, photons above background, and number of pixels.
"""

import argparse
import pathlib

import numpy as np
import torch
from scipy import ndimage
from torch import nn

import nanobragg as nb

SIDE = 128  # pixels of a simulated frame
LARGEST = 60  # Miller index in the table of structure factors


def simulator(rng):
    """SIDE x SIDE pixels and a crystal whose intensities follow Wilson's statistics."""
    sim = nb.Simulator.from_flags(
        "-cell 60 60 60 90 90 90 -default_F 100 -N 20 -gauss_xtal -mosaic 0.1 -lambda 1 "
        f"-distance 200 -detpixels {SIDE} -pixel 0.172 -fluence 1e24 "
        "--average=closed --average-tolerance 0.01")
    count = 2 * LARGEST + 1
    sim.structure_factors = np.sqrt(rng.exponential(1e4, (count,) * 3)), (-LARGEST,) * 3
    return sim


def frame(sim, rng, blank=False):
    """Counts, and the pixels of spots: more than a photon, the noise, and a tenth of the peak."""
    cell = np.exp(rng.uniform(np.log(30), np.log(160), 3)) * nb.angstrom
    size = rng.uniform(0.5e-7, 4e-7)  # block size in m
    sim.set(misset=nb.random_misset(seed=rng), mosaic_spread=np.radians(rng.uniform(0.05, 0.4)),
            cell_a=cell[0], cell_b=cell[1], cell_c=cell[2], ncells_a=size / cell[0],
            ncells_b=size / cell[1], ncells_c=size / cell[2], distance=rng.uniform(0.12, 0.45),
            beam_center_fast=rng.uniform(-0.15, 0.15), beam_center_slow=rng.uniform(-0.15, 0.15))
    light = ndimage.gaussian_filter(sim.image(), rng.uniform(0.2, 0.9))
    light *= np.exp(rng.uniform(np.log(3), np.log(3e4))) / max(light.max(), 1e-30) * (not blank)
    background = np.exp(rng.uniform(np.log(0.01), np.log(30)))
    slow, fast = np.mgrid[:SIDE, :SIDE] / SIDE
    slope, ring = rng.uniform(-1, 1, 2), rng.uniform(0, 1.4)
    background = background * np.exp(slope[0] * slow + slope[1] * fast)
    background *= 1 + rng.uniform(0, 1) * np.exp(-(((np.hypot(slow, fast) - ring) / 0.15) ** 2))
    counts = rng.poisson(light + background).astype("f4")
    hot = rng.random(counts.shape) < 1e-4
    counts[hot] += rng.uniform(10, 1e5, hot.sum())
    peak = ndimage.maximum_filter(light, 7)
    return counts, light > np.maximum(np.maximum(1, np.sqrt(background)), 0.1 * peak)


def local_mean(counts):
    """Mean of the 31 x 31 pixels around each, without spots."""
    mean = ndimage.uniform_filter(counts, 31, mode="reflect")
    for _ in range(3):
        limit = mean + 3 * np.sqrt(np.maximum(mean, 0)) + 1
        mean = ndimage.uniform_filter(np.minimum(counts, limit), 31, mode="reflect")
    return np.maximum(mean, 0)


def features(counts):
    """Counts above the local mean in its sigmas, and that mean, compressed; (2, slow, fast)."""
    mean = local_mean(counts)
    above = (counts - mean) / np.sqrt(mean + 0.1)
    return np.stack([np.arcsinh(above), np.log(mean + 0.01)]).astype("f4")


class UNet(nn.Module):
    """A U-Net of one level and 8,000 weights."""

    def __init__(self):
        super().__init__()
        def pair(before, after):
            return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(after, after, 3, padding=1), nn.ReLU())
        self.down, self.below, self.up = pair(2, 10), pair(10, 16), pair(26, 10)
        self.out = nn.Conv2d(10, 1, 1)

    def forward(self, x):
        fine = self.down(x)
        coarse = self.below(nn.functional.max_pool2d(fine, 2))
        coarse = nn.functional.interpolate(coarse, scale_factor=2, mode="nearest")
        return self.out(self.up(torch.cat([fine, coarse], 1)))[:, 0]


def train(steps, seed=0, batch=4):
    """A network, and the probability above which a pixel belongs to a spot.

    One frame in four has no crystal. The probability is the least that finds at most 8 spots per
    million pixels in further frames of that kind.
    """
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    sim, network = simulator(rng), UNet()
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, steps)
    for step in range(steps):
        counts, truth = zip(*(frame(sim, rng, blank=i % 4 == 0) for i in range(batch)))
        output = network(torch.tensor(np.array([features(c) for c in counts])))
        wanted = torch.tensor(np.array(truth, "f4"))
        loss = nn.functional.binary_cross_entropy_with_logits(output, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
        if step % 100 == 0 or step + 1 == steps:
            print(f"step {step}: cross-entropy {loss.item():.4f}", flush=True)
    blank = [probability(network, frame(sim, rng, blank=True)[0]) for _ in range(100)]
    allowed = 8e-6 * 100 * SIDE**2
    level = next((level for level in np.linspace(0.5, 0.98, 25)
                  if sum(components(score > level)[1] for score in blank) <= allowed), 0.98)
    counts, truth = zip(*(frame(sim, rng) for _ in range(100)))
    f1 = spot_f1([probability(network, c) > level for c in counts], truth)
    print(f"F1 of spots in 100 further frames: {f1:.3f} above the probability {level:.2f}")
    return network, float(level)


def probability(network, counts):
    """Probability of each pixel to belong to a spot; in the shape of counts."""
    height, width = (-(-side // 2) * 2 for side in counts.shape)
    more = (0, height - counts.shape[0]), (0, width - counts.shape[1])
    padded = np.pad(counts, more, mode="edge")
    with torch.no_grad():
        logits = network(torch.tensor(features(padded))[None])[0]
    return torch.sigmoid(logits).numpy()[:counts.shape[0], :counts.shape[1]]


def components(mask):
    """Connected pixels, numbered from 1; those with one pixel alone are left out."""
    labels, count = ndimage.label(mask, np.ones((3, 3)))
    large = np.bincount(labels.ravel(), minlength=count + 1) >= 2
    return ndimage.label(mask & large[labels], np.ones((3, 3)))


def spot_f1(found, truth):
    """F1 of spots in frames: a spot is right if it shares a pixel with one of the other kind."""
    hits = [0, 0]
    totals = [0, 0]
    for pair in zip(found, truth):
        for kind in (0, 1):
            labels, count = components(pair[kind])
            other = components(pair[1 - kind])[0] > 0
            hits[kind] += len(np.unique(labels[other & (labels > 0)]))
            totals[kind] += count
    precision, recall = (hit / max(total, 1) for hit, total in zip(hits, totals))
    return 2 * precision * recall / max(precision + recall, 1e-9)


def find(network, level, counts):
    """Spots of an image whose negative pixels are gaps: rows of fast, slow, photons, pixels."""
    usable = counts >= 0
    filled = np.where(usable, counts, 0).astype("f4")
    share = ndimage.uniform_filter(usable.astype("f4"), 31, mode="reflect")
    mean = ndimage.uniform_filter(filled, 31, mode="reflect") / np.maximum(share, 1e-3)
    filled = np.where(usable, filled, mean)
    labels, count = components((probability(network, filled) > level) & usable)
    light = np.maximum(filled - local_mean(filled), 0) + 1e-6
    every = np.arange(1, count + 1)
    centers = np.array(ndimage.center_of_mass(light, labels, every)).reshape(-1, 2)
    photons, pixels = (ndimage.sum_labels(a, labels, every) for a in (light, labels > 0))
    return np.column_stack([centers[:, 1] + 0.5, centers[:, 0] + 0.5, photons, pixels])


def load_or_train(path, steps):
    if path.exists():
        kept = torch.load(path)
        network = UNet()
        network.load_state_dict(kept["weights"])
        return network, kept["level"]
    network, level = train(steps)
    torch.save({"weights": network.state_dict(), "level": level}, path)
    return network, level


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("images", nargs="*", metavar="IMAGE")
    parser.add_argument("--model", type=pathlib.Path, default="spot_finder.pt")
    parser.add_argument("--steps", type=int, default=2000, help="training steps of 4 frames")
    options = parser.parse_args()
    network, level = load_or_train(options.model, options.steps)
    for image in options.images:
        spots = find(network, level, nb.read_image(image))
        name = pathlib.Path(image).name.split(".")[0] + ".spots.txt"
        np.savetxt(name, spots, "%.2f", header="fast slow photons pixels")
        print(f"{image}: {len(spots)} spots, {name}")


if __name__ == "__main__":
    main()
