# SPDX-License-Identifier: Apache-2.0
"""The parts of an adapter, and what was found out about each.

Operators, with their shapes, are what an adapter is for. The other parts reach for more of torch than its observers;
a torch that one of them does not fit goes without that part. What the self-test has shown is kept in the note beside
the library: ``{"parts": {"operators": "", "memory": "why it was left out", ...}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

OPERATORS = "operators"
CRASHED = "the self-test ended with "  # how the reason begins where the trial of a part did not return
# The sources of the parts that can be left out: OPSCOPE_WITHOUT_<PART> compiles the rest without them.
SOURCES: Mapping[str, frozenset[str]] = {
    "memory": frozenset({"allocations.cc", "remembered_blocks.cc"}),
    "presence": frozenset({"profiler_presence.cc"}),
    "stacks": frozenset({"script_place.cc"}),
    "drop_ins": frozenset(
        {"drop_in.cc", "drop_in.h", "drop_in_trial.cc", "global_changes.cc", "range_layout.h", "route.cc"}
    ),
}
# Without these the adapter is compiled anew when their trial fails; drop-in functions are used by their verdict alone.
COMPILED_OUT = frozenset(SOURCES) - {"drop_ins"}
# What a recording lacks without it.
LACKS: Mapping[str, str] = {
    "memory": "allocations (profile_memory)",
    "presence": "ranges of torch._C._profiler._RecordFunctionFast",
    "stacks": "the call stacks and modules of TorchScript",
    "drop_ins": "drop-in functions (operators cost twice as much while they are recorded)",
}


def part_of(output: str) -> str:
    """The part whose source the compiler complains about first; empty when it is none of them."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if "error:" in line), len(lines) - 1)
    # What the error is about may be named above it ("required from ..."), nearest last.
    for line in reversed(lines[: first + 1]):
        for part, files in SOURCES.items():
            if any(f"/{file}:" in line for file in files):
                return part
    return ""


def parts_told(output: str) -> dict[str, str | None]:
    """What a self-test has printed: why each part does not fit; None for one in which it ended."""
    rows = (json.loads(line) for line in output.splitlines() if line.startswith('{"part": '))
    return {row["part"]: row["why"] for row in rows}


def flags_without(parts: Iterable[str]) -> list[str]:
    """For the compiler."""
    return [f"-DOPSCOPE_WITHOUT_{part.upper()}" for part in sorted(parts)]


def read_parts(library: Path) -> dict[str, str] | None:
    """Why each part was left out, by the note beside a library; "" where it holds. None: it was not tried."""
    try:
        parts = json.loads(library.with_suffix(".json").read_text()).get("parts")
    except (OSError, ValueError, AttributeError):
        return None
    return parts if isinstance(parts, dict) and OPERATORS in parts else None


def misfit(found: Mapping[str, str] | None) -> str:
    """Why a finished adapter must not be loaded: no operators, or code in it that would crash; empty when it may."""
    for part, why in (found or {}).items():
        if why and (part == OPERATORS or (part in COMPILED_OUT and why.startswith(CRASHED))):
            return f"{part}: {why}"
    return ""


def left_out(found: Mapping[str, str] | None) -> dict[str, str]:
    """The parts that recordings go without, and why."""
    return {name: why for name, why in (found or {}).items() if why}
