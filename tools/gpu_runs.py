# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of tools/gpu_check.py, a process each, within limits of time, and keeps what each has left.

A process that is stopped at its limit still counts for what it had measured by then. Its outputs go to files, so that
a child of it that holds a pipe open cannot hold the check up.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "gpu_programs.py"
LIMIT_S = 90.0  # of one process
LEAST_S = 10.0  # with less than that no process is begun
MOST_LINES = 3  # of standard error, from either end
STOPPED = f"it was stopped after {LIMIT_S:.0f} s or at the end of the time"
KILLED_S = 5.0  # a process that hangs in the driver does not end even then


class OutOfTime(RuntimeError):
    """The limit of the whole check is near."""


@dataclasses.dataclass
class Run:
    """What a program of gpu_programs.py has measured."""

    step: list[float] = dataclasses.field(default_factory=list)  # seconds, by round
    base: list[float] = dataclasses.field(default_factory=list)  # the same before there was a profiler
    stop: list[float] = dataclasses.field(default_factory=list)
    device: str = ""
    stopping_for: float = 0.0  # seconds: it was stopped at its limit in the middle of a profiler's stop
    why_not: str = ""  # the time was over, in words; "" where it ended by itself

    @property
    def added_to_step(self) -> float | None:
        """Seconds. Both are of one process, because processes differ by more than a profiler adds."""
        return statistics.median(self.step) - statistics.median(self.base) if self.step and self.base else None

    @property
    def stop_or_more(self) -> tuple[float, bool] | None:
        """Seconds, and whether it would have taken more; None: it never came to a stop."""
        if self.stop:
            return statistics.median(self.stop), False
        return (self.stopping_for, True) if self.stopping_for else None


def first_lines(text: str) -> str:
    """Of standard error: the first lines, which say what was missing, and the last ones, which say what was raised."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 2 * MOST_LINES:
        lines = [*lines[:MOST_LINES], "...", *lines[-MOST_LINES:]]
    return " / ".join(line[:300] for line in lines)


def read_run(output: str, now: float, why_not: str = "") -> Run:
    """Of the lines that gpu_programs.py prints; the last one may be cut."""
    run, at = Run(why_not=why_not), now
    for line in output.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if not isinstance(said, dict):
            continue
        run.device = said.get("device", run.device)
        run.step += [said["step"]] if "step" in said else []
        run.base += [said["base"]] if "base" in said else []
        run.stop += [said["stop"]] if "stop" in said else []
        at = said.get("at", at)
    if why_not and len(run.step) > len(run.stop):
        run.stopping_for = max(0.0, now - at)
    return run


class Runner:
    """Starts processes until `seconds` from now; their files lie in `folder`."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.device = ""  # as the first program said
        self.notes: list[str] = []  # what programs said on standard error; gpu_check empties it after each part
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds."""
        return self._ends - time.monotonic()

    def run_program(self, program: str, side: str, path: str = "") -> Run:
        """Raises RuntimeError with the first lines of standard error where the program fails."""
        name = f"{program}.{side}"
        status, output = self.execute([sys.executable, str(PROGRAMS), program, side, path], name)
        run = read_run(output, time.monotonic(), STOPPED if status is None else "")
        self.device = self.device or run.device
        if status:
            raise RuntimeError(f"{program} under {side} ended with {status}: {self.said_by(name)}")
        return run

    def execute(self, command: list[str], name: str) -> tuple[int | None, str]:
        """Exit status, None at a limit, and standard output; both outputs stay as NAME.stdout and NAME.stderr."""
        limit = min(LIMIT_S, self.left())
        if limit < LEAST_S:
            raise OutOfTime("left out: the time is over")
        began = time.monotonic()
        outputs = [self.folder / f"{name}.{stream}" for stream in ("stdout", "stderr")]
        with open(outputs[0], "wb") as out, open(outputs[1], "wb") as err:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
            status: int | None = None
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                pass
            finally:
                if status is None:
                    _end(process)
        if not status and (said := self.said_by(name)):  # a failure says it by itself
            self.notes.append(f"{name}: {said}")
        ended = "stopped" if status is None else f"exit status {status}"
        print(f"gpu_check: {name}: {time.monotonic() - began:.1f} s, {ended}", file=sys.stderr, flush=True)
        return status, outputs[0].read_text(errors="replace")

    def said_by(self, name: str) -> str:
        """The first and last lines of its standard error."""
        return first_lines((self.folder / f"{name}.stderr").read_text(errors="replace"))


def _end(process: subprocess.Popen) -> None:
    """With all that it has started and that is in its session still."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(KILLED_S)
