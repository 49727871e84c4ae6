# SPDX-License-Identifier: Apache-2.0
"""``opscope mcp``: answers about traces for agents and scripts, by the Model Context Protocol.

`serve` needs the package ``mcp`` (``pip install 'opscope[mcp]'``). Only `serve` imports it, so that without the package
the command prints one line on standard error.
"""

from __future__ import annotations

import os
import subprocess
import sys

from opscope.integrations.mcp_server.verbs import OpenedFiles, command

DONE, FAILED, WRONG_USAGE, PARTIAL = 0, 1, 2, 3  # exit codes of the command line


def serve(files: list[str]) -> int:
    """Speaks the protocol on standard input and output until the input ends; returns the exit code of the command.

    ``files``: paths of traces, or of folders of ``opscope collect``. Each is read once before the server starts: one
    that cannot be read is an error on standard error and the exit code 1. A damaged one is served.

    >>> serve(["no/such/file"])  # doctest: +SKIP
    opscope: no/such/file: No such file or directory
    1
    """
    if not files:
        return _refuse("name at least one file", WRONG_USAGE)
    if "-" in files:
        return _refuse("standard input has the protocol, so '-' cannot be a file", WRONG_USAGE)
    try:
        from opscope.integrations.mcp_server.server import make_server
    except ImportError as error:
        return _refuse(f"needs the package mcp, 2.0 or newer ({error}): pip install 'opscope[mcp]'", FAILED)
    for file in files:
        # A pipe cannot be read twice: the second read would wait forever.
        if os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file)):
            return _refuse(f"{file} is not a file that can be read several times", FAILED)
    opened = OpenedFiles(files)
    for path in opened.paths:
        done = subprocess.run(command("info", path), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (DONE, PARTIAL):
            return done.returncode
    make_server(opened).run("stdio")
    return DONE


def _refuse(message: str, code: int) -> int:
    sys.stderr.write(f"opscope: mcp: {message.splitlines()[0]}\n")
    return code
