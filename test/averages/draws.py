"""Means over draws, with their standard errors.

`plain` draws from the distributions themselves and takes each draw's nearest node. Where spots are
narrow and spreads wide, almost no draw has light. `weighted` draws most from a normal distribution
near those that have light, for each pixel and node, and weighs each by the ratio of the densities.
It is right whatever that distribution is; a bad one has a larger standard error."""

import copy
import dataclasses

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from model import NORMAL, UNIFORM, amplitude

PRIOR_PRECISION = np.array([12.0] * UNIFORM + [1.0] * NORMAL)


def prior(random, shape):
    return np.concatenate([random.uniform(-0.5, 0.5, shape + (UNIFORM,)),
                           random.normal(size=shape + (NORMAL,))], axis=-1)


def log_prior(draw, used):
    """Over the numbers that are used; minus infinity outside the pixel or the step."""
    inside = (np.abs(draw[..., :UNIFORM]) <= 0.5).all(-1)
    normal = used[UNIFORM:].sum()
    exponent = (np.where(used, draw, 0)[..., UNIFORM:]**2).sum(-1) / 2
    return np.where(inside, -exponent - normal / 2 * np.log(2 * np.pi), -np.inf)


def plain(model, pixels, count, random, block=20000):
    pixels = np.asarray(pixels, float)
    sums, squares, done = np.zeros(len(pixels)), np.zeros(len(pixels)), 0
    while done < count:
        n = min(max(1, block // len(pixels)), count - done)
        draw = prior(random, (len(pixels), n))
        hkl = model.miller_index(pixels[:, None], draw)
        node = np.ceil(hkl - 0.5)
        light = amplitude(node)**2 * model.shape(hkl, node)
        sums += light.sum(1)
        squares += (light**2).sum(1)
        done += n
    mean = sums / count
    error = np.sqrt(np.maximum(squares / count - mean**2, 0) / count)
    factor = model.factor(pixels)
    return mean * factor, error * factor


def jacobian(model, pixels, draw, step=1e-4):
    columns = []
    for i in range(UNIFORM + NORMAL):
        away = np.zeros(UNIFORM + NORMAL)
        away[i] = step
        columns.append((model.miller_index(pixels, draw + away) -
                        model.miller_index(pixels, draw - away)) / (2 * step))
    return np.stack(columns, -1)


def nodes_that_reach(model, pixels, exponent=32.0):
    """Pairs of a pixel's number and a node whose light may reach it, generously."""
    e = model.e
    middle = np.zeros((len(pixels), UNIFORM + NORMAL))
    hkl, J = model.miller_index(pixels, middle), jacobian(model, pixels, middle)
    a, ncells = 2 / 0.63 * e.fudge, np.array(e.ncells, float)
    # The box as a normal distribution that covers it; a tenth more for what is not linear.
    variance = np.where(PRIOR_PRECISION == 12, 0.25, 1.21)
    spread = np.einsum("pij,j,pkj->pik", J, variance, J)
    reach = np.sqrt(2 * exponent * np.diagonal(spread, axis1=1, axis2=2)) + np.sqrt(exponent / a) / ncells
    most = np.ceil(reach.max(0)).astype(int)
    offsets = np.stack(np.meshgrid(*[np.arange(-m, m + 1) for m in most], indexing="ij"), -1).reshape(-1, 3)
    pairs = []
    for p in range(len(pixels)):
        node = np.rint(hkl[p]) + offsets
        y = ncells * (hkl[p] - node)
        width = np.eye(3) + 2 * a * spread[p] * np.outer(ncells, ncells)
        near = a * np.einsum("ni,ij,nj->n", y, np.linalg.inv(width), y) < exponent
        pairs += [(p, *n) for n in node[near]]
    pairs = np.array(pairs).reshape(-1, 4)
    return pairs[:, 0].astype(int), pairs[:, 1:]


def lit_draws(model, pixels, node):
    """For each pair the mean and the precision of a normal distribution that the light follows near where it is
    brightest. The pixel's and the step's numbers have almost no precision of their own."""
    a, ncells = 2 / 0.63 * model.e.fudge, np.array(model.e.ncells, float)
    draw = np.zeros((len(pixels), UNIFORM + NORMAL))
    for _ in range(7):
        J = ncells[:, None] * jacobian(model, pixels, draw)
        y = ncells * (model.miller_index(pixels, draw) - node)
        light = 2 * a * np.einsum("pij,pik->pjk", J, J)
        wanted = 2 * a * np.einsum("pij,pi->pj", J, np.einsum("pij,pj->pi", J, draw) - y)
        draw = np.linalg.solve(np.diag(PRIOR_PRECISION) + light, wanted[..., None])[..., 0]
        draw[:, :UNIFORM] = np.clip(draw[:, :UNIFORM], -0.5, 0.5)
        # The rest of the numbers, once more, with the pixel's place and the step held.
        right = wanted[:, UNIFORM:] - np.einsum("pij,pj->pi", light[:, UNIFORM:, :UNIFORM], draw[:, :UNIFORM])
        own = np.eye(NORMAL) + light[:, UNIFORM:, UNIFORM:]
        draw[:, UNIFORM:] = np.linalg.solve(own, right[..., None])[..., 0]
    precision = np.diag([0.5] * UNIFORM + [1.0] * NORMAL) + light
    return np.linalg.solve(precision, wanted[..., None])[..., 0], precision


class CutNormal:
    """Normal distributions of which the first `cut` variables stay between -1/2 and 1/2, each cut where those before
    it leave it: drawn in turn, so that the density is known."""

    def __init__(self, mean, precision, cut, wider):
        self.mean, self.cut = mean, cut
        self.lower = np.linalg.cholesky(np.linalg.inv(precision)) * wider

    def _bounds(self, i, before):
        """Bounds of deviate i, with its sign turned where it is in the upper tail; log of the share below each."""
        width = self.lower[:, i, i, None, None]
        low, high = (-0.5 - before) / width, (0.5 - before) / width
        sign = np.where(low > 0, -1.0, 1.0)
        low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
        return sign, log_ndtr(low), log_ndtr(high)

    def _before(self, i, z):
        return self.mean[:, i, None, None] + np.einsum("pj,psnj->psn", self.lower[:, i, :i], z[..., :i])

    def draw(self, points):
        """points [shifts, n, dims] in the unit cube; [pairs, shifts, n, dims]."""
        points = np.broadcast_to(points, (len(self.mean),) + points.shape)
        z = ndtri(np.clip(points, 1e-15, 1 - 1e-15))
        for i in range(self.cut):
            sign, low, high = self._bounds(i, self._before(i, z))
            share = np.exp(low - high)
            z[..., i] = sign * ndtri_exp(np.minimum(high + np.log(share + points[..., i] * (1 - share)), -1e-16))
        return self.mean[:, None, None] + np.einsum("pij,psnj->psni", self.lower, z)

    def log_density(self, x):
        z = np.einsum("pij,psnj->psni", np.linalg.inv(self.lower), x - self.mean[:, None, None])
        half = np.log(np.diagonal(self.lower, axis1=1, axis2=2)).sum(1)[:, None, None]
        result = -(z**2).sum(-1) / 2 - half - z.shape[-1] / 2 * np.log(2 * np.pi)
        for i in range(self.cut):
            _, low, high = self._bounds(i, self._before(i, z))
            result -= high + np.log1p(-np.exp(low - high))
        return result


def even_points(random, count, dims, shifts):
    """Points that fill the unit cube evenly, `shifts` times with a random shift: the additive recurrence with the
    generalized golden ratio. Each alone is uniform; [shifts, count, dims]."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio)**(1 / (dims + 1))
    step = ratio**-np.arange(1, dims + 1)
    return (np.arange(1, count + 1)[:, None] * step + random.random((shifts, 1, dims))) % 1


def even_normals(random, count, dims, shifts):
    """The same of normal deviates."""
    pairs = (dims + 1) // 2
    u = even_points(random, count, 2 * pairs, shifts)
    radius, angle = np.sqrt(-2 * np.log1p(-u[..., :pairs])), 2 * np.pi * u[..., pairs:]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], -1)[..., :dims]


def weighted(model, pixels, count, random, block=200000, plain_share=0.1, wider=1.15, shifts=16):
    pixels = np.asarray(pixels, float)
    which, nodes = nodes_that_reach(model, pixels)
    used = np.array([True, True, model.e.osc > 0] + list(model.deviations > 0))
    dims, sums = used.sum(), np.zeros((len(pixels), shifts))
    plain_draws = max(1, round(plain_share * count / shifts))
    lit_count = max(1, round(count / shifts) - plain_draws)
    share = plain_draws / (plain_draws + lit_count)
    each = max(1, block // count)
    for start in range(0, len(which), each):
        of, node = which[start:start + each], nodes[start:start + each]
        mean, precision = lit_draws(model, pixels[of], node)
        near = CutNormal(mean[:, used], precision[:, used][:, :, used], used[:UNIFORM].sum(), wider)
        lit = near.draw(even_points(random, lit_count, dims, shifts))
        rest = even_points(random, plain_draws, UNIFORM, shifts) - 0.5
        rest = np.concatenate([rest, even_normals(random, plain_draws, NORMAL, shifts)], -1)[..., used]
        draw = np.zeros((len(of), shifts, lit_count + plain_draws, UNIFORM + NORMAL))
        draw[..., used] = np.concatenate([lit, np.broadcast_to(rest, (len(of),) + rest.shape)], 2)
        p = np.exp(log_prior(draw, used))
        density = share * p + (1 - share) * np.exp(near.log_density(draw[..., used]))
        hkl = model.miller_index(pixels[of][:, None, None], draw)
        light = p / density * model.shape(hkl, node[:, None, None])
        light *= model.factor(pixels[of][:, None, None], draw[..., 0], draw[..., 1])
        np.add.at(sums, of, light.mean(2) * amplitude(node)[:, None]**2)
    return sums.mean(1), sums.std(1, ddof=1) / np.sqrt(shifts)


def spot(model, place, half, count, random):
    """The photons of a square of pixels about a place, as of one pixel that is as large."""
    middle = np.rint(np.asarray(place))
    side = 2 * half + 1
    large = copy.copy(model)
    large.e = dataclasses.replace(model.e, pixel=model.e.pixel * side)
    mean, error = weighted(large, ((middle + 0.5) / side - 0.5)[None], count, random)
    return mean[0], error[0]
