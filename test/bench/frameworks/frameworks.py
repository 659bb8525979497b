#!/usr/bin/env python3
"""frameworks.py [--pixels=N] [--domains=N] [--threads=N] [--repeat=N] [--json] [FRAMEWORK...]: value and gradient of the same formula
in nanobragg, JAX, torch.compile, eager PyTorch and Dr.Jit.

Run by hand, in a Python that has them. Each framework has a process of its own, one after another in each of --repeat rounds. The
formula is that of a crystal of 10 x 10 x 10 cells with structure factors on a grid, without polarization; the gradient of the weighted
sum of the image is taken by the nine numbers of the orientation matrix. Images and gradients are compared with nanobragg's. With one
thread the times of repeated calls are processor times, so that a busy machine does less harm.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

NAMES = ("nanobragg", "jax", "torch-compile", "torch", "drjit")
N, EDGE, DISTANCE, PIXEL, WAVE, BOX = 10, 70e-10, 0.1, 1e-4, 1e-10, 50


def parts(args):
    """The arrays that all share: pixel positions, rotations of domains, structure factors, weights of pixels."""
    n = args.pixels
    center = n / 2 * PIXEL
    s, f = np.meshgrid((np.arange(n) + 0.5) * PIXEL - center, (np.arange(n) + 0.5) * PIXEL - center, indexing="ij")
    position = np.stack([np.full_like(s, DISTANCE), -s, f])
    rng = np.random.default_rng(1)
    factors = rng.uniform(10, 100, (2 * BOX + 1,) * 3)
    weights = rng.standard_normal((n, n))
    return position, factors, weights


def formula(xp, gather, position, rotations, basis):
    """The image. basis: columns a, b, c of the crystal; hkl = (rotation basis)' q."""
    x, y, z = position
    r2 = x * x + y * y + z * z
    r = xp.sqrt(r2)
    omega = PIXEL**2 / r2 * (DISTANCE / r)
    q = ((x / r - 1) / WAVE, y / r / WAVE, z / r / WAVE)
    total = 0
    for rotation in rotations:
        lattice, index = 1, []
        for j in range(3):
            turned = [sum(float(rotation[i, k]) * basis[k][j] for k in range(3)) for i in range(3)]
            h = turned[0] * q[0] + turned[1] * q[1] + turned[2] * q[2]
            nearest = xp.round(h)
            index.append(nearest)
            u = np.pi * (h - nearest)
            near = xp.abs(u) < 1e-7
            safe = xp.where(near, 1.0, u)
            lattice = lattice * xp.where(near, float(N), xp.sin(N * safe) / xp.sin(safe))
        structure = gather(index)
        total = total + (structure * lattice)**2
    return total * omega / len(rotations)


def rotations_of(sim):
    turned = []
    for axis, angle in zip(sim["mosaic_axis"], sim["mosaic_unit_angle"] * sim["mosaic_spread"]):
        a, b, c = axis
        k = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
        turned.append(np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k)
    return turned


def simulator(args, factors):
    import nanobragg as nb
    matrix = np.eye(3) / EDGE
    matrix[0, 1] = 0.1 / EDGE
    sim = nb.Simulator(nb.Crystal(matrix=matrix, ncells=N, interpolate=False, structure_factors=(factors, (-BOX,) * 3),
                                  mosaic_spread=0.5 * nb.degree, mosaic_domains=args.domains, default_F=0),
                       nb.Detector(distance=DISTANCE, pixel_size=PIXEL, shape=(args.pixels,) * 2,
                                   beam_center=(args.pixels / 2 * PIXEL - PIXEL / 2,) * 2, oversample=1),
                       nb.Beam(wavelength=WAVE, unpolarized=True), threads=args.threads)
    return sim, matrix


