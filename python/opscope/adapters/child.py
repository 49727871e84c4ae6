# SPDX-License-Identifier: Apache-2.0
"""A program that is waited for with patience, a compiler or a self-test: from time to time it is told that it runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from ..log import tell
from .cache import FIRST_WORD_S, NEXT_WORD_S
from .errors import CompilationFailed

_SHOWN_CHARACTERS = 600


class Child:
    """A started program; its output is in a file. CompilationFailed when it cannot be started, or is given up."""

    def __init__(
        self, command: list[str], log: Path, what: str, environment: dict | None = None, *, listens: bool = False
    ) -> None:
        self.what, self.log = what, log
        self._began = time.monotonic()
        with open(log, "wb") as output:
            try:
                self._process = subprocess.Popen(
                    command,
                    cwd=log.parent,
                    env=environment,
                    stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # so that it can be ended with its children
                )
            except OSError as error:
                raise CompilationFailed(f"{what} failed: {command[0]}: {error.strerror}") from error

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def say(self, line: str) -> None:
        """One line to its standard input, the last one; nothing when it has ended."""
        self._began = time.monotonic()
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.close()
        except OSError:
            pass

    def wait(self, limit_s: float) -> int:
        """Its exit status, negative for a signal. It is ended when it runs for longer, or the wait is interrupted."""
        next_word = self._began + FIRST_WORD_S
        try:
            while True:
                try:
                    return self._process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    pass
                now = time.monotonic()
                if now - self._began > limit_s:
                    raise CompilationFailed(f"{self.what} was given up after {limit_s:.0f} s")
                if now >= next_word:
                    next_word = now + NEXT_WORD_S
                    tell("warn", f"{self.what} ({now - self._began:.0f} s)")
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Ends it with what it has started; a second call does nothing."""
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except OSError:
                pass
            self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def output(self) -> str:
        """What it has printed."""
        return self.log.read_text(errors="replace")

    def failure(self, status: int) -> CompilationFailed:
        """What is raised when it ended so."""
        lines = self.output().splitlines()
        last = lines[-1] if lines else "no output"
        told = next((line for line in lines if "error:" in line or "Error:" in line), last)
        return CompilationFailed(f"{self.what} failed ({ending(status)}): {told.strip()[:_SHOWN_CHARACTERS]}")


def ending(status: int) -> str:
    """How a program ended, in words."""
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def environment() -> dict[str, str]:
    """For a Python that finds the modules that this one finds, wherever it is started."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path)}


def interpreter() -> str | None:
    """This Python as a program; a program that embeds Python must not be started in its place."""
    candidates = [sys.executable or "", os.path.join(sys.exec_prefix, "bin", "python3")]
    for path in candidates:
        if os.path.basename(path).startswith("python") and shutil.which(path):
            return path
    return None
