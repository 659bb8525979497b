"""The server: python -m nanobragg.mcp [--folder DIR] [--timeout SECONDS]"""

import argparse
import functools
import inspect
import os
import pathlib
import sys
from typing import Any

from . import _tools, _worker

INSTRUCTIONS = """The compiler of nanobragg: X-ray diffraction experiments, as programs of the nb dialect of MLIR, become kernels.

`flags` describe an experiment as to nb-sim ("-cell 70 80 90 90 90 90 -default_F 100 -N 5 -detpixels 64"); without them it is a
small one. `program` is the text of an nb program, or the name of a file in the working directory; without it, it is the
experiment's. `pipeline` is "builtin.module(PASS,PASS{option=value},...)", as to nb-opt. `plugins` and `patterns` are files with
passes (.so) and rewrites (.pdll, .mlir), comma-separated. Long texts come in pages: `only` keeps the lines that match a regular
expression, `function` those of one function, `first_line` and `lines` choose the page, `save` writes the whole text to a file.

To find a wrong pass: judge says whether image and gradient are right; bisect names the first wrong pass and the first value that it
changes; diff shows what the pass did; reduce makes the program small."""


def serve(folder: pathlib.Path, seconds: float) -> None:
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.server.mcpserver.tools import Tool
        from mcp.types import ToolAnnotations
    except ImportError as error:
        sys.exit(f"nb-mcp: error: the package mcp, version 2 or later, is missing ({error}); pip install 'nanobragg[mcp]'")

    def remote(tool):
        @functools.wraps(tool)
        async def call(**arguments: Any) -> dict[str, Any]:
            try:
                return await _worker.call(tool.__name__, arguments, folder, seconds)
            except _worker.Failure as failure:
                raise ToolError(str(failure)) from None
        return call

    def described(tool):
        reads = "save" not in inspect.signature(tool).parameters
        made = Tool.from_function(remote(tool), description=inspect.getdoc(tool),
                                  annotations=ToolAnnotations(read_only_hint=reads, open_world_hint=False))
        # An argument of another name is an error.
        arguments = made.fn_metadata.arg_model
        arguments.model_config["extra"] = "forbid"
        arguments.model_rebuild(force=True)
        made.parameters = arguments.model_json_schema(by_alias=True)
        return made
    MCPServer("nanobragg", instructions=INSTRUCTIONS, log_level="WARNING", tools=[described(tool) for tool in _tools.TOOLS]).run()


def main() -> None:
    parser = argparse.ArgumentParser("nb-mcp", description="Tools of the compiler for agents and editors, by the Model Context "
                                     "Protocol on standard input and output.")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path.cwd(),
                        help="the working directory, outside of which nothing is written; default: the current one")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one call; default: 300")
    options = parser.parse_args()
    if not options.folder.is_dir():
        parser.error(f"--folder: there is no directory {options.folder}")
    if not os.access(options.folder, os.W_OK):
        parser.error(f"--folder: {options.folder} cannot be written to; name a directory for the tools' files")
    if not options.timeout > 0:
        parser.error(f"--timeout={options.timeout:g} is not positive")
    if not _worker.can_confine():
        print("nb-mcp: warning: this system has no Landlock: passes and plugins can write outside of --folder", file=sys.stderr)
    serve(options.folder.resolve(), options.timeout)


if __name__ == "__main__":
    main()
