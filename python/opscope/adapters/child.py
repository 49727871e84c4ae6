# SPDX-License-Identifier: Apache-2.0
"""Runs a program (a compiler, a self-test) that may take seconds, and prints a line from time to time meanwhile."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from ..log import log_message
from .cache import FIRST_NOTICE_S, NOTICE_INTERVAL_S
from .errors import CompilationFailed

_SHOWN_CHARACTERS = 600


class Child:
    """A started program whose output goes to a file. CompilationFailed if it cannot be started or runs for too long."""

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
                    env=_unrecorded(environment),
                    stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # its own process group, so that its children can be ended with it
                )
            except OSError as error:
                raise CompilationFailed(f"{what} failed: {command[0]}: {error.strerror}") from error

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def write_line(self, line: str) -> None:
        """Writes a line to its standard input and closes that; does nothing if it has ended."""
        self._began = time.monotonic()
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.close()
        except OSError:
            pass

    def wait(self, limit_s: float) -> int:
        """Waits for its exit status, negative for a signal. Kills it after the limit, or if the wait is interrupted."""
        next_notice = self._began + FIRST_NOTICE_S
        try:
            while True:
                try:
                    return self._process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    pass
                now = time.monotonic()
                if now - self._began > limit_s:
                    raise CompilationFailed(f"{self.what} was given up after {limit_s:.0f} s")
                if now >= next_notice:
                    next_notice = now + NOTICE_INTERVAL_S
                    log_message("warn", f"{self.what} ({now - self._began:.0f} s)")
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Kills it and its children; a second call does nothing."""
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
        """Its output so far."""
        return self.log.read_text(errors="replace")

    def failure(self, status: int) -> CompilationFailed:
        """The exception for this exit status."""
        lines = self.output().splitlines()
        last = lines[-1] if lines else "no output"
        reason = next((line for line in lines if "error:" in line or "Error:" in line), last)
        return CompilationFailed(f"{self.what} failed ({ending(status)}): {reason.strip()[:_SHOWN_CHARACTERS]}")


def ending(status: int) -> str:
    """Text of an exit status or signal, for messages."""
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def _unrecorded(environment: dict[str, str] | None) -> dict[str, str]:
    """The environment (None: that of this process) without the variables that let opscope record a child."""
    given = os.environ if environment is None else environment
    return {name: value for name, value in given.items() if name not in ("OPSCOPE_RUN", "OPSCOPE_CONTROL")}


def environment() -> dict[str, str]:
    """Environment variables for a Python that finds the same modules as this one, wherever it is started."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path)}


def interpreter() -> str | None:
    """Path of this Python as a program; a program that embeds Python must not be started instead."""
    candidates = [sys.executable or "", os.path.join(sys.exec_prefix, "bin", "python3")]
    for path in candidates:
        if os.path.basename(path).startswith("python") and shutil.which(path):
            return path
    return None