def runner(name, args):
    """A function that returns the loss and its gradient with respect to the basis, (3, 3)."""
    position, factors, weights = parts(args)
    sim, matrix = simulator(args, factors)
    rotations = rotations_of(sim)
    basis = np.linalg.inv(matrix).T  # columns a, b, c
    if name == "nanobragg":
        import nanobragg as nb
        loss = nb.Loss.linear(weights)

        def run():
            g = sim.gradient("reciprocal_matrix", loss=loss)
            return g.loss, -(matrix @ g["reciprocal_matrix"].T @ matrix)  # A = D^-T

        return run
    if name == "jax":
        import jax
        import jax.numpy as jnp
        jax.config.update("jax_enable_x64", True)
        where, grid, by = jnp.asarray(position), jnp.asarray(factors), jnp.asarray(weights)

        def gather(index):
            return grid[tuple(jnp.clip(h + BOX, 0, 2 * BOX).astype(jnp.int32) for h in index)]

        step = jax.jit(jax.value_and_grad(lambda d: (formula(jnp, gather, where, rotations, d) * by).sum()))

        def run():
            value, g = step(jnp.asarray(basis))
            return float(value), np.asarray(g)

        return run
    if name.startswith("torch"):
        import torch
        torch.set_num_threads(args.threads)
        where, grid, by = (torch.tensor(a) for a in (position, factors, weights))

        def gather(index):
            return grid[tuple(torch.clamp(h.detach() + BOX, 0, 2 * BOX).long() for h in index)]

        def image_loss(d):
            return (formula(torch, gather, where, rotations, d) * by).sum()

        step = torch.compile(image_loss) if name == "torch-compile" else image_loss

        def run():
            d = torch.tensor(basis, requires_grad=True)
            value = step(d)
            g, = torch.autograd.grad(value, d)
            return float(value), g.numpy()

        return run
    import drjit as dr
    from drjit.llvm.ad import Float64, UInt
    dr.set_thread_count(args.threads)

    class Xp:
        sqrt, round, abs, sin = (staticmethod(f) for f in (dr.sqrt, dr.round, dr.abs, dr.sin))

        @staticmethod
        def where(mask, a, b):
            return dr.select(mask, Float64(a), b)

    where, grid, by, side = [Float64(p.ravel()) for p in position], Float64(factors.ravel()), Float64(weights.ravel()), 2 * BOX + 1

    def gather(index):
        i, j, k = (UInt(dr.clip(dr.detach(h) + BOX, 0, 2 * BOX)) for h in index)
        return dr.gather(Float64, grid, (i * side + j) * side + k)

    def run():
        d = [[Float64(float(x)) for x in row] for row in basis]
        for row in d:
            dr.make_opaque(row)
            dr.enable_grad(row)
        loss = dr.sum(formula(Xp, gather, where, rotations, d) * by)
        dr.backward(loss)
        return loss.numpy().item(), np.array([[x.grad.numpy().item() for x in row] for row in d])

    return run


def measure(name, args):
    run = runner(name, args)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    loss, gradient = run()
    first = time.perf_counter() - begin
    clock, times = time.process_time if args.threads == 1 else time.perf_counter, []
    while len(times) < 3 or (sum(times) < 1.0 and len(times) < 20):
        begin = clock()
        run()
        times.append(clock() - begin)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"loss": loss, "gradient": gradient.tolist(), "first": first, "best": min(times), "megabytes": (after - before) / 1024}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frameworks", nargs="*", choices=[[], *NAMES], default=[], metavar="FRAMEWORK", help=", ".join(NAMES))
    parser.add_argument("--pixels", type=int, default=1024)
    parser.add_argument("--domains", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="seconds of each round, for page.py")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure, args)
        return
    names = args.frameworks or NAMES
    found = {}
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads),
                   "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'false' if args.threads == 1 else 'true'} intra_op_parallelism_threads={args.threads}"}
    for _ in range(args.repeat):
        for name in names:
            done = subprocess.run([sys.executable, __file__, f"--measure={name}", f"--pixels={args.pixels}", f"--domains={args.domains}",
                                   f"--threads={args.threads}"], env=environment, capture_output=True, text=True)
            if done.returncode:
                print(f"{name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
                continue
            result = json.loads(done.stdout.strip().splitlines()[-1])
            old = found.setdefault(name, {**result, "rounds": []})
            old["rounds"].append(result["best"])
            old["best"], old["first"] = min(old["best"], result["best"]), max(old["first"], result["first"])
    if args.json:
        print(json.dumps({name: r["rounds"] for name, r in found.items()}))
        return
    samples = args.pixels**2 * args.domains
    reference = next(iter(found.values()), None)
    print(f"{args.pixels} x {args.pixels} pixels, {args.domains} domains, {args.threads} thread(s), f64, value and gradient")
    print("| framework | ns per sample | first call, s | memory, MB | gradient from the first row's |\n|---|---|---|---|---|")
    for name, r in found.items():
        off = np.abs(np.array(r["gradient"]) - reference["gradient"]).max() / np.abs(reference["gradient"]).max()
        print(f"| {name} | {r['best'] / samples * 1e9:.1f} | {r['first']:.2f} | {r['megabytes']:.0f} | {off:.1e} |")


if __name__ == "__main__":
    main()
