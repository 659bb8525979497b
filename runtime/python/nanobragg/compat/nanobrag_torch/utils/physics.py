"""Formulas of the physics, as tensors."""

import math

import torch

from .geometry import cross_product, dot_product, unitize


def sincg(u, N):
    """sin(N u) / sin(u), N at the zeros of the sine with the sign of the limit."""
    u, N = torch.broadcast_tensors(u, N)
    k = torch.round(u / math.pi)
    near = torch.abs(u - k * math.pi) < 1e-9
    safe = torch.where(near, torch.ones_like(u), u)
    sign = torch.where((torch.remainder(k * (N - 1), 2) > 0.5) & (torch.remainder(k * (N - 1), 2) < 1.5), -torch.ones_like(u),
                       torch.ones_like(u))
    return torch.where(near, N * sign, torch.sin(N * safe) / torch.sin(safe))


def sinc3(x):
    """3 (sin x - x cos x) / x^3, 1 at 0."""
    near = torch.abs(x) < 1e-4
    safe = torch.where(near, torch.ones_like(x), x)
    return torch.where(near, 1 - x * x / 10, 3 * (torch.sin(safe) - safe * torch.cos(safe)) / safe**3)


def polarization_factor(kahn_factor, incident, diffracted, axis):
    """Kahn's factor of the intensity: (1 + cos^2 2theta - K cos(2 psi) sin^2 2theta) / 2."""
    incident, _ = unitize(incident)
    diffracted, _ = unitize(diffracted)
    cos2theta = dot_product(incident, diffracted)
    b, _ = unitize(cross_product(axis.expand_as(incident), incident))
    e, _ = unitize(cross_product(incident, b))
    psi = -torch.atan2(dot_product(diffracted, b), dot_product(diffracted, e))
    return 0.5 * (1 + cos2theta**2 - kahn_factor * torch.cos(2 * psi) * (1 - cos2theta**2))
