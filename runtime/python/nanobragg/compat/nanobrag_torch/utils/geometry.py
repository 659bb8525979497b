"""Rotations of tensors (..., 3)."""

import torch


def _tensors(*values):
    like = next((v for v in values if isinstance(v, torch.Tensor)), torch.zeros(()))
    return [v if isinstance(v, torch.Tensor) else torch.as_tensor(v, dtype=like.dtype, device=like.device) for v in values]


def dot_product(x, y):
    return (x * y).sum(-1)


def cross_product(x, y):
    return torch.linalg.cross(*torch.broadcast_tensors(x, y))


def magnitude(x):
    return torch.sqrt((x * x).sum(-1))


def unitize(x):
    """The unit vector and the length."""
    length = magnitude(x)
    safe = torch.where(length > 0, length, torch.ones_like(length))
    return torch.where((length > 0)[..., None], x / safe[..., None], torch.zeros_like(x)), length


def rotate_axis(v, axis, phi):
    """v about an axis, right-handed, by phi in radians (Rodrigues)."""
    v, axis, phi = _tensors(v, axis, phi)
    axis, _ = unitize(axis)
    c, s = torch.cos(phi)[..., None], torch.sin(phi)[..., None]
    return v * c + cross_product(axis, v) * s + axis * dot_product(axis, v)[..., None] * (1 - c)


def angles_to_rotation_matrix(x, y, z):
    """About X, then Y, then Z, by radians."""
    x, y, z = _tensors(x, y, z)
    one, zero = torch.ones_like(x), torch.zeros_like(x)

    def matrix(*rows):
        return torch.stack([torch.stack(row, -1) for row in rows], -2)

    rx = matrix((one, zero, zero), (zero, torch.cos(x), -torch.sin(x)), (zero, torch.sin(x), torch.cos(x)))
    ry = matrix((torch.cos(y), zero, torch.sin(y)), (zero, one, zero), (-torch.sin(y), zero, torch.cos(y)))
    rz = matrix((torch.cos(z), -torch.sin(z), zero), (torch.sin(z), torch.cos(z), zero), (zero, zero, one))
    return rz @ ry @ rx


def rotate_umat(v, umat):
    return torch.matmul(umat, v[..., None])[..., 0]
