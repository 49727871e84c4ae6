# SPDX-License-Identifier: Apache-2.0
"""The parts of an adapter, and what was found out about each.

Operators, with their shapes, are what an adapter is for. The other parts reach for more of the framework than it
offers; a build that one of them does not fit goes without that part. What the self-test has shown is kept in the note
beside the library: ``{"parts": {"operators": "", "memory": "why it was left out", ...}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

OPERATORS = "operators"
CRASHED = "the self-test ended with "  # how the reason begins where the trial of a part did not return


@dataclass(frozen=True)
class Part:
    """One that an adapter can go without."""

    lacks: str  # what a recording lacks then
    # Its sources, among which the compiler's first complaint is looked for; OPSCOPE_WITHOUT_<PART> leaves them out.
    sources: frozenset[str] = frozenset()
    # Whether the adapter is compiled anew without it when its trial fails; else it is used by its verdict alone.
    is_compiled_out: bool = True


Parts = Mapping[str, Part]


def part_of(parts: Parts, output: str) -> str:
    """The part whose source the compiler complains about first; empty when it is none of them."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if "error:" in line), len(lines) - 1)
    # What the error is about may be named above it ("required from ..."), nearest last.
    for line in reversed(lines[: first + 1]):
        for name, part in parts.items():
            if any(f"/{file}:" in line for file in part.sources):
                return name
    return ""


def sources_of(parts: Parts, names: Iterable[str]) -> frozenset[str]:
    """What is not compiled without these parts."""
    return frozenset().union(*(parts[name].sources for name in names))


def lacks(parts: Parts, name: str) -> str:
    """What a recording lacks without it, for a message."""
    return parts[name].lacks if name in parts else name


def parts_told(output: str) -> dict[str, str | None]:
    """What a self-test has printed: why each part does not fit; None for one in which it ended."""
    rows = (json.loads(line) for line in output.splitlines() if line.startswith('{"part": '))
    return {row["part"]: row["why"] for row in rows}


def flags_without(names: Iterable[str]) -> list[str]:
    """For the compiler."""
    return [f"-DOPSCOPE_WITHOUT_{name.upper()}" for name in sorted(names)]


def read_parts(library: Path) -> dict[str, str] | None:
    """Why each part was left out, by the note beside a library; "" where it holds. None: it was not tried."""
    try:
        found = json.loads(library.with_suffix(".json").read_text()).get("parts")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, dict) and OPERATORS in found else None


def is_compiled_out(parts: Parts, name: str) -> bool:
    """Whether a part whose trial failed must not be in the library."""
    return name in parts and parts[name].is_compiled_out


def misfit(parts: Parts, found: Mapping[str, str] | None) -> str:
    """Why a finished adapter must not be loaded: no operators, or code in it that would crash; empty when it may."""
    for name, why in (found or {}).items():
        if why and (name == OPERATORS or (is_compiled_out(parts, name) and why.startswith(CRASHED))):
            return f"{name}: {why}"
    return ""


def left_out(found: Mapping[str, str] | None) -> dict[str, str]:
    """The parts that recordings go without, and why."""
    return {name: why for name, why in (found or {}).items() if why}
