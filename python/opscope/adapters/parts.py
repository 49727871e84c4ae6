# SPDX-License-Identifier: Apache-2.0
"""The parts of an adapter, and the results of their self-tests.

The essential part is operators with their shapes. The others use internals of the framework, and an adapter works
without a part that does not match a build. The results are in the note beside the library: ``{"parts": {"operators":
"", "memory": "why it was left out", ...}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

OPERATORS = "operators"
CRASHED = "the self-test ended with "  # start of the reason when the test of a part crashed or hung


@dataclass(frozen=True)
class Part:
    """An optional part of an adapter."""

    lacks: str  # what a recording lacks without it, for messages
    # Its source files: a compiler error in one of them is a fault of this part. OPSCOPE_WITHOUT_<PART> leaves them out.
    sources: frozenset[str] = frozenset()
    # True: a failed test leads to a new compilation without the part. False: the code stays, but is not used.
    is_compiled_out: bool = True


Parts = Mapping[str, Part]


def part_of(parts: Parts, output: str) -> str:
    """The part whose source has the compiler's first error; empty if it is in none of them."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if "error:" in line), len(lines) - 1)
    # The lines above the error may name the source ("required from ..."), the nearest one last.
    for line in reversed(lines[: first + 1]):
        for name, part in parts.items():
            if any(f"/{file}:" in line for file in part.sources):
                return name
    return ""


def sources_of(parts: Parts, names: Iterable[str]) -> frozenset[str]:
    """The source files to leave out without these parts."""
    return frozenset().union(*(parts[name].sources for name in names))


def lacks(parts: Parts, name: str) -> str:
    """What a recording lacks without this part, for a message."""
    return parts[name].lacks if name in parts else name


def parse_parts(output: str) -> dict[str, str | None]:
    """The results that a self-test has printed: part -> why it does not work; None for the part in which it ended."""
    rows = (json.loads(line) for line in output.splitlines() if line.startswith('{"part": '))
    return {row["part"]: row["why"] for row in rows}


def flags_without(names: Iterable[str]) -> list[str]:
    """Compiler flags that leave these parts out."""
    return [f"-DOPSCOPE_WITHOUT_{name.upper()}" for name in sorted(names)]


def read_parts(library: Path) -> dict[str, str] | None:
    """Part -> why it was left out, "" if it works, from the note beside a library; None if it is untested."""
    try:
        found = json.loads(library.with_suffix(".json").read_text()).get("parts")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, dict) and OPERATORS in found else None


def is_compiled_out(parts: Parts, name: str) -> bool:
    """Whether a part that failed its test must be compiled out, instead of only not being used."""
    return name in parts and parts[name].is_compiled_out


def misfit(parts: Parts, found: Mapping[str, str] | None) -> str:
    """Why a tested adapter must not be loaded (no operators, or code that would crash); "": it may be loaded."""
    for name, why in (found or {}).items():
        if why and (name == OPERATORS or (is_compiled_out(parts, name) and why.startswith(CRASHED))):
            return f"{name}: {why}"
    return ""


def left_out(found: Mapping[str, str] | None) -> dict[str, str]:
    """The parts that recordings lack, and why."""
    return {name: why for name, why in (found or {}).items() if why}
