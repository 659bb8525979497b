"""Twenty wrong passes, each of which a client finds through the server: its name, and the first value that it changes.

seeds_test.py PLUGIN [NAME...]: these seeds alone. The client does not know what is wrong: it judges a pipeline, bisects it, and
reads the answer.
"""

import asyncio
import pathlib
import sys
import tempfile
import time

from server import connected

PLUGIN = pathlib.Path(sys.argv[1]).resolve()
FLAGS = ("-default_F 100 -cell 70 80 90 85 95 100 -misset 10 20 30 -N 5 -lambda 1 -distance 100 -detpixels 16 -mosaic 0.5 "
         "-mosaic_domains 3 -osc 1 -phisteps 2 -dispersion 1 -dispsteps 2 -twotheta 10 -oversample 1")
PASSES = ("nb-hoist-invariants", "nb-remove-branches", "nb-fuse")


def pattern(root, operands, rewrite):
    """A file of a pattern that replaces an op."""
    names = [f"%o{n}" for n in range(operands)]
    values = "".join(f"    {name} = pdl.operand\n" for name in names)
    types = ", ".join(["!pdl.value"] * operands)
    return (f"module {{\n  pdl.pattern : benefit(1) {{\n{values}    %t = pdl.type\n"
            f"    %root = pdl.operation \"{root}\"({', '.join(names)} : {types}) -> (%t : !pdl.type)\n"
            f"    pdl.rewrite %root {{\n      {rewrite}\n    }}\n  }}\n}}\n")


def schedule(op, value, attribute, parameter):
    """A file of a schedule that changes an attribute."""
    return ("module attributes {transform.with_named_sequence} {\n  transform.named_sequence @__transform_main(%p: !transform.any_op) {\n"
            f"    %op = transform.nb.match op \"{op}\" value \"{value}\" in %p : (!transform.any_op) -> !transform.any_op\n"
            f"    %new = transform.param.constant {parameter} -> !transform.any_param\n"
            f"    transform.annotate %op \"{attribute}\" = %new : !transform.any_op, !transform.any_param\n    transform.yield\n  }}\n}}\n")


ONE = """%one = pdl.attribute = 1.0 : f64
      %c = pdl.operation "arith.constant" {"value" = %one} -> (%t : !pdl.type)
      pdl.replace %root with %c"""
FILES = {
    "length.mlir": pattern("nb.normalize", 1, "pdl.replace %root with (%o0 : !pdl.value)"),
    "transposed.mlir": pattern("nb.transpose", 1, "pdl.replace %root with (%o0 : !pdl.value)"),
    "polarization.mlir": pattern("nb.polarization", 4, ONE),
    "kind.mlir": schedule("nb.solid_angle", "omega_pixel", "kind", "#nb<pixel_kind point>"),
    "row.mlir": schedule("nb.row", "a_star", "index", "2 : i64"),
}


# The seed, how many of PASSES are ahead of it, and the value that is to be named: its name and op.
SEEDS = {
    "seed-constant": (0, "relative_lambda", "arith.addf"),
    "seed-dropped-term": (1, "spindle_rotation", "nb.axis_rotation"),
    "seed-operand-order": (1, "reciprocal_basis", "nb.multiply"),
    "seed-sign": (2, "pix0_vector", "nb.sub"),
    "seed-off-by-one": (1, "phi_tic", "arith.sitofp"),
    "seed-predicate": (2, "adj_distance", "arith.divf"),
    "seed-f32": (1, "scattering_vec", "nb.scattering_vector"),
    "seed-hoist": (2, "mosaic_angle", "nb.lookup"),
    "seed-derivative": (3, "adj_I_sample", "arith.addf"),
    "seed-start": (1, "steps", "arith.mulf"),
    "seed-fast-math": (3, "pixel", "arith.divf"),
    "seed-table": (1, "shift", "nb.lookup"),
    "seed-merge": (2, "b_star", "nb.row"),
    "seed-indices": (3, "pixel_pos", "nb.pixel_position"),
    "seed-adjoint": (3, "adj_rotated_direct", "nb.transpose"),
    "length.mlir": (1, "crystal_y", "nb.cross"),
    "transposed.mlir": (0, "a_star", "nb.row"),
    "polarization.mlir": (2, "pixel", "arith.mulf"),
    "kind.mlir": (1, "omega_pixel", "nb.solid_angle"),
    "row.mlir": (0, "a_star", "nb.row"),
}


async def find(client, pipeline, how):
    """The answer about a wrong pipeline: its image is wrong, or else its gradient."""
    found = await client("bisect", pipeline=pipeline, **how)
    return found if not found["right"] else await client("bisect", pipeline=pipeline, gradient="usual", **how)


async def main(names):
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            pathlib.Path(folder, name).write_text(text)
        async with connected(folder) as client:
            how = {"flags": FLAGS, "plugins": str(PLUGIN)}
            right = f"builtin.module({','.join(PASSES)})"
            (verdict,) = (await client("judge", pipelines=[right], **how))["verdicts"]
            if not verdict["right"]:
                complaints.append(f"without a seed: {verdict}")
            for seed in names or SEEDS:
                number, value, op = SEEDS[seed]
                passes = list(PASSES)
                if value.startswith("adj_") and number == 3:
                    passes = ["nb-remove-branches", "nb-differentiate{mode=vjp}", "cse", *PASSES]
                passes.insert(number, f"nb-apply-patterns{{files={seed}}}" if seed in FILES else f"func.func({seed})")
                begin = time.perf_counter()
                found = await find(client, f"builtin.module({','.join(passes)})", how)
                named = found.get("first_difference") or {"name": None, "op": None, "before": None, "after": None}
                print(f"{seed:20} {time.perf_counter() - begin:4.1f} s  {found.get('fault')}: {found.get('pass')}, number "
                      f"{found.get('number')}: '{named['name']}' ({named['op']}), {named['before']} -> {named['after']}"[:200], flush=True)
                expected = (number + 1, "nb-apply-patterns" if seed in FILES else seed, value, op)
                answer = (found.get("number"), found.get("pass"), named["name"], named["op"])
                if answer != expected and "failure" in found:
                    complaints.append(f"{seed}: {found['failure']!r}")
                elif answer != expected:
                    complaints.append(f"{seed}: {answer} in place of {expected}")
    print("\n".join(complaints) or f"all {len(names or SEEDS)} are found")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[2:])))
