"""The compiler: programs as text, passes, and your own kernels.

    from nanobragg import compiler
    text = compiler.emit(flags)                        # the nb program of an experiment
    after = compiler.run(text, "builtin.module(nb-hoist-invariants)")
    print(after.text, after.passes, after.remarks)
    for stage, program in compiler.stages(flags).items(): ...
    sim = compiler.kernel(flags, pipeline="builtin.module(...)")
    verdict = compiler.judge(flags, "builtin.module(...)")  # right? where is it wrong? faster?

A program is text, or an ``ir.Module`` of ``nanobragg.mlir``. Errors in a program or a pipeline are
CompilerErrors; their text contains the place.
"""

import dataclasses
import json
import os
import re
import tempfile
import time
import weakref
from collections.abc import Iterable
from typing import Any, Protocol

from . import _core
from ._arrays import words
from ._passes import PASSES
from .simulator import Simulator

class CompilerError(RuntimeError):
    """An error of the compiler. ``location`` is (line, column) in the program if the text contains
    one, otherwise None."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        at = re.search(r"\bprogram:(\d+):(\d+)", text)
        self.location = (int(at[1]), int(at[2])) if at else None


@dataclasses.dataclass(frozen=True)
class Remark:
    """A remark of a pass on what it did, or did not do and why.

    kind: "Passed", "Missed", "Failure" or "Analysis". value: the name of the value it is about, or
    None. location: (line, column) in the program that was given, or None.
    """

    kind: str
    pass_name: str
    message: str
    value: str | None
    location: tuple[int, int] | None

    def __str__(self):
        return f"{self.pass_name}: {self.kind}: {f'%{self.value}: ' if self.value else ''}{self.message}"


@dataclasses.dataclass(frozen=True)
class PassRun:
    """A pass that ran. seconds: of the pass and of verifying its result. changed: whether it
    changed the program."""

    name: str
    seconds: float
    changed: bool
    remarks: tuple[Remark, ...]


class Result:
    """The result of ``run``.

    text: the program after the passes. passes: a PassRun for each, in order. remarks: those of all
    passes. seconds: of the call, including parsing and printing.
    """

    def __init__(self, report: dict[str, Any], seconds: float) -> None:
        self.text, self.seconds = report["text"], seconds
        self.passes = [PassRun(p["pass"], p["seconds"], p["changed"], tuple(
            Remark(r["kind"], r["pass"], r["message"], r["value"] or None, (r["line"], r["column"]) if r["line"] else None)
            for r in p["remarks"])) for p in report["passes"]]

    @property
    def remarks(self) -> list[Remark]:
        return [remark for run in self.passes for remark in run.remarks]

    def __str__(self):
        return self.text

    def __repr__(self):
        lines = [f"{'ms':>8}  changed  pass"]
        for run in self.passes:
            lines.append(f"{run.seconds * 1e3:8.2f}  {'yes' if run.changed else 'no':7}  {run.name}")
            lines += [f"{'':19}{remark.kind}: {remark.message}" for remark in run.remarks]
        return "\n".join(lines)


class Module(Protocol):
    """An ``ir.Module`` of ``nanobragg.mlir``."""

    @property
    def operation(self) -> Any:
        """Its op."""


Program = str | Result | Module


def _asked(call, *arguments):
    try:
        return call(*arguments)
    except RuntimeError as error:
        raise CompilerError(str(error)) from None


def _program(text):
    if hasattr(text, "operation"):
        text = text.operation.get_asm(use_name_loc_as_prefix=True)
    if not isinstance(text, (str, Result)):
        raise TypeError(f"the program is of type {type(text).__name__}; it has to be text or a module of nanobragg.mlir")
    if not str(text).strip():
        raise ValueError("the program is empty; it has to be text of MLIR")
    return str(text)


def passes() -> dict[str, str]:
    """The passes of this project: name -> what it does. Pipelines may name MLIR's own, too."""
    return dict(PASSES)


