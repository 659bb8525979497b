"""Random nb programs and their gradients, compiled and interpreted.

    programs.py --seed 1 --programs 20 NB_OPT NB_RUN
    programs.py --plugin LorentzFactor.so NB_OPT NB_RUN               with an op of docs/examples/plugin
    programs.py --seed 7 --programs 1 --keep FOLDER NB_OPT NB_RUN     one program, for a look

Sums run over as many entries as a table has, over fewer and over none; with --negative also a negative number of times.
--guards looks tables up at places that only a condition keeps inside; --infinities gives some numbers no finite
value."""

import argparse
import contextlib
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

TABLE = 5
COUNTS = {"np": (1, 2), "ns": (1, 3), "nf": (1, 4, 17), "n1": (TABLE, TABLE, 1, 0), "n2": (TABLE, 2, 0)}


class Program:
    def __init__(self, rng, guards, foreign):
        self.rng, self.guards, self.foreign, self.lines, self.names, self.depth = rng, guards, foreign, [], 0, 1

    def new(self, text):
        self.names += 1
        self.lines.append("  " * self.depth + f"%v{self.names} = {text}")
        return f"%v{self.names}"

    @contextlib.contextmanager
    def region(self):
        self.depth += 1
        yield
        self.depth -= 1
        self.lines.append("  " * self.depth + "}")

    def add(self, text):
        self.lines.append("  " * self.depth + text)

    def value(self, scope):
        """A number of moderate size, from those in scope."""
        a, b = self.rng.choice(scope), self.rng.choice(scope)
        kind = self.rng.randrange(12 if self.foreign else 9)
        if kind < 3:
            result = self.new(f"arith.{self.rng.choice(['addf', 'subf', 'mulf'])} {a}, {b} : f64")
        elif kind == 3:
            size = self.new(f"math.absf {b} : f64")
            result = self.new(f"arith.divf {a}, {self.new(f'arith.addf {size}, %one : f64')} : f64")
        elif kind == 4:
            result = self.new(f"math.{self.rng.choice(['tanh', 'sin', 'cos', 'erf', 'atan'])} {a} : f64")
        elif kind == 5:
            result = self.new(f"math.exp {self.new(f'math.tanh {a} : f64')} : f64")
        elif kind == 6:
            above = self.new(f"arith.cmpf {self.rng.choice(['ogt', 'ole', 'une'])}, {a}, {b} : f64")
            result = self.new(f"arith.select {above}, {a}, {self.rng.choice(scope)} : f64")
        elif kind == 7:
            result = self.new(f"arith.{self.rng.choice(['maximumf', 'minimumf'])} {a}, {b} : f64")
        elif kind > 8:
            size = self.new(f"arith.addf {self.new(f'math.absf {b} : f64')}, %one : f64")
            index = self.new(f"nb.vec {a}, {b}, %one : f64")
            result = self.new(f"own.lorentz_factor {index}, {self.new(f'nb.vec %one, {size}, %one : f64')} : !nb.vec3<f64>")
        else:
            square = self.new(f"arith.mulf {a}, {a} : f64")
            result = self.new(f"math.sqrt {self.new(f'arith.addf {square}, %one : f64')} : f64")
        return result

    def values(self, scope, most):
        scope = list(scope)
        for _ in range(self.rng.randint(1, most)):
            scope.append(self.value(scope))
        return scope

    def sum(self, scope, depth, dimensions):
        dimension, *rest = dimensions
        count, results = self.rng.choice(["n1", "n2"]), self.rng.randint(1, 2)
        self.names += 1
        name, index = f"%s{self.names}", f"%i{self.names}"
        self.add(f"{name}:{results} = nb.sum {dimension} {index} in %{count} : {', '.join(['f64'] * results)} {{")
        with self.region():
            inside = list(scope)
            if self.rng.random() < 0.7:
                table = self.rng.choice(["t1", "t2"])
                inside.append(self.new(f"nb.lookup %{table}[{index}] : !nb.table<?xf64>"))
            inside = self.values(inside, 4)
            if depth and self.rng.random() < 0.5:
                inside += self.sum(inside, depth - 1, rest)
            inside = self.branch(inside)
            terms = [inside[-1]] + [self.rng.choice(inside) for _ in range(results - 1)]
            self.add(f"nb.yield {', '.join(terms)} : {', '.join(['f64'] * results)}")
        return [f"{name}#{i}" for i in range(results)]

    def branch(self, scope):
        if self.rng.random() < 0.6:
            return scope
        a, b = self.rng.choice(scope), self.rng.choice(scope)
        guarded = self.guards and self.rng.random() < 0.7
        if guarded:
            condition = self.new("arith.cmpi sgt, %n1, %zero : index")
        else:
            condition = self.new(f"arith.cmpf ogt, {a}, {b} : f64")
        self.names += 1
        name = f"%b{self.names}"
        self.add(f"{name} = scf.if {condition} -> f64 {{")
        self.depth += 1
        inside = list(scope)
        if guarded:
            last = self.new("arith.subi %n1, %c1 : index")
            inside.append(self.new(f"nb.lookup %t1[{last}] : !nb.table<?xf64>"))
        self.add(f"scf.yield {self.values(inside, 3)[-1]} : f64")
        self.depth -= 1
        self.add("} else {")
        with self.region():
            self.add(f"scf.yield {self.values(scope, 2)[-1]} : f64")
        return [*scope, name]

    def image(self, scope):
        results = self.rng.choice([["tensor<?x?x?xf64>"], ["f64"], ["tensor<?x?x?xf64>", "f64"]])
        self.names += 1
        name = f"%img{self.names}"
        self.add(f"{name}:{len(results)} = nb.image panel %p in %np, slow %s in %ns, fast %f in %nf "
                 f": {', '.join(results)} {{")
        with self.region():
            inside = list(scope)
            for at in ("s", "f"):
                whole = self.new(f"arith.index_cast %{at} : index to i64")
                inside.append(self.new(f"math.sin {self.new(f'arith.sitofp {whole} : i64 to f64')} : f64"))
            inside = self.values(inside, 4)
            for _ in range(self.rng.randint(0, 2)):
                inside += self.sum(inside, 1, ["source", "mosaic"])
            inside = self.values(self.branch(inside), 3)
            terms = [inside[-1]] + [self.rng.choice(inside) for _ in results[1:]]
            self.add(f"nb.yield {', '.join(terms)} : {', '.join(['f64'] * len(results))}")
        return [(f"{name}#{i}", type) for i, type in enumerate(results)]

    def text(self):
        scope = self.values(["%default_F", "%distance", "%one"], 3)
        results = []
        if self.rng.random() < 0.5:
            scope += self.sum(scope, 1, ["subslow", "subfast"])
        for _ in range(self.rng.randint(1, 2)):
            results += self.image(scope)
        totals = [name for name, type in results if type == "f64"]
        if totals and self.rng.random() < 0.6:
            # Linear in the total: an adjoint that depends on it would need a sweep of its own, which no kernel has.
            self.add("%after = nb.sum subslow %last in %n2 : f64 {")
            with self.region():
                factor = self.values(scope, 2)[-1]
                self.add(f"nb.yield {self.new(f'arith.mulf {totals[-1]}, {factor} : f64')} : f64")
            results.append(("%after", "f64"))
        if not any(type != "f64" for _, type in results):
            results += [("%plain", "tensor<?x?x?xf64>")]
            self.add("%plain = nb.image panel %p in %np, slow %s in %ns, fast %f in %nf : tensor<?x?x?xf64> {")
            with self.region():
                self.add(f"nb.yield {scope[-1]} : f64")
        names, types = zip(*results)
        arguments = [f'%{n}: index {{nb.name = "{n}"}}' for n in COUNTS]
        arguments += [f'%{t}: !nb.table<?xf64> {{nb.name = "{t}"}}' for t in ("t1", "t2")]
        arguments += [f'%{x}: f64 {{nb.name = "{x}"}}' for x in ("default_F", "distance")]
        body = "\n".join(["  %one = arith.constant 1.0 : f64", "  %zero = arith.constant 0 : index",
                          "  %c1 = arith.constant 1 : index", *self.lines, f"  return {', '.join(names)} : {', '.join(types)}"])
        return f"func.func @image({', '.join(arguments)}) -> ({', '.join(types)}) {{\n{body}\n}}\n"


