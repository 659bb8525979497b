"""Means over draws, with their standard errors.

`plain` draws from the distributions themselves and takes each draw's nearest node. Where spots are
narrow and spreads wide, almost no draw has light. `weighted` draws most from a normal distribution
near those that have light, for each pixel and node, and weighs each by the ratio of the densities.
It is right whatever that distribution is; a bad one has a larger standard error."""

import numpy as np

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
    """Of each pair the draw with most light, weighed by how likely it is, and the inverse covariance there."""
    a, ncells = 2 / 0.63 * model.e.fudge, np.array(model.e.ncells, float)
    draw = np.zeros((len(pixels), UNIFORM + NORMAL))
    for _ in range(6):
        J = ncells[:, None] * jacobian(model, pixels, draw)
        y = ncells * (model.miller_index(pixels, draw) - node)
        precision = np.diag(PRIOR_PRECISION) + 2 * a * np.einsum("pij,pik->pjk", J, J)
        wanted = 2 * a * np.einsum("pij,pi->pj", J, np.einsum("pij,pj->pi", J, draw) - y)
        draw = np.linalg.solve(precision, wanted[..., None])[..., 0]
        draw[:, :UNIFORM] = np.clip(draw[:, :UNIFORM], -0.5, 0.5)
    # The rest of the numbers, once more, with the pixel's place and the step held.
    held = draw[:, :UNIFORM]
    right = wanted[:, UNIFORM:] - np.einsum("pij,pj->pi", precision[:, UNIFORM:, :UNIFORM], held)
    draw[:, UNIFORM:] = np.linalg.solve(precision[:, UNIFORM:, UNIFORM:], right[..., None])[..., 0]
    return draw, precision


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
        centre, precision = lit_draws(model, pixels[of], node)
        lower = np.linalg.cholesky(precision[:, used][:, :, used] / wider**2)
        # The transposed factor's inverse makes deviates of this precision.
        turn = np.swapaxes(np.linalg.inv(lower), 1, 2)
        lit = np.einsum("pij,snj->psni", turn, even_normals(random, lit_count, dims, shifts))
        rest = even_points(random, plain_draws, UNIFORM, shifts) - 0.5
        rest = np.concatenate([rest, even_normals(random, plain_draws, NORMAL, shifts)], -1)[..., used]
        draw = np.zeros((len(of), shifts, lit_count + plain_draws, UNIFORM + NORMAL))
        draw[..., used] = np.concatenate([lit + centre[:, None, None, used],
                                          np.broadcast_to(rest, (len(of),) + rest.shape)], 2)
        away = (draw - centre[:, None, None])[..., used]
        exponent = (np.einsum("pij,psni->psnj", lower, away)**2).sum(-1) / 2
        half_log = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(1)[:, None, None]
        p = np.exp(log_prior(draw, used))
        density = share * p + (1 - share) * np.exp(half_log - dims / 2 * np.log(2 * np.pi) - exponent)
        hkl = model.miller_index(pixels[of][:, None, None], draw)
        light = p / density * model.shape(hkl, node[:, None, None])
        np.add.at(sums, of, light.mean(2) * amplitude(node)[:, None]**2)
    factor = model.factor(pixels)
    return sums.mean(1) * factor, sums.std(1, ddof=1) / np.sqrt(shifts) * factor
