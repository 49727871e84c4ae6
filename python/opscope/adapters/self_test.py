# SPDX-License-Identifier: Apache-2.0
"""A process that loads an adapter beside its framework and tries each of its parts: what does not fit may crash.

Its arguments are the LIBRARY, or nothing: then it imports the framework and reads a line, {"library": ..., "without":
[part, ...]}. Before and after each part it prints a line of JSON: {"part": ..., "why": null}, then "why" is "" when the
part holds, or what is wrong. Exit status 0 when operators are recorded. A framework's module has the attempts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping

from .parts import OPERATORS

# From the loaded source to what is wrong with a part, "" if it works. If operators do not work, no further part is
# tested.
Attempts = Mapping[str, Callable[[object], str]]


def _report(part: str, why: str | None) -> None:
    print(json.dumps({"part": part, "why": why}), flush=True)


def try_parts(attempts: Attempts, load: Callable[[str], object], path: str, without: list[str]) -> dict[str, str]:
    """Part -> what is wrong with it, "" if it works. ``load`` loads the library, or raises _core.Error."""
    from .. import _core

    found = {}
    try:
        source = load(path)
    except _core.Error as error:
        source, found[OPERATORS] = None, str(error)
        _report(OPERATORS, found[OPERATORS])
    for part, attempt in attempts.items():
        if source is None or part in without:
            continue
        _report(part, None)
        try:
            found[part] = attempt(source)
        except Exception as error:  # any exception: this part does not work
            found[part] = f"{type(error).__name__}: {error}"
        _report(part, found[part])
        if part == OPERATORS and found[part]:
            break
    return found


def main(attempts: Attempts, load: Callable[[str], object], prepare: Callable[[], None]) -> int:
    """Main function of the process; ``prepare`` imports the framework."""
    prepare()
    if len(sys.argv) > 1:
        request = {"library": sys.argv[1], "without": []}
    else:
        line = sys.stdin.readline()
        if not line.strip():
            return 0  # the parent has gone
        request = json.loads(line)
    found = try_parts(attempts, load, request["library"], request["without"])
    if found[OPERATORS]:
        print(f"Error: the adapter does not work: {found[OPERATORS]}")
    return 1 if found[OPERATORS] else 0
