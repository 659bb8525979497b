"""Which nodes can have light on the detector, and where."""

import numpy as np

from draws import jacobian
from model import NORMAL, UNIFORM, amplitude, rotated, unit


def near_sphere(model):
    """Nodes [n, 3] that a generous spread brings to the Ewald sphere and, about, to the detector."""
    e = model.e
    edge = np.linspace(0, e.pixels - 1, 12)
    pixels = np.stack(np.meshgrid(edge, edge), -1).reshape(-1, 2)
    middle = np.zeros((len(pixels), UNIFORM + NORMAL))
    hkl = model.miller_index(pixels, middle)
    J = jacobian(model, pixels, middle)
    reach = np.sqrt(64 * (J[..., 2:]**2).sum(-1)).max(0) + 2
    low, high = np.floor(hkl.min(0) - reach).astype(int), np.ceil(hkl.max(0) + reach).astype(int)
    kept = []
    for h in range(low[0], high[0] + 1):
        plane = np.stack(np.meshgrid([h], *[np.arange(low[i], high[i] + 1) for i in (1, 2)],
                                     indexing="ij"), -1).reshape(-1, 3)
        q = rotated(model.spindle * model.spindle_angle(0.0), plane @ model.reciprocal.T)
        away = np.abs(np.linalg.norm(q + model.beam / e.wavelength, axis=1) - 1 / e.wavelength)
        wide = (8 * (model.deviations.max() + np.radians(e.osc)) * np.linalg.norm(q, axis=1) +
                8 * model.deviations[4:].max() / e.wavelength + 2 / np.min(np.array(e.cell[:3]) * e.ncells))
        kept.append(plane[away < wide + 0.003])
    return np.concatenate(kept)


def predicted(model, nodes):
    """Where the light of nodes meets the detector, in pixels, in the middle of the step, and whether it does."""
    e = model.e
    q = rotated(model.spindle * model.spindle_angle(0.0), nodes @ model.reciprocal.T)
    ray = unit(q + model.beam / e.wavelength)
    along = ray @ model.normal
    point = ray * ((model.corner @ model.normal) / along)[:, None] - model.corner
    place = np.stack([point @ model.fast, point @ model.slow], -1) / e.pixel - 0.5
    meets = (along > 0.1) & (place >= 0).all(1) & (place <= e.pixels - 1).all(1) & (amplitude(nodes) > 0)
    return place, meets


def write(path, nodes):
    with open(path, "w") as file:
        for node, value in zip(nodes, amplitude(nodes)):
            file.write(f"{node[0]} {node[1]} {node[2]} {value:g}\n")
