"""page_test.py PAGE: the calls of docs/agents.md have the results that it shows, and all tools are in its table."""

import asyncio
import json
import pathlib
import re
import sys
import tempfile

from server import connected

PAGE = pathlib.Path(sys.argv[1]).read_text()


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)[1]


def differs(shown, result, at="the result"):
    """A sentence on the first part of `shown` that is not in `result`; None: all is."""
    if isinstance(shown, dict):
        missing = [key for key in shown if key not in result]
        parts = [differs(value, result[key], f"{at}.{key}") for key, value in shown.items() if key in result]
        return f"{at} lacks {missing}" if missing else next(filter(None, parts), None)
    if isinstance(shown, list):
        if len(shown) > len(result):
            return f"{at} has {len(result)} rows, and {len(shown)} are shown"
        return next(filter(None, (differs(*pair, f"{at}[]") for pair in zip(shown, result))), None)
    same = re.fullmatch(".*".join(map(re.escape, shown.split("..."))), str(result), re.S) if isinstance(shown, str) else shown == result
    return None if same else f"{at} is {result!r}, and {shown!r} is shown"


async def main():
    calls = re.findall(r"^> (\w+) (\{[^\n]*\})\n(.*?)(?=^>|\Z)", block("console"), re.M | re.S)
    assert len(calls) == 4, calls
    settings = json.loads(block("json"))["mcpServers"]["nanobragg"]
    assert settings["command"] == "nb-mcp"
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "faster.pdll").write_text(block("pdll"))
        async with connected(folder) as call:
            tools = {tool.name for tool in (await call.client.list_tools()).tools}
            listed = set(re.findall(r"`(\w+)`", re.search(r"^\| tool .*?\n\n", PAGE, re.M | re.S)[0]))
            if tools != listed:
                complaints.append(f"the table of tools lacks or has too many of {sorted(tools ^ listed)}")
            for tool, arguments, shown in calls:
                result = await call(tool, **json.loads(arguments))
                if complaint := differs(json.loads(shown), result, tool):
                    complaints.append(complaint)
    print("\n".join(complaints) or f"{len(calls)} calls, as shown")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