def emit(flags: str | Iterable[object], stage: str = "nb", target: str = "", **how: Any) -> str:
    """The program of an experiment's image, as text.

    stage: "nb", as the frontend writes it; "mlir", after fusion or after ``pipeline``; "llvm";
    "asm"; "stats": instructions of its loops, registers, and a lower bound of the cycles;
    "stats-json": the same as JSON; "pipeline": the passes of its kernel with all options.

    target: a processor or GPU as in nb-compile's --target, "x86-64-v3" or "sm_90". Only precision=,
    pipeline=, plugins= and patterns= can be given with it.
    """
    if target:
        return _asked(_core.emit_program, emit(flags), stage, {"target": target, **how})
    return _asked(Simulator.from_flags(flags, **how).emit, stage)


def run(text: Program, pipeline: str = "", **options: str) -> Result:
    """Runs a pipeline, "builtin.module(nb-hoist-invariants,cse)", on a program. The Result contains
    the program afterwards, and the time and the remarks of each pass.

    Without a pipeline the compiler's own passes run, up to fusion. options: plugins= and patterns=,
    comma-separated files, as in nb-opt.
    """
    begin = time.perf_counter()
    report = _asked(_core.emit_program, _program(text), "report", {"pipeline": pipeline, **options})
    return Result(json.loads(report), time.perf_counter() - begin)


def stage_names(program: "Program" = "", **options: str) -> tuple[str, ...]:
    """The stages of the compiler's pipeline, in their order, as ``until_after`` takes them.

    program: an nb program, which may have been lowered; without one, the stages are those of an
    image. options: target=, derivative=, precision=, as in ``kernel``, such as target="sm_90" or
    derivative="vjp(cell_a)".
    """
    text = _program(program) if program else ""
    return tuple(_asked(_core.emit_program, text, "stages", options).split())


def stages(flags: str | Iterable[object], **how: Any) -> dict[str, str]:
    """The program after each stage of the processor's pipeline: stage -> text, the first is "nb".
    """
    program = emit(flags, "nb", **how)
    return {"nb": program} | {name: stage(program, name) for name in stage_names(program)}


def stage(program: Program, name: str) -> str:
    """A program after a stage of the processor's pipeline, one of ``stage_names``."""
    return _asked(_core.emit_program, _program(program), "mlir", {"until_after": name})


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first value that a pass changes and that matters to the pixel, or to the gradient.

    name: its name in the text of the program. op: the op that computes it before the pass. text:
    name, op and numbers, as nb-try prints them. before, after: (least, greatest) of each component.
    """

    name: str
    op: str
    text: str
    before: tuple[tuple[float, float], ...]
    after: tuple[tuple[float, float], ...]


@dataclasses.dataclass(frozen=True)
class Blame:
    """The first pass after which a result is wrong.

    fault: "image", "gradient", or "ends" (it crashes or does not end). pass_name: empty if the
    result is right after every pass. number: position of the pass in the pipeline, from 1; 0 for
    patterns and for the compiler's own passes. difference: None if the interpreter cannot find it.
    """

    fault: str
    pass_name: str
    number: int
    difference: Difference | None


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The findings of ``judge`` about a pipeline.

    right: there is a kernel, and its image and gradient agree with the interpreter. failure: why
    there is no kernel, or how its run ended. where, value, reference: the worst pixel or parameter
    of a wrong kernel, its value and the right one. ns: nanoseconds per sample on one thread.
    change: the relative change of time against the compiler's own passes, (median, least, most) of
    a 95 % interval; (0, 0, 0) if both make the same code. blame: the first wrong pass, if
    requested.
    """

    right: bool
    failure: str
    where: str | None
    value: float | None
    reference: float | None
    ns: float | None
    change: tuple[float, float, float] | None
    instructions: int
    spills: int
    blame: Blame | None = None

    @property
    def faster(self) -> bool:
        """Whether the kernel is right, and faster over the whole interval ``change``."""
        return self.right and self.change is not None and self.change[2] < 0


def _blame(found):
    if found is None:
        return None
    value = found.get("value")
    pairs = lambda when: tuple(zip(map(float, value[f"{when}_min"]), map(float, value[f"{when}_max"])))
    difference = value and Difference(value["name"], value["op"], value["text"], pairs("before"), pairs("after"))
    return Blame(found["fault"], found.get("pass", ""), found.get("number", 0), difference)