class Failed(Exception):
    pass


def run(words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}\nends with {done.returncode}: {done.stderr[:600]}")
    return done.stdout


class Trial:
    def __init__(self, options, seed, folder):
        self.options, self.folder, rng = options, folder, random.Random(seed)
        self.plugin = [f"--plugin={options.plugin}"] if options.plugin else []
        self.program = Program(rng, options.guards, bool(options.plugin)).text()
        negative = {"n1": (-2,), "n2": (-1,)} if options.negative else {}
        self.arguments = {name: rng.choice(counts + negative.get(name, ())) for name, counts in COUNTS.items()}
        number = lambda: rng.choice([math.inf, -math.inf, 0.0]) if options.infinities and rng.random() < 0.3 else rng.uniform(-1.5, 1.5)  # noqa: E731
        self.arguments |= {x: number() for x in ("default_F", "distance")}
        self.arguments |= {t: ",".join(str(rng.uniform(-1, 1)) for _ in range(TABLE)) for t in ("t1", "t2")}

    def compare(self, name):
        """The results of both engines for the program of this name."""
        text = (self.folder / name).read_text()
        signature = re.search(r"func\.func @\w+\((.*?)\) -> \(?(.*?)\)? \{\n", text)
        given = dict(self.arguments)
        for type, cotangent in re.findall(r'%\S+: (\S+) \{nb\.name = "(\S+_cotangent)"\}', signature[1]):
            given[cotangent] = 1.0
            if type != "f64":
                given[cotangent] = self.folder / "ones.npy"
                np.save(given[cotangent], np.ones([self.arguments[n] for n in ("np", "ns", "nf")]))
        names = re.findall(r'nb\.name = "([^"]+)"', signature[1])
        words = [word for n in names for word in ("--arg", f"{n}={given[n]}")]
        count = len(re.findall(r"tensor<[^>]*>|\bf64\b", re.sub(r"\{[^}]*\}", "", signature[2])))
        outputs = [self.folder / f"{i}.npy" for i in range(count)]
        words += [word for output in outputs for word in ("--out", output)]
        both = []
        for flags in ([], ["--no-fuse"]):
            run([self.options.nb_run, self.folder / name, *self.plugin, *words, *flags])
            both.append([np.load(output) for output in outputs])
        for i, (compiled, interpreted) in enumerate(zip(*both, strict=True)):
            largest = np.abs(interpreted[np.isfinite(interpreted)]).max(initial=0)
            if not np.allclose(compiled, interpreted, rtol=1e-8, atol=1e-10 * max(1, largest), equal_nan=True):
                raise Failed(f"result {i} of {name}: kernel {compiled.ravel()[:4]}, interpreter {interpreted.ravel()[:4]}")

    def check(self):
        (self.folder / "image.mlir").write_text(self.program)
        self.compare("image.mlir")
        run([self.options.nb_opt, self.folder / "image.mlir", *self.plugin, "--nb-cpu-pipeline=derivative=vjp(default_F,distance)", "-o", os.devnull])
        run([self.options.nb_opt, self.folder / "image.mlir", *self.plugin,
             "--nb-interpreter-pipeline=derivative=vjp(default_F,distance)", "-o", self.folder / "gradient.mlir"])
        self.compare("gradient.mlir")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--guards", action="store_true")
    parser.add_argument("--negative", action="store_true", help="counts below 0, too")
    parser.add_argument("--infinities", action="store_true")
    parser.add_argument("--plugin", help="the plugin LorentzFactor.so: programs have its op, too")
    parser.add_argument("--keep", help="folder for the program and its gradient")
    parser.add_argument("nb_opt")
    parser.add_argument("nb_run")
    options = parser.parse_args()
    print(f"first seed {options.seed}")
    failed = 0
    for seed in range(options.seed, options.seed + options.programs):
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(options, seed, pathlib.Path(options.keep or folder))
            try:
                trial.check()
            except (Failed, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"seed {seed}, {trial.arguments}:\n{error}")
    print(f"{options.programs} programs, {failed} of them failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
