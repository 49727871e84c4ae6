# SPDX-License-Identifier: Apache-2.0
"""A process that loads an adapter beside its framework and tests each part of it. A part that does not fit may crash.

The argument is the path of the LIBRARY. Without an argument the process imports the framework and then reads one line
from standard input: {"library": ..., "without": [part, ...]}. It prints a line of JSON before each part, {"part": ...,
"why": null}, and one after it, in which "why" is "" if the part works, otherwise the reason. Exit status 0 if operators
are recorded. The module of a framework (torch_self_test.py) has the tests.
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