def _verdict(row):
    wrong = next((d for d in (row.get("image"), row.get("gradient")) if d and not d["same"]), None)
    failure = row["failure"] or row["gradient_failure"]
    change = row.get("change")
    if change:
        change = tuple(change[key] - 1 for key in ("median", "least", "most"))
    number = lambda key: None if wrong is None else float(wrong[key])
    return Verdict(not failure and wrong is None, failure, wrong and wrong["where"], number("value"), number("reference"),
                   row.get("ns_per_sample"), (0.0, 0.0, 0.0) if row["same_code"] else change, row["loop_instructions"],
                   row["loop_spills"], _blame(row.get("blame")))


def judge(flags: str | Iterable[object], pipeline: str, *more: str, program: Program | None = None, repeat: int = 9,
          gradient: str = "none", blame: bool = False, timeout: float = 120, plugins: str = "", patterns: str = "") -> Any:
    """Whether the kernel of a pipeline is right, and faster than that of the compiler's own passes.

    Returns a Verdict, or a list of Verdicts for several pipelines, which are timed in turn.
    program: an nb program in place of the experiment's; the experiment supplies its numbers. gradient:
    comma-separated parameters whose gradient is checked, too; "usual": up to three usual ones.
    repeat: rounds of timing, at least 6 for an interval, 0 for none. blame: name the first wrong
    pass, and the first value that it changes. timeout: seconds for each. plugins, patterns: files,
    as in ``run``. Each pipeline is tried in a copy of this process, so one that crashes has a
    Verdict, too.
    """
    pipelines = [pipeline, *more]
    for text in pipelines:
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"the pipeline is {text!r}; it has to be text, builtin.module(...)")
    if repeat < 0 or not timeout > 0:
        raise ValueError(f"repeat={repeat} and timeout={timeout}: repeat has to be at least 0, and timeout greater than 0")
    sim = Simulator.from_flags(flags, plugins=plugins, patterns=patterns)
    report = _asked(_core.judge, sim._core, "" if program is None else _program(program), pipelines, gradient, repeat, blame, timeout)
    verdicts = [_verdict(json.loads(line)) for line in report.splitlines()[1 if repeat > 0 else 0:]]
    return verdicts if more else verdicts[0]


def assembly(flags: str | Iterable[object], **how: Any) -> str:
    """The image's kernel in the assembly of the processor at hand."""
    return emit(flags, "asm", **how)


def kernel(flags: str | Iterable[object], pipeline: str = "", program: Program | None = None, plugins: str = "",
           patterns: str = "", **how: Any) -> Simulator:
    """A simulator that runs your own kernel.

    pipeline: replaces the passes up to fusion; the compiler adds the others. program: an nb program
    as text, which replaces the program of the experiment and takes its numbers; derivatives are
    still those of the experiment. how: as in ``Simulator``.
    """
    if isinstance(flags, Result) or (isinstance(flags, str) and "\n" in flags and "func.func" in flags):
        raise TypeError("the first argument of kernel() is the flags of the experiment, whose numbers a program does not "
                        "contain: kernel(flags, program=text)")
    asked: dict[str, Any] = {"pipeline": pipeline, "plugins": plugins, "patterns": patterns}
    if program is None:
        sim = Simulator.from_flags(flags, **asked, **how)
        _asked(sim.prepare)
        return sim
    built = _asked(_core.build_program, _program(program), {k: v for k, v in asked.items() if v} | (
        {"precision": how["precision"]} if how.get("precision") else {}))
    folder = tempfile.mkdtemp(prefix="nanobragg-")
    file = os.path.join(folder, "kernel.so")
    with open(file, "wb") as out:
        out.write(built)
    os.chmod(file, 0o700)
    sim = Simulator.__new__(Simulator)
    try:
        sim._make(_core.Request(), words(flags), {"kernel_file": file, **how})
        _asked(sim.prepare)
    finally:
        def remove():
            for path, gone in ((file, os.unlink), (folder, os.rmdir)):
                try:
                    gone(path)
                except OSError:
                    pass
        weakref.finalize(sim, remove)
    return sim
