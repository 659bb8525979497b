"""Integers in the interpreter against LLVM's own constant folding, at the ends of each width.

    folding_test.py NB_OPT NB_RUN"""

import itertools
import re
import subprocess
import sys
import tempfile
import unittest

NB_OPT, NB_RUN = sys.argv.pop(1), sys.argv.pop(1)
WIDTHS = (1, 8, 32, 64)
BINARY = ("addi subi muli andi ori xori divsi divui remsi remui floordivsi ceildivsi ceildivui shli shrsi shrui maxsi "
          "maxui minsi minui").split()
PREDICATES = "eq ne slt sle sgt sge ult ule ugt uge".split()
UNARY = "absi ctlz cttz ctpop".split()


def values(width):
    if width == 1:
        return [0, -1]
    low = -1 << (width - 1)
    return [low, low + 1, -7, -1, 0, 1, 3, width - 1, width, -low - 1]


def cases():
    """(lines that compute %r from %a and %b, type of the operands, type of the result, a, b)"""
    for width in WIDTHS:
        of, numbers = f"i{width}", values(width)
        for a, b in itertools.product(numbers, numbers):
            for op in BINARY:
                yield f"%r = arith.{op} %a, %b : {of}", of, of, a, b
            for predicate in PREDICATES:
                yield f"%r = arith.cmpi {predicate}, %a, %b : {of}", of, "i1", a, b
        for a in numbers:
            for op in UNARY:
                yield f"%r = math.{op} %a : {of}", of, of, a, 0
            for other in WIDTHS:
                for op in ("extsi", "extui") if other > width else ("trunci",) if other < width else ():
                    yield f"%r = arith.{op} %a : {of} to i{other}", of, f"i{other}", a, 0
            for op in ("sitofp", "uitofp"):
                yield f"%r = arith.{op} %a : {of} to f64", of, "f64", a, 0
            for op in ("index_cast", "index_castui"):
                yield f"%r = arith.{op} %a : {of} to index", of, "index", a, 0


def constant(value, of):
    return ("false", "true")[value & 1] if of == "i1" else f"{value} : {of}"


def folded(all_cases):
    """LLVM's results; None for a case that it does not fold, since the result has no definition."""
    program = "".join(f"""func.func @f() -> {to} {{
  %a = arith.constant {constant(a, of)}
  %b = arith.constant {constant(b, of)}
  {line}
  return %r : {to}
}}
""".replace("@f", f"@f{i}") for i, (line, of, to, a, b) in enumerate(all_cases))
    done = subprocess.run([NB_OPT, "-", "--canonicalize", "--mlir-print-op-generic=false"], input=program, text=True,
                          capture_output=True, check=True)
    found = [None] * len(all_cases)
    for number, text in re.findall(r"func\.func @f(\d+)\(\) -> \S+ \{\n +%\S+ = arith\.constant (.*)\n +return", done.stdout):
        found[int(number)] = text
    return found


class Folding(unittest.TestCase):
    def test_the_interpreter_computes_what_llvm_folds(self):
        all_cases = list(cases())
        results = folded(all_cases)
        known = [i for i, result in enumerate(results) if result is not None]
        self.assertGreater(len(known), 0.8 * len(all_cases))
        lines = ["func.func @last(%zero: index) -> f64 {", "  %none = arith.constant -1.0 : f64"]
        lines += [f"  %zero{width} = arith.index_cast %zero : index to i{width}" for width in WIDTHS]
        last = "%none"
        for i in known:
            line, of, to, a, b = all_cases[i]
            # The zero comes at run time, so that nothing is folded here.
            for name, value in (("a", a), ("b", b)):
                lines += [f"  %{name}k{i} = arith.constant {constant(value, of)}",
                          f"  %{name}{i} = arith.xori %{name}k{i}, %zero{of[1:]} : {of}"]
            lines += ["  " + re.sub(r"%([abr])\b", rf"%\g<1>{i}", line), f"  %e{i} = arith.constant {results[i]}",
                      f"  %d{i} = arith." + (f"cmpf une, %r{i}, %e{i} : f64" if to == "f64" else f"cmpi ne, %r{i}, %e{i} : {to}"),
                      f"  %n{i} = arith.constant {i}.0 : f64",
                      f"  %f{i} = arith.select %d{i}, %n{i}, {last} : f64"]
            last = f"%f{i}"
        lines += [f"  return {last} : f64", "}"]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write("\n".join(lines))
            file.flush()
            done = subprocess.run([NB_RUN, file.name, "--arg", "arg0=0", "--no-fuse"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr[:1000])
        number = int(float(done.stdout.split(": ")[1]))
        self.assertEqual(number, -1, number >= 0 and f"{all_cases[number]}: LLVM has {results[number]}")


if __name__ == "__main__":
    unittest.main()
