"""mlir_test.py LorentzFactor.so: the nb dialect in MLIR's Python bindings."""

import pathlib
import subprocess
import sys
import unittest

PLUGIN = sys.argv.pop() if len(sys.argv) > 1 and sys.argv[-1].endswith(".so") else ""

try:
    import mlir  # noqa: F401
except ImportError:
    print("skipped: MLIR's Python bindings are not installed (xtc-mlir-python-bindings)")
    sys.exit(0)

from nanobragg import compiler
from nanobragg.mlir import ir, load_plugin, passmanager, rewrite
from nanobragg.mlir.dialects import arith, func, nb

FLAGS = "-cell 70 80 90 85 95 100 -default_F 100 -N 5 -lambda 1 -distance 100 -detpixels 16 -oversample 1"


def names(module):
    found = []

    def note(op):
        found.append(op.name)
        return ir.WalkResult.ADVANCE
    module.operation.walk(note)
    return found


class Bindings(unittest.TestCase):
    def setUp(self):
        self.context = ir.Context()
        nb.register_dialect(self.context)
        self.enterContext(self.context)
        self.enterContext(ir.Location.unknown())

    def test_a_program_of_objects_has_the_image_of_its_text(self):
        text = compiler.emit(FLAGS)
        module = ir.Module.parse(text)
        self.assertEqual(names(module).count("nb.lattice_factor"), text.count("nb.lattice_factor"))
        passmanager.PassManager.parse("builtin.module(nb-hoist-invariants,cse)").run(module.operation)
        before, after = (compiler.kernel(FLAGS, program=program).image() for program in (text, module))
        self.assertGreater(before.max(), 0)
        self.assertLess(abs(before - after).max(), 1e-9 * before.max())

    def test_builders_and_types(self):
        module = ir.Module.create()
        f64 = ir.F64Type.get()
        with ir.InsertionPoint(module.body):
            @func.FuncOp.from_py_func(f64)
            def squared_length(x):
                v = nb.vec(x, x, x)
                self.assertIsInstance(v.type, nb.Vec3Type)
                self.assertEqual(v.type.element_type, f64)
                return nb.dot(v, v)
        self.assertTrue(module.operation.verify())
        self.assertIn("nb.dot %0, %0 : !nb.vec3<f64>", str(module))
        for made, text, element in ((nb.Vec3Type.get(f64), "!nb.vec3<f64>", "f64"), (nb.Mat3Type.get(f64), "!nb.mat3<f64>", "f64"),
                                    (nb.HklGridType.get(ir.F32Type.get()), "!nb.hkl_grid<f32>", "f32"),
                                    (nb.TableType.get(2, nb.Vec3Type.get(f64)), "!nb.table<?x?x!nb.vec3<f64>>", "!nb.vec3<f64>")):
            self.assertEqual((str(made), str(made.element_type)), (text, element))
            self.assertTrue(type(made).isinstance(ir.Type.parse(text)))
        self.assertFalse(nb.Vec3Type.isinstance(f64))

    def test_enumerations(self):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            x = arith.constant(ir.F64Type.get(), 3.0)
            v = nb.vec(x, x, x)
            nb.lattice_factor(ir.F64Type.get(), nb.Shape.square, v, v)
        self.assertIn("nb.lattice_factor square %0, %0", str(module))

    def test_patterns_and_passes(self):
        module = ir.Module.parse("func.func @f(%x: f64) -> f64 {\n %y = arith.addf %x, %x : f64\n return %y : f64\n}")

        def double(op, rewriter):
            with op.location, rewriter.ip:
                rewriter.replace_op(op, arith.MulFOp(op.operands[0], arith.constant(op.result.type, 2.0)))

        def run(op, _=None):
            patterns = rewrite.RewritePatternSet()
            patterns.add("arith.addf", double)
            rewrite.walk_and_apply_patterns(op, patterns.freeze())
        passes = passmanager.PassManager()
        passes.add(run, "double")
        passes.run(module.operation)
        self.assertIn("arith.mulf", names(module))
        self.assertNotIn("arith.addf", names(module))

    def test_errors_are_exceptions(self):
        with self.assertRaisesRegex(ir.MLIRError, "expected ','"):
            ir.Module.parse("%0 = nb.vec %a")
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            x = arith.constant(ir.F64Type.get(), 1.0)
            nb.vec(x, x, nb.vec(x, x, x))
        with self.assertRaisesRegex(ir.MLIRError, "operand #2 must be f64, f32 or lanes of either"):
            module.operation.verify()
        with self.assertRaisesRegex(ValueError, "nb-hoist-invariant"):
            passmanager.PassManager.parse("builtin.module(nb-hoist-invariant)")

    def test_an_op_of_a_plugin(self):
        if not PLUGIN or not pathlib.Path(PLUGIN).exists():
            self.skipTest("there is no LorentzFactor.so")
        load_plugin(self.context, PLUGIN)
        module = ir.Module.parse("""func.func @f(%a: f64 {nb.name = "a"}) -> f64 {
            %v = nb.vec %a, %a, %a : f64
            %L = own.lorentz_factor %v, %v : !nb.vec3<f64>
            return %L : f64 }""")
        passmanager.PassManager.parse("builtin.module(convert-nb-to-arith)").run(module.operation)
        self.assertNotIn("own.lorentz_factor", names(module))
        with self.assertRaisesRegex(OSError, "no-such"):
            load_plugin(self.context, "/no-such.so")
        with self.assertRaisesRegex(ImportError, "is not a plugin"):
            load_plugin(self.context, "libm.so.6")


    def test_beside_the_compiler_with_plugins(self):
        """Both have passes of nb in the same MLIR."""
        if not PLUGIN or not pathlib.Path(PLUGIN).exists():
            self.skipTest("there is no LorentzFactor.so")
        ours = f"text = compiler.run(compiler.emit('{FLAGS}'), 'builtin.module(nb-fuse)', plugins='{PLUGIN}').text\n"
        theirs = f"""
from nanobragg.mlir import ir, passmanager
from nanobragg.mlir.dialects import nb
with ir.Context() as context:
    nb.register_dialect(context)
    module = ir.Module.parse(compiler.emit('{FLAGS}'))
    passmanager.PassManager.parse("builtin.module(nb-hoist-invariants,cse,nb-fuse)").run(module.operation)
    fused = str(module)
"""
        check = """
plain = compiler.run(compiler.emit(FLAGS), "builtin.module(nb-hoist-invariants,cse,nb-fuse)").text
count = lambda program: [program.count(op) for op in ("nb.sum", "nb.tabulate", "nb.yield", "nb.lattice_factor", "arith.")]
assert count(fused) == count(plain) and "nb.image" in text, (count(fused), count(plain))
"""
        for program in ours + theirs + ours, theirs + ours + theirs:
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", f"from nanobragg import compiler\nFLAGS = '{FLAGS}'\n{program}{check}"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Importing(unittest.TestCase):
    def test_it_costs_nothing_to_others(self):
        code = "import nanobragg, sys; sys.exit(any(m.split('.')[0] == 'mlir' for m in sys.modules))"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)

    def test_it_loads_one_mlir_and_little_else(self):
        code = """
import re, sys
from nanobragg.mlir import ir
from nanobragg.mlir.dialects import nb
nb.register_dialect(ir.Context())
maps = open("/proc/self/maps").read()
print(sorted(set(re.findall(r"\\S*libMLIRPythonCAPI\\S*", maps))))
print(sorted({m.split(".")[0] for m in sys.modules} & {"jax", "torch", "scipy", "matplotlib", "h5py", "msgpack", "asyncio"}))
print(sorted(m for m in sys.modules if m.startswith("mlir.dialects.") and "_nb_" not in m and m.count(".") == 2))
"""
        library, heavy, dialects = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertRegex(library, r"^\['[^']*(/lib/|nanobragg_mlir/)libMLIRPythonCAPI\.so'\]$")
        self.assertEqual(heavy, "[]")
        self.assertEqual(dialects, "['mlir.dialects._ods_common']")

    def test_another_mlir_is_refused(self):
        done = subprocess.run([sys.executable, "-c",
                               "import sys; sys.modules['mlir._mlir_libs'] = sys; import nanobragg.mlir"], capture_output=True, text=True)
        self.assertIn("import nanobragg.mlir first", done.stderr)


if __name__ == "__main__":
    unittest.main()
