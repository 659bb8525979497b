#!/usr/bin/env python3
"""stage_a.py PORT [--pixels=N] [--domains=N] [--iterations=N] [--repeat=N]: an iteration of stage A (image, loss and gradient with respect
to all its parameters) with this package and with the PyTorch port, whose folder `src` PORT is, with and without its torch.compile.

Run by hand, in a Python that has PyTorch. One thread; each in a process of its own, in turn in each of --repeat rounds; seconds are
processor time. The losses have to agree, or it fails; with mosaic domains they differ, since the port draws its rotations from another
distribution (angles of a Gaussian; here as the C program, evenly in a cap).
"""

import argparse
import json
import os
import subprocess
import sys
import time

RUNS = {"nanobragg": {}, "port": {"NANOBRAGG_DISABLE_COMPILE": "1"}, "port, torch.compile": {}}


def measure(args):
    import torch
    torch.set_num_threads(1)
    if args.measure == "nanobragg":
        import nanobragg.compat.nanobrag_torch as port
        port.alias()
    from nanobrag_torch.config import BeamConfig, CrystalConfig, DetectorConfig
    from nanobrag_torch.models.experiment import ExperimentModel
    n = args.pixels
    crystal = CrystalConfig(cell_a=100.0, cell_b=100.0, cell_c=100.0, N_cells=(5, 5, 5),
                            **({"mosaic_spread_deg": 0.5, "mosaic_domains": args.domains} if args.domains > 1 else {}))
    detector = DetectorConfig(spixels=n, fpixels=n, pixel_size_mm=64 / n, oversample=1)
    bounds = {"h_min": -5, "h_max": 5, "k_min": -5, "k_max": 5, "l_min": -5, "l_max": 5}
    model = ExperimentModel(crystal, detector, BeamConfig(wavelength_A=6.2, fluence=1e12), dtype=torch.float64, param_init="stage_a",
                            hkl_data=torch.full((11, 11, 11), 100.0, dtype=torch.float64), hkl_metadata=bounds)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    with torch.no_grad():
        scale = 1 / (model()**2).sum()  # near 1: Adam hardly moves for gradients below 1e-8

    def iterate():
        optimizer.zero_grad()
        loss = scale * (model()**2).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    begin = time.perf_counter()
    losses = [iterate(), iterate()]
    first, begin = time.perf_counter() - begin, time.process_time()
    for _ in range(args.iterations):
        losses.append(iterate())
    print(json.dumps({"seconds": (time.process_time() - begin) / args.iterations, "first": first, "losses": [1 / scale.item(), losses[-1]]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("port")
    for name, value in (("pixels", 64), ("domains", 1), ("iterations", 50), ("repeat", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        return measure(args)
    found = {}
    for _ in range(args.repeat):
        for name, settings in RUNS.items():
            path = os.environ.get("PYTHONPATH", "") if name == "nanobragg" else args.port
            done = subprocess.run([sys.executable, __file__, *sys.argv[1:], f"--measure={name}"], capture_output=True, text=True,
                                  env={**os.environ, **settings, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"})
            if done.returncode != 0:
                print(f"{name}: {done.stderr.strip().splitlines()[-1]}")
                continue
            found.setdefault(name, []).append(json.loads(done.stdout.strip().splitlines()[-1]))
    ours = min(r["seconds"] for r in found["nanobragg"])
    for name, results in found.items():
        best = min(r["seconds"] for r in results)
        print(f"{name:20} {best * 1e3:10.2f} ms an iteration, {best / ours:6.1f} x, first two {results[0]['first']:6.1f} s, "
              f"loss {results[0]['losses'][0]:.6g}, then {results[0]['losses'][1]:.6f} of it")
    losses = [r["losses"] for results in found.values() for r in results]
    if args.domains == 1 and any(abs(x / y - 1) > 1e-4 for loss in losses for x, y in zip(loss, losses[0])):
        sys.exit("FAILED: the losses differ")


if __name__ == "__main__":
    main()
