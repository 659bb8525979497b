#!/usr/bin/env python3
"""The recipes for conda and Spack, as far as they can be checked without their channels.

    recipes.py [SPACK_PACKAGES]

conda's is rendered for this machine by rattler-build's own parser, in a Python that has py-rattler-build. Spack's is held against
SPACK_PACKAGES, a checkout of Spack's repository of packages: each dependency, its variants and its version have to be there. By hand."""

import ast
import pathlib
import re
import sys

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "tools/packaging"


def conda():
    from rattler_build import Stage0Recipe, VariantConfig

    recipe = Stage0Recipe.from_yaml((RECIPES / "conda/recipe.yaml").read_text())
    (rendered,) = recipe.render(VariantConfig.from_file(str(RECIPES / "conda/variants.yaml")))
    needs = rendered.recipe.to_dict()["requirements"]
    print(f"conda: rendered; needs {', '.join(needs['build'] + needs['host'])}")


def spack(packages):
    """Sentences about what Spack does not have."""
    calls = [node for node in ast.walk(ast.parse((RECIPES / "spack/package.py").read_text()))
             if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "depends_on"]
    names = []
    for call in calls:
        name, version, variants = re.match(r"([\w-]+)(?:@([\d.]+):?)?(.*)", call.args[0].value).groups()
        names.append(name)
        file = packages / "repos/spack_repo/builtin/packages" / name.replace("-", "_") / "package.py"
        if name in ("c", "cxx", "mpi", "zlib-api"):  # virtual: some package provides it
            continue
        if not file.exists():
            yield f"there is no package {name}"
            continue
        text = file.read_text()
        known = [tuple(map(int, v.split("."))) for v in re.findall(r'version\(\s*"([\d.]+)"', text)]
        wanted = tuple(map(int, version.split("."))) if version else ()
        if not any(v[:len(wanted)] >= wanted for v in known):
            yield f"{name}: no version {version}"
        for variant in re.findall(r"\+(\w+)", variants):
            if not re.search(rf'variant\(\s*"{variant}"', text):
                yield f"{name}: no variant {variant}"
    print(f"spack: looked for {', '.join(names)}")


def main():
    conda()
    missing = list(spack(pathlib.Path(sys.argv[1]))) if len(sys.argv) > 1 else []
    print("\n".join(f"spack: {line}" for line in missing) if missing else "nothing is missing")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
