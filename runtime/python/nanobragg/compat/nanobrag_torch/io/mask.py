"""Masks, (slow, fast), 1 where a pixel counts."""

import torch


def create_circular_mask(spixels, fpixels, center_s=None, center_f=None, radius=None, device=None, dtype=torch.float32):
    """A disc; by default in the middle, of half the smaller side."""
    s = (spixels - 1) / 2 if center_s is None else center_s
    f = (fpixels - 1) / 2 if center_f is None else center_f
    r = min(spixels, fpixels) / 2 if radius is None else radius
    slow = torch.arange(spixels, device=device)[:, None] - s
    fast = torch.arange(fpixels, device=device)[None, :] - f
    return (slow**2 + fast**2 <= r**2).to(dtype)


def create_rectangle_mask(spixels, fpixels, roi_xmin, roi_xmax, roi_ymin, roi_ymax, device=None, dtype=torch.float32):
    """A rectangle, ends included: x is fast, y is slow."""
    mask = torch.zeros(spixels, fpixels, device=device, dtype=dtype)
    mask[roi_ymin:roi_ymax + 1, roi_xmin:roi_xmax + 1] = 1
    return mask
