"""The tools: what is in nanobragg.compiler and in the programs nb-*, with bounded results that JSON can hold.

They run in a process of their own (_worker), whose current directory is the working directory. The first paragraphs of a docstring
are what an agent reads.
"""

import collections
import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from typing import Any, Literal

from .. import compiler

SMALL = ("-default_F 100 -cell 70 80 90 85 95 100 -misset 10 20 30 -N 5 -lambda 1 -distance 100 -detpixels 16 -mosaic 0.5 "
         "-mosaic_domains 3 -oversample 1")
_WIDEST, _MOST = 300, 100  # characters of a line, rows of a list


# Names, files, pages.

def _inside(name: str) -> pathlib.Path:
    folder = pathlib.Path.cwd().resolve()
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise ValueError(f"'{name}' is outside of the working directory {folder}; name a file in it")
    return path


def _read(program: str) -> str:
    if "\n" in program or "func.func" in program:
        return program
    path = _inside(program)
    if not path.is_file():
        raise ValueError(f"there is no file '{program}' in the working directory; `program` is the text of a program, or such a file")
    try:
        return path.read_text()
    except UnicodeDecodeError:
        raise ValueError(f"'{program}' is not text; nb-opt {program} prints the text of bytecode") from None


def _program(flags: str, program: str) -> str:
    return _read(program) if program else compiler.emit(flags or SMALL)


def _function(lines: list[str], name: str) -> range:
    """The lines of the function of this name."""
    for begin, line in enumerate(lines):
        if re.search(rf"\bfunc\b.*@{re.escape(name)}\b|^define .*@{re.escape(name)}\b", line) and line.rstrip().endswith("{"):
            close = line[:len(line) - len(line.lstrip())] + "}"
            end = next((n for n in range(begin, len(lines)) if lines[n].rstrip() == close), len(lines) - 1)
            return range(begin, end + 1)
    raise ValueError(f"there is no function '{name}'; there are "
                     + (", ".join(re.findall(r"\bfunc\b[^@\n]*@(\w+)[^\n]*{$", "\n".join(lines), re.M)) or "none"))


def _regular(only: str) -> re.Pattern[str]:
    try:
        return re.compile(only)
    except re.error as error:
        raise ValueError(f"only='{only}' is not a regular expression: {error}") from None


def _cut(line: str, widest: int = _WIDEST) -> str:
    return line if len(line) <= widest else f"{line[:widest]}... ({len(line) - widest} more characters)"


def _page(text: str, only: str = "", function: str = "", first_line: int = 1, lines: int = 150, save: str = "",
          widest: int = _WIDEST) -> dict[str, Any]:
    """A part of a text, and how much of it that is."""
    if first_line < 1 or lines < 1:
        raise ValueError(f"first_line={first_line} and lines={lines}: both count from 1")
    page: dict[str, Any] = {}
    if save:
        path = _inside(save)
        path.write_text(text)
        page["saved"] = str(path.relative_to(pathlib.Path.cwd().resolve()))
    rows = text.splitlines()
    numbers = list(_function(rows, function)) if function else list(range(len(rows)))
    if only:
        wanted = _regular(only)
        numbers = [n for n in numbers if wanted.search(rows[n])]
    chosen = numbers[first_line - 1:first_line - 1 + lines]

    page["text"] = "\n".join(f"{n + 1}: {_cut(rows[n], widest)}" if only else _cut(rows[n], widest) for n in chosen)
    page["lines"], page["lines_shown"] = len(numbers), len(chosen)
    if first_line - 1 + lines < len(numbers):
        page["next_first_line"] = first_line + lines
    return page


def _some(rows: list[Any]) -> dict[str, Any]:
    return {"count": len(rows), "rows": rows[:_MOST]}


def _census(text: str) -> collections.Counter[str]:
    """How many ops there are of each kind."""
    return collections.Counter(re.findall(r"^\s*(?:%[^=\n]+ = )?\"?([a-z]\w*\.[\w.]+)", text, re.M))


