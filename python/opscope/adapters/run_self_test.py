# SPDX-License-Identifier: Apache-2.0
"""Tests an adapter before its first use, in a separate process, because a library that does not match may crash."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ..log import log_message
from .build import Recipe, compile_library
from .child import Child, ending, environment, interpreter
from .compiler import Compiler
from .errors import CompilationFailed, NothingTested
from .parts import CRASHED, OPERATORS, Parts, is_compiled_out, lacks, parse_parts, part_of

SELF_TEST_LIMIT_S = 180.0


class SelfTest:
    """A self-test process (adapters/self_test.py), which is started before the library is compiled, so that it imports
    the framework meanwhile. A context manager, which ends the process.
    """

    def __init__(self, parts: Parts, what: str, place: Path, self_test: str) -> None:
        self._parts, self._what, self._place, self._module = parts, what, place, self_test
        self._process = self._start()

    def _start(self) -> Child | None:
        python = interpreter()
        if python is None:
            return None
        command = [python, "-m", self._module]
        return Child(command, self._place / "self-test.log", f"testing {self._what}", environment(), listens=True)

    def __enter__(self) -> SelfTest:
        return self

    def __exit__(self, *error) -> None:
        if self._process is not None:
            self._process.end()

    @staticmethod
    def _wait_for_results(process: Child) -> tuple[dict[str, str | None], int | None, CompilationFailed]:
        """The printed result of each part, the exit status (None: it took too long), and the exception to raise if that
        is a failure. NothingTested: no result was printed.
        """
        try:
            status = process.wait(SELF_TEST_LIMIT_S)
            failure = process.failure(status)
        except CompilationFailed as error:
            status, failure = None, error
        found = parse_parts(process.output())
        if not found:
            raise NothingTested(str(failure)) from failure
        return found, status, failure

    def test_parts(self, library: Path, without: Iterable[str] = ()) -> dict[str, str] | None:
        """Part -> why it does not work, for each part of the library; None if it cannot run here.

        CompilationFailed if operators are not recorded, NothingTested if the framework cannot be imported. After a
        crash in one part, or where one does not end, the others are tested in a new process.
        """
        if self._process is None:
            _warn_untested(self._what)
            return None
        began = time.monotonic()
        crashed: dict[str, str] = {}
        while True:
            self._process.write_line(json.dumps({"library": str(library), "without": sorted({*without, *crashed})}))
            found, status, failure = self._wait_for_results(self._process)
            broken = next((name for name, why in found.items() if why is None), OPERATORS)
            if broken == OPERATORS:
                if found.get(OPERATORS) != "" or status is None:
                    raise failure
                break
            crashed[broken] = CRASHED + ("no result" if status is None else ending(status))
            self._process.end()
            self._process = self._start()
        found |= crashed
        for name in (name for name, why in found.items() if why and not is_compiled_out(self._parts, name)):
            log_message("warn", f"{self._what} goes without {lacks(self._parts, name)}: {found[name]}")
        log_message("info", f"tested {self._what} in {time.monotonic() - began:.1f} s")
        return found


def build_in_parts(
    parts: Parts, recipe_without: Callable[[Iterable[str]], Recipe], compiler: Compiler, place: Path, self_test: str
) -> tuple[Path, dict[str, str] | None]:
    """Compiles and tests an adapter in `place`; returns the library, and part -> why it was left out ("": it works).

    ``recipe_without``: sources and flags without some parts. ``self_test``: the test's module. A part that does not
    compile or work is left out; CompilationFailed has the first error in the rest.
    """
    missing: dict[str, str] = {}
    while True:
        recipe = recipe_without(missing)
        # Importing the framework takes about as long as compiling a unit, so the self-test does it at the same time.
        with SelfTest(parts, recipe.what, place, self_test) as test:
            try:
                library = compile_library(recipe, compiler, place)
                found = test.test_parts(library, missing)
                unfit = {name: why for name, why in (found or {}).items() if why and is_compiled_out(parts, name)}
            except CompilationFailed as error:
                part = part_of(parts, getattr(error, "output", ""))
                if not part or part in missing:
                    raise CompilationFailed(f"{error}; {recipe.advice}") from error
                unfit = {part: str(error)}
        unfit = {name: why for name, why in unfit.items() if name not in missing}
        if not unfit:
            return library, None if found is None else found | missing
        # What crashes in the self-test would crash in the user's process, too: it is compiled out.
        for name, why in unfit.items():
            log_message("warn", f"{recipe.what} goes without {lacks(parts, name)}: {why}")
        missing |= unfit


def try_library(parts: Parts, what: str, library: Path, place: Path, self_test: str) -> dict[str, str] | None:
    """Self-test of a finished library; part -> why it does not work. None if it cannot run here."""
    log_message("warn", f"testing {what}, once")
    with SelfTest(parts, what, place, self_test) as test:
        return test.test_parts(library)


def test_library(what: str, library: Path, place: Path, module: str) -> None:
    """Runs the test module on the library in a separate process, because a library that does not match may crash."""
    python = interpreter()
    if python is None:
        return _warn_untested(what)
    began = time.monotonic()
    command = [python, "-m", module, str(library)]
    with Child(command, place / "self-test.log", f"testing {what}", environment()) as test:
        status = test.wait(SELF_TEST_LIMIT_S)
        if status != 0:
            raise test.failure(status)
    log_message("info", f"tested {what} in {time.monotonic() - began:.1f} s")


def _warn_untested(what: str) -> None:
    log_message("warn", f"{what} was not tested: this program embeds Python and has no interpreter beside it")
