"""A client of the server, over standard input and output."""

import contextlib
import os
import sys

try:
    from mcp import Client, StdioServerParameters, stdio_client
except ImportError:
    print("skipped: the package mcp is not installed")
    sys.exit(0)


class Refused(Exception):
    """A tool's error."""


@contextlib.asynccontextmanager
async def connected(folder, *options):
    """A function that calls a tool and returns its result; `client` is the session."""
    server = StdioServerParameters(command=sys.executable, args=["-B", "-m", "nanobragg.mcp", "--folder", str(folder), *options],
                                   env=dict(os.environ))
    async with Client(stdio_client(server)) as session:
        async def call(tool, /, **arguments):
            result = await session.call_tool(tool, arguments)
            if result.is_error:
                raise Refused(result.content[0].text)
            return result.structured_content
        call.client = session
        yield call
