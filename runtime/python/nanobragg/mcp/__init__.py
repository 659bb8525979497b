"""A server of the Model Context Protocol, with which agents and editors use the compiler: ``python -m nanobragg.mcp``.

It needs the package mcp (``pip install 'nanobragg[mcp]'``). Nothing of ``nanobragg`` imports this package.
"""
