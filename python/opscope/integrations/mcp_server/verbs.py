# SPDX-License-Identifier: Apache-2.0
"""Runs the verbs of the command line for the server, each in a process of its own.

So an answer is the JSON that the verb prints, other output of the engine cannot reach the protocol on standard output,
and a query that exceeds its memory, or a damaged trace, ends only that process. A start takes some 30 ms. A process
gets no paths but those of the opened files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

# As `python -m opscope`, without the current folder among the folders of modules.
_PROGRAM = (
    "import sys; sys.path[:] = [*filter(None, sys.path), sys.argv.pop(1)]; "
    "from opscope.__main__ import main; sys.exit(main())"
)
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_MAX_OUTPUT_BYTES = 256 << 20
_MAX_AT_ONCE = 2  # each holds a trace in memory


class AnswerError(Exception):
    """There is no answer; the message says why, in words for the client."""


class OpenedFiles:
    """The files of one server: the only ones that its answers are about."""

    def __init__(self, files: Sequence[str]):
        self.paths = [f"./{file}" if file.startswith("-") else file for file in files]  # no option of a verb
        ends = [os.path.basename(os.path.normpath(file)) for file in files]
        chosen = ends if len(set(ends)) == len(ends) else files
        self.names = [os.fsencode(name).decode(errors="backslashreplace") for name in chosen]

    def path(self, file: int | str) -> str:
        """The path of a file, given its name or its index; an index may be a text."""
        if file in self.names:
            return self.paths[self.names.index(file)]
        index = int(file) if str(file).isdecimal() else -1
        if 0 <= index < len(self.paths):
            return self.paths[index]
        known = ", ".join(f"{i}: {name}" for i, name in enumerate(self.names))
        raise AnswerError(f"no opened file is {file!r}; the opened files are {known}")


def command(verb: str, *arguments: str) -> list[str]:
    """The command line of `opscope VERB ARGUMENTS...`."""
    return [sys.executable, "-c", _PROGRAM, _PACKAGES, verb, *arguments]


def option_arguments(options: Mapping[str, Any]) -> list[str]:
    """Options as arguments: None and False are left out, a list is one text with commas."""
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            text = ",".join(value) if isinstance(value, list) else value
            arguments.append(f"{option}={text}")  # so that no value can be another option
    return arguments


class Verbs:
    """Runs verbs, at most two at the same time. REQUIRES: an event loop of anyio."""

    def __init__(self):
        import anyio

        self._at_once = anyio.CapacityLimiter(_MAX_AT_ONCE)

    async def answer(self, verb: str, paths: Sequence[str], options: Mapping[str, Any], statement: str = "") -> str:
        """The JSON of a verb. `statement`: SQL, which the verb reads from standard input. Raises `AnswerError`."""
        operands = [*paths, "-"] if statement else paths
        arguments = command(verb, *operands, "--json", *option_arguments(options))
        code, out, err = await self.run(arguments, statement)
        if code not in (0, 3):  # 3: damaged input; "problems" and "quality" say what is missing
            raise AnswerError(_message(err) or f"opscope {verb} ended with code {code}")
        return out.decode(errors="replace").rstrip("\n")

    async def run(self, arguments: Sequence[str], statement: str = "") -> tuple[int, bytes, bytes]:
        """Exit code, output and messages of a command. A cancelled call ends the process."""
        import anyio

        out, err = bytearray(), bytearray()
        # A file in memory, since writing into the pipe of a process that has ended would raise SIGPIPE.
        standard_input = os.memfd_create("statement") if statement else os.open(os.devnull, os.O_RDONLY)
        try:
            if statement:
                with open(standard_input, "wb", closefd=False) as file:
                    file.write(statement.encode(errors="replace"))
                os.lseek(standard_input, 0, os.SEEK_SET)
            async with self._at_once:
                process = await anyio.open_process(
                    arguments, stdin=standard_input, stdout=subprocess.PIPE, stderr=subprocess.PIPE
                )
                async with process, anyio.create_task_group() as group:
                    group.start_soon(_read, process, process.stdout, out)
                    group.start_soon(_read, process, process.stderr, err)
        finally:
            os.close(standard_input)
        if max(len(out), len(err)) > _MAX_OUTPUT_BYTES:
            raise AnswerError(f"the answer is longer than {_MAX_OUTPUT_BYTES >> 20} MiB: ask for fewer rows")
        return process.returncode, bytes(out), bytes(err)


async def _read(process: Any, stream: Any, into: bytearray) -> None:
    async for piece in stream:
        into += piece
        if len(into) > _MAX_OUTPUT_BYTES:
            process.kill()
            return


def _message(err: bytes) -> str:
    """What a verb has written on standard error, without the name of the program."""
    lines = [line.removeprefix("opscope: ") for line in err.decode(errors="replace").splitlines()]
    return "\n".join(line for line in lines if line)[:4000]