def _value_line(text: str, name: str) -> str | None:
    found = re.search(rf"^ *%{re.escape(name)}(?:_\d+)?(?::\d+)? = .*", text, re.M)
    return _cut(found[0].strip()) if found else None


# Programs of the build.

def _tool(name: str) -> str:
    beside = pathlib.Path(compiler.__file__).parents[2] / "bin" / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise RuntimeError(f"{name} is not in PATH; it is built and installed with the compiler's tools, and is not a part of a wheel")
    return found


def _run(*words: str, good: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode not in good:
        name = os.path.basename(words[0])
        said = done.stderr.rpartition(f"{name}: error: ")[2].removesuffix(f"{name} --help lists its flags\n").strip()
        raise RuntimeError(said[-2000:] or f"{name} ends with status {done.returncode}")
    return done.stdout


def _file(text: str) -> str:
    """A program as a file, which goes with the call."""
    path = pathlib.Path(os.environ["TMPDIR"], "program.mlir")
    path.write_text(text)
    return str(path)


def _words(flags: str) -> list[str]:
    """The flags of an experiment, which ask for no output."""
    compiler.emit(flags or SMALL)  # says what is wrong with them
    return (flags or SMALL).split()


# The tools.

def print_stage(flags: str = "", stage: str = "nb", program: str = "", only: str = "", function: str = "", first_line: int = 1,
                lines: int = 150, save: str = "") -> dict[str, Any]:
    """Prints a program at a stage of the compiler's own pipeline.

    stage: "nb" (as it was written), a stage of list_names(kind="stages") ("hoist", "fuse", "loops", "llvm": the LLVM dialect),
    "llvm-ir", "asm", or "pipeline" (the text of the passes, with all options; the last three for flags only).

    Example: print_stage(stage="fuse", only="%hkl") -> {"text": "87: %hkl = nb.miller_index %rotated_direct, ...", "lines": 4, ...}
    """
    written = {"llvm-ir": "llvm", "asm": "asm", "pipeline": "pipeline"}.get(stage)
    if written and program:
        raise ValueError(f"stage='{stage}' is for an experiment; leave out program, or name one of {', '.join(compiler.stage_names())}")
    if written:
        text = compiler.emit(flags or SMALL, written)
    else:
        text = _program(flags, program)
        if stage != "nb":
            text = compiler.stage(text, stage)
    return _page(text, only, function, first_line, lines, save, widest=10_000 if stage == "pipeline" else _WIDEST)


def run_pipeline(pipeline: str, flags: str = "", program: str = "", plugins: str = "", patterns: str = "", only: str = "",
                 function: str = "", first_line: int = 1, lines: int = 150, save: str = "") -> dict[str, Any]:
    """Runs passes on a program, and prints the program after them and what each pass did.

    Example: run_pipeline("builtin.module(nb-hoist-invariants,cse)", only="nb.sum") -> {"passes": [{"pass": "nb-hoist-invariants",
    "ms": 1.2, "changed": true, "remarks": 1}, ...], "text": "103: %I = nb.sum ...", "lines": 2, "lines_shown": 2}
    """
    after = compiler.run(_program(flags, program), pipeline, plugins=plugins, patterns=patterns)
    passes = [{"pass": run.name, "ms": round(run.seconds * 1e3, 3), "changed": run.changed, "remarks": len(run.remarks)}
              for run in after.passes]
    return {"passes": passes, **_page(after.text, only, function, first_line, lines, save)}


def remarks(pipeline: str = "", flags: str = "", program: str = "", plugins: str = "", patterns: str = "", only: str = "") -> dict[str, Any]:
    """Explains passes by their remarks: what each did, or did not do and why, with the op that it is about.

    Without a pipeline these are the compiler's own passes up to fusion. only: a regular expression of the passes, kinds (Passed,
    Missed, Failure, Analysis) and messages to keep.

    Example: remarks(only="Missed") -> {"count": 1, "rows": [{"pass": "nb-fuse", "kind": "Missed", "message": "...", "value": "I",
    "line": 5, "op": "%I = nb.sum ..."}], "summaries": {"nb-fuse": "Make one loop nest of an image"}}
    """
    wanted = _regular(only)
    text = _program(flags, program)
    source = text.splitlines()
    rows = []
    for remark in compiler.run(text, pipeline, plugins=plugins, patterns=patterns).remarks:
        if not wanted.search(str(remark)):
            continue
        line = remark.location and remark.location[0]
        rows.append({"pass": remark.pass_name, "kind": remark.kind, "message": remark.message, "value": remark.value, "line": line,
                     "op": _cut(source[line - 1].strip(), 120) if line and line <= len(source) else None})
    known = compiler.passes()
    return {**_some(rows), "summaries": {name: known[name] for name in dict.fromkeys(row["pass"] for row in rows) if name in known}}


def _verdict(pipeline: str, verdict: compiler.Verdict) -> dict[str, Any]:
    row: dict[str, Any] = {"pipeline": pipeline, "right": verdict.right}
    if verdict.failure:
        row["failure"] = verdict.failure
    if verdict.where:
        row |= {"where": verdict.where, "value": verdict.value, "reference": verdict.reference}
    if verdict.ns is not None:
        row["ns_per_sample"] = round(verdict.ns, 4)
    if verdict.change is not None:
        row["change"] = dict(zip(("median", "least", "most"), verdict.change))
    return row | {"loop_instructions": verdict.instructions, "loop_spills": verdict.spills}


def judge(pipelines: list[str], flags: str = "", program: str = "", plugins: str = "", patterns: str = "", gradient: str = "usual",
          repeat: int = 0, timeout: float = 60) -> dict[str, Any]:
    """Judges pipelines: does a kernel result, are its image and gradient those of the reference interpreter, and how fast is it?

    gradient: comma-separated parameters, "usual" (up to three) or "none". repeat: rounds of timing against the compiler's own
    passes, at least 6 for an interval; 0: none. timeout: seconds for each pipeline.

    Example: judge(["builtin.module(nb-hoist-invariants,nb-fuse)"]) -> {"verdicts": [{"pipeline": "...", "right": true,
    "loop_instructions": 412, "loop_spills": 0}]}. A wrong one has "where" ("panel 0, slow 3, fast 7", or a parameter), "value" and
    "reference"; one without a kernel has "failure"; a timed one "ns_per_sample" and "change" (-0.05: 5 % less time).
    """
    if not pipelines:
        raise ValueError("there are no pipelines to judge; give at least one, builtin.module(...)")
    found = compiler.judge(flags or SMALL, *pipelines, program=_read(program) if program else None, plugins=plugins,
                           patterns=patterns, gradient=gradient, repeat=repeat, timeout=timeout)
    return {"verdicts": [_verdict(*both) for both in zip(pipelines, found if len(pipelines) > 1 else [found])]}


def bisect(pipeline: str, flags: str = "", program: str = "", plugins: str = "", patterns: str = "", gradient: str = "none",
           timeout: float = 60) -> dict[str, Any]:
    """Names the first wrong pass of a pipeline, and the first value that it changes and that matters.

    Judges the pipeline; if it is wrong or crashes, tries each of its beginnings. gradient: as of judge; look at the image first
    ("none"), then at the gradient ("usual").

    Example: bisect("builtin.module(nb-hoist-invariants,my-pass,nb-fuse)", plugins="my.so") -> {"right": false, "fault": "image",
    "pass": "my-pass", "number": 2, "first_difference": {"name": "hkl", "op": "nb.miller_index", "before": [[0.1, 0.2], ...],
    "after": [[...]], "line": "%hkl = nb.miller_index ..."}, "where": "panel 0, slow 3, fast 7", "value": 5.1, "reference": 4.9}. before
    and after are the least and greatest of each component at the worst pixel. "right": true has no pass; a pass that does not end has the fault "ends".
    """
    text = _read(program) if program else None
    verdict = compiler.judge(flags or SMALL, pipeline, program=text, plugins=plugins, patterns=patterns, gradient=gradient, repeat=0,
                             timeout=timeout, blame=True)
    row = _verdict(pipeline, verdict)
    if blame := verdict.blame:
        row |= {"fault": blame.fault, "pass": blame.pass_name, "number": blame.number}
        if value := blame.difference:
            line = _value_line(text or compiler.emit(flags or SMALL), value.name)
            row["first_difference"] = {"name": value.name, "op": value.op, "before": value.before, "after": value.after, "line": line}
    return row


def reduce(pipeline: str, flags: str = "", program: str = "", question: Literal["differs", "crash", "fails"] = "differs",
           plugins: str = "", patterns: str = "", gradient: str = "none", only: str = "", function: str = "", first_line: int = 1,
           lines: int = 150, save: str = "") -> dict[str, Any]:
    """Makes a program small that a pipeline still compiles wrongly (nb-reduce): dimensions, corrections and arguments are removed.

    question: what has to stay: "differs" (image or gradient is wrong), "crash", "fails" (no kernel). Takes a minute or so.

    Example: reduce("builtin.module(my-pass)", plugins="my.so", save="small.mlir") -> {"ops_before": 190, "ops": 12, "saved":
    "small.mlir", "text": "func.func @image(...) ...", ...}
    """
    text = _program(flags, program)
    words = [_tool("nb-try"), f"--is={question}", f"--pipeline={pipeline}", f"--grad={gradient}", "--quiet", "--repeat=0"]
    words += [f"--plugin={plugins}"] * bool(plugins) + [f"--patterns={patterns}"] * bool(patterns)
    because = f"{shlex.quote(words[0])} {{}} {shlex.join(words[1:] + _words(flags))} >/dev/null 2>&1"
    try:
        small = _run(_tool("nb-reduce"), _file(text), f"--because={because}", *[f"--plugin={plugins}"] * bool(plugins))
    except RuntimeError as error:
        if "there is nothing to keep" not in str(error):
            raise
        raise ValueError(f"question='{question}': the answer for the whole program is no, so that there is nothing to keep; see what judge says of "
                         "this pipeline, program and gradient") from None
    return {"ops_before": sum(_census(text).values()), "ops": sum(_census(small).values()),
            **_page(small, only, function, first_line, lines, save)}


def stats(flags: str = "", pipeline: str = "", plugins: str = "", patterns: str = "", target: str = "") -> dict[str, Any]:
    """Counts the instructions of the kernel's loops, and says what bounds the inner one: a port of the processor, by how many cycles.

    pipeline: in place of the compiler's own passes up to fusion. target: as of nb-compile, x86-64-v3, sm_90 or gfx942, for which the
    kernel is compiled and not run.

    Example: stats() -> {"bound": {"cycles_per_sample": 6.6, "part": "SKXPort05"}, "instructions_per_sample": 15.1,
    "loop": {"instructions": 242, "kinds": {"multiply_add": {"f64": 106}, ...}, "spills": 1, "line": {"number": 93, ...}, ...}, ...}:
    loop is the inner loop, the number of the others is other_loops.
    """
    numbers = json.loads(compiler.emit(flags or SMALL, "stats-json", target, pipeline=pipeline, plugins=plugins, patterns=patterns))
    loops, inner = numbers.pop("loops"), numbers.pop("inner_loop")
    return {**numbers, "loop": loops[inner], "other_loops": len(loops) - 1}


def diff(before: str = "nb", after: str = "fuse", flags: str = "", program: str = "", plugins: str = "", patterns: str = "",
         only: str = "", first_line: int = 1, lines: int = 150) -> dict[str, Any]:
    """Compares a program at two points, line by line (-: before, +: after), without the numbers at the end of names.

    before, after: a stage as of print_stage, a pipeline to run, or a file with a program.

    Example: diff("nb", "builtin.module(nb-peel-miller-index)") -> {"text": "- %F_latt = nb.lattice_factor square %hkl, ...\\n+ ...",
    "ops": {"nb.lattice_factor": [1, 0], "nb.grating": [0, 1]}, "lines": 12, ...}: ops are counted before and after, where that changed.
    """
    source = _program(flags, program)

    def at(point):
        if point == "nb":
            return source
        if point in compiler.stage_names():
            return compiler.stage(source, point)
        if point.lstrip().startswith("builtin.module("):
            return compiler.run(source, point, plugins=plugins, patterns=patterns).text
        if point.endswith(".mlir") or "\n" in point:
            return _read(point)
        raise ValueError(f"'{point}' is not a point of a compilation; give nb, {', '.join(compiler.stage_names())}, a pipeline "
                         "builtin.module(...), or a file .mlir")
    texts = at(before), at(after)
    a, b = (text.splitlines() for text in texts)
    plain = [[re.sub(r"(%[A-Za-z]\w*?)_\d+\b", r"\1", line) for line in rows] for rows in (a, b)]
    changes = []
    for kind, i, j, k, m in difflib.SequenceMatcher(a=plain[0], b=plain[1], autojunk=False).get_opcodes():
        if kind != "equal":
            changes += [f"- {line}" for line in a[i:j]] + [f"+ {line}" for line in b[k:m]]
    counts = [_census(text) for text in texts]
    ops = {op: [count[op] for count in counts] for op in sorted(counts[0] | counts[1]) if counts[0][op] != counts[1][op]}
    return {"ops": ops, **_page("\n".join(changes), only, "", first_line, lines)}


# The reference of ops and passes, generated of their tables.

def _reference() -> dict[str, tuple[str, str]]:
    """Name -> (kind, text)."""
    sections = {}
    for page, kind in (("dialect", "ops"), ("schedule", "schedule"), ("transforms", "passes"), ("conversion", "passes")):
        text = pathlib.Path(__file__).with_name("reference").joinpath(f"{page}.md").read_text()
        for section in re.split(r"^(?=### )", text, flags=re.M)[1:]:
            if name := re.match(r"### `-?([\w.-]+)`", section):
                sections[name[1]] = kind, re.split(r"^## ", section, flags=re.M)[0].strip()
    return sections


PIPELINES = {"nb-cpu-pipeline": "the compiler's own passes for processors; options until-before and until-after name a stage",
             "nb-gpu-pipeline": "the same for GPUs", "nb-interpreter-pipeline": "the passes ahead of the reference interpreter"}


def list_names(kind: Literal["passes", "pipelines", "stages", "ops", "schedule"] = "passes", contains: str = "") -> dict[str, Any]:
    """Lists passes, pipelines, stages, ops of the nb dialect, or ops of schedules, each with one line on it.

    Passes of MLIR (cse, canonicalize, ...) may be used in pipelines and are not listed.

    Example: list_names("passes", "hoist") -> {"names": {"nb-hoist-invariants": "Compute ops outside of the loops they do not depend on"}}
    """
    if kind == "passes":
        names = compiler.passes()
    elif kind == "pipelines":
        names = dict(PIPELINES)
    elif kind == "stages":
        names = dict.fromkeys(("nb", *compiler.stage_names()), "")
    else:
        names = {name: (re.search(r"^_(.*)_$", text, re.M) or [None, ""])[1] for name, (of, text) in _reference().items() if of == kind}
    return {"names": {name: text for name, text in sorted(names.items()) if contains.lower() in f"{name} {text}".lower()}
            if kind != "stages" else {name: "" for name in names if contains in name}}


def describe(name: str, first_line: int = 1, lines: int = 150) -> dict[str, Any]:
    """The documentation of a pass, an op or an op of schedules: what it does, formula, operands, options, an example.

    Example: describe("nb.miller_index") -> {"kind": "ops", "text": "### `nb.miller_index` (nb::MillerIndexOp) ...", ...}
    """
    sections = _reference()
    if name in PIPELINES:
        return {"kind": "pipelines", "text": f"{name}: {PIPELINES[name]}", "lines": 1, "lines_shown": 1}
    if name not in sections:
        near = difflib.get_close_matches(name, sections, 3, 0.5)
        raise ValueError(f"there is no description of '{name}'" + (f"; the closest are {', '.join(near)}" if near else "")
                         + "; passes and ops of MLIR are described on https://mlir.llvm.org/docs/")
    kind, text = sections[name]
    return {"kind": kind, **_page(text, first_line=first_line, lines=lines)}


def verify(program: str, plugins: str = "") -> dict[str, Any]:
    """Parses and verifies a program, and counts its ops.

    Example: verify("func.func @f(%x: f64) -> f64 {\\n return %y : f64\\n}") -> {"valid": false, "error": "the program cannot be read:
    program:2:9: use of undeclared SSA value name", "line": 2, "column": 9, "source": " return %y : f64"}
    """
    text = _read(program)
    try:
        compiler.run(text, "builtin.module()", plugins=plugins)
    except compiler.CompilerError as error:
        line, column = error.location or (None, None)
        rows = text.splitlines()
        return {"valid": False, "error": str(error), "line": line, "column": column,
                "source": _cut(rows[line - 1]) if line and line <= len(rows) else None}
    return {"valid": True, "functions": re.findall(r"\bfunc\.func\b[^@\n]*@([\w.]+)", text), "ops": dict(_census(text).most_common())}


def interpret(flags: str = "", program: str = "", arguments: dict[str, str] | None = None, function: str = "", probe: str = "",
              trace_pixel: str = "", check_finite: bool = False, plugins: str = "", first_line: int = 1, lines: int = 150) -> dict[str, Any]:
    """Runs a program in the reference interpreter (nb-run --no-fuse), which shares no code with the compiler.

    Arguments get the experiment's numbers by their nb.name, or those of `arguments`: name -> "1.5", "1,2,3" or a .npy file. probe: a
    pattern of the names of values that are counted ("F_*"). trace_pixel: "SLOW,FAST", prints every named value of
    that pixel. check_finite: stop at the first NaN or infinity.

    Example: interpret(probe="F_latt") -> {"probes": [{"name": "F_latt", "components": [{"min": 8.9e-05, "max": 121.3, "mean": 6.9,
    "count": 3072, "nan": 0, "inf": 0}]}], "text": "result 0: 1 x 16 x 16, sum 865.18, from 1.7e-06 to 116.1", ...}
    """
    words = [_tool("nb-run"), _file(_program(flags, program)), "--no-fuse", *(f"--arg={key}={value}" for key, value in (arguments or {}).items())]
    for option, value in (("function", function), ("probe", probe), ("trace-pixel", trace_pixel), ("plugin", plugins)):
        words += [f"--{option}={value}"] * bool(value)
    words += ["--check-finite"] * check_finite + ["--json"] * bool(probe)
    out = _run(*words, "--", *_words(flags))
    result = {}
    if probe:
        report, end = json.JSONDecoder().raw_decode(out)
        result["probes"], out = report["probes"][:_MOST], out[end:].lstrip()
    return result | _page(out, first_line=first_line, lines=lines)


def gradcheck(flags: str = "", wrt: str = "scalars", order: Literal[1, 2] = 1, mode: Literal["forward", "reverse"] = "reverse",
              engine: Literal["fused", "interpreter", "both"] = "both") -> dict[str, Any]:
    """Compares derivatives of an experiment's image with finite differences of the interpreter (nb-gradcheck).

    wrt: comma-separated parameters and groups ("cell,misset,distance"). order: 2 checks the Hessian.

    Example: gradcheck(wrt="cell_a") -> {"passed": true, "count": 2, "rows": [{"engine": "fused", "parameter": "cell_a", "unit": "m",
    "analytic": -3.69e10, "difference": -3.69e10, "relative_error": 1.8e-13, "verdict": "ok"}, ...]}
    """
    report = json.loads(_run(_tool("nb-gradcheck"), *_words(flags), f"--wrt={wrt}", f"--order={order}", f"--mode={mode}",
                             f"--engine={engine}", "--json", good=(0, 1)))
    keys = ("parameter", "unit", "analytic", "difference", "relative_error", "verdict")
    rows = [{"engine": each["engine"], **{key: row[key] for key in keys if key in row}}
            for each in report["engines"] for row in each.get("derivatives", [])]
    return {"passed": all(each["passed"] for each in report["engines"]), **_some(rows)}


TOOLS = (print_stage, run_pipeline, remarks, judge, bisect, reduce, stats, diff, list_names, describe, verify, interpret, gradcheck)
