"""Each call of a tool runs in a process of its own, which may crash, hang, and write to the working directory only."""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import warnings
from typing import Any


class Failure(Exception):
    """A call that failed, with a sentence that says why."""


async def call(tool: str, arguments: dict[str, Any], folder: pathlib.Path, seconds: float) -> dict[str, Any]:
    """The result of a tool. The process and its children end when it is cancelled or takes too long."""
    import anyio
    environment = dict(os.environ, NB_CACHE="off", PYTHONDONTWRITEBYTECODE="1",
                       PYTHONPATH=os.pathsep.join(filter(None, [str(pathlib.Path(__file__).parents[2]), os.environ.get("PYTHONPATH")])))
    process = subprocess.Popen([sys.executable, "-m", "nanobragg.mcp._worker"], cwd=folder, env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    request = json.dumps({"tool": tool, "arguments": arguments})
    try:
        with anyio.fail_after(seconds):
            out, errors = await anyio.to_thread.run_sync(process.communicate, request, abandon_on_cancel=True)
    except TimeoutError:
        raise Failure(f"{tool} takes more than {seconds:g} s; give a smaller experiment (-detpixels 16 -oversample 1) or a shorter "
                      "pipeline, or start the server with a larger --timeout") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    try:
        answer = json.loads(out)
    except ValueError:
        code = process.returncode
        how = f"crashes ({signal.strsignal(-code)})" if code < 0 else f"ends with status {code}"
        raise Failure(f"{tool} {how}, which a pass or a plugin may do; bisect names the pass. It said: "
                      f"{errors.strip()[-1000:] or 'nothing'}") from None
    if "error" in answer:
        raise Failure(answer["error"])
    return answer["result"]


# Landlock: linux/landlock.h.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _NO_NEW_PRIVS = 444, 445, 446, 38
# All rights that change files: writing, removing, making, truncating.
_WRITE = {1: 1 << 1 | 0x1FF0, 2: 1 << 1 | 0x3FF0, 3: 1 << 1 | 0x7FF0}


def _landlock() -> int:
    """The version of this system's Landlock; less than 1: it has none."""
    return ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def can_confine() -> bool:
    return _landlock() >= 1


def confine(folder: str) -> None:
    """From here on this process and its children change no files outside of the folder. Does nothing without Landlock."""
    version = _landlock()
    if version < 1:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    rights = ctypes.c_uint64(_WRITE[min(version, 3)])
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(rights), ctypes.c_size_t(8), ctypes.c_uint32(0))

    class Beneath(ctypes.Structure):
        _pack_ = 1
        _fields_ = [("rights", ctypes.c_uint64), ("folder", ctypes.c_int32)]
    for path, allowed in ((folder, rights.value), ("/dev/null", 1 << 1)):
        beneath = Beneath(allowed, os.open(path, os.O_PATH))
        if libc.syscall(_ADD_RULE, rules, ctypes.c_int(1), ctypes.byref(beneath), ctypes.c_uint32(0)):
            raise OSError(ctypes.get_errno(), "Landlock refuses a rule", path)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(_RESTRICT_SELF, rules, ctypes.c_uint32(0)):
        raise OSError(ctypes.get_errno(), "Landlock cannot be switched on")


def main() -> None:
    """Reads a call from standard input and writes its result to standard output, both as JSON."""
    answer_to = os.dup(1)
    os.dup2(2, 1)  # whatever is printed
    request = json.load(sys.stdin)
    confine(os.getcwd())
    with tempfile.TemporaryDirectory(prefix=".nb-mcp-", dir=os.getcwd()) as scratch, warnings.catch_warnings(record=True) as told:
        os.environ["TMPDIR"] = tempfile.tempdir = scratch
        warnings.simplefilter("always")
        from . import _tools
        tool = next(tool for tool in _tools.TOOLS if tool.__name__ == request["tool"])
        answer: dict[str, Any]
        try:
            result = tool(**request["arguments"])
            if notes := [str(warning.message) for warning in told if not issubclass(warning.category, DeprecationWarning)]:
                result["warnings"] = notes
            answer = {"result": result}
        except Exception as error:
            expected = isinstance(error, (RuntimeError, ValueError, TypeError, OSError, ImportError))
            answer = {"error": str(error) if expected and str(error) else f"{type(error).__name__}: {error}"}
    with os.fdopen(answer_to, "w") as out:
        json.dump(answer, out)


if __name__ == "__main__":
    main()
