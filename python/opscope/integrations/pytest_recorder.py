# SPDX-License-Identifier: Apache-2.0
"""The hooks of ``pytest --opscope``: record a test's call, compare it with its baseline, store new baselines."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import opscope
from opscope.integrations.pytest_fixture import RecordedTest
from opscope.integrations.pytest_marker import RELATIVE, read_markers

__all__ = ["RECORDED", "MissingBaselineWarning", "Recorder"]

RECORDED = pytest.StashKey[RecordedTest]()  # what the fixture of an item records
_FILE = pytest.StashKey[str]()


class MissingBaselineWarning(pytest.PytestWarning):
    """A test has limits that are relative to its baseline, and no baseline is stored."""


class Recorder:
    """A plug-in object, one for each process. A file belongs to one test, so workers of pytest-xdist share none."""

    def __init__(self, config: pytest.Config):
        self._config = config
        self._updates = config.getoption("opscope_update")
        chosen = config.getoption("opscope_baselines")
        # A relative folder is below the one in which pytest was called: a test may change the working directory.
        self._baselines = config.invocation_params.dir / chosen if chosen else config.rootpath / ".opscope-baselines"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            item.stash[_FILE] = file_of(item.nodeid)  # pytest-xdist appends its groups to the ids afterwards

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        markers, recorded = list(item.iter_markers("opscope")), item.stash.get(RECORDED, None)
        if not markers and recorded is None:
            return (yield)
        options, limits = read_markers(markers)
        if recorded is None:
            with RecordedTest(True, **options) as recorded:
                result = yield
        else:
            recorded.options = {**options, **recorded.options}
            result = yield
        self._finish(item, recorded, limits)
        return result

    def _finish(self, item: pytest.Item, recorded: RecordedTest, limits: dict[str, dict[str, Any]]) -> None:
        trace = recorded.trace
        if trace is None:
            if limits:
                pytest.fail("opscope: the test has limits, and it entered no `with opscope_profile:`", pytrace=False)
            return
        name = item.stash[_FILE]
        baseline = self._baselines / name
        is_relative = any(kind in RELATIVE for kinds in limits.values() for kind in kinds)
        is_missing = is_relative and not self._updates and not baseline.exists()
        against = None if not is_relative else trace if self._updates or is_missing else baseline
        recording = self._save(trace, name)
        item.user_properties.append(("opscope_recording", self._shown(recording) if recording else "not kept"))
        lines = _crossed(trace, limits, against)
        if lines:
            files = {"baseline": baseline if against is baseline else None, "recording": recording}
            lines += [f"{what}: {self._shown(path)}" for what, path in files.items() if path is not None]
            pytest.fail("\n".join(lines), pytrace=False)
        if self._updates and is_relative:
            if why_not := _write(trace, baseline):
                pytest.fail(f"opscope: the baseline cannot be written: {why_not}", pytrace=False)
            item.user_properties.append(("opscope_baseline", "written"))
        elif is_missing:
            item.user_properties.append(("opscope_baseline", "missing"))
            item.warn(MissingBaselineWarning(f"no baseline {self._shown(baseline)}: pytest --opscope-update writes it"))

    def _save(self, trace: opscope.Trace, name: str) -> Path | None:
        """The recording goes into pytest's cache folder, if it has one that can be written."""
        cache = getattr(self._config, "cache", None)
        if cache is None:
            return None
        try:
            path = cache.mkdir("opscope") / name
        except OSError:
            return None
        return None if _write(trace, path) else path

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self._config.invocation_params.dir)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        calls = [each for reports in terminalreporter.stats.values() for each in reports if _is_call(each)]
        found = [tuple(each) for report in calls for each in report.user_properties]
        recorded = sum(name == "opscope_recording" for name, _ in found)
        if not recorded:
            return
        counts = {state: found.count(("opscope_baseline", state)) for state in ("written", "missing")}
        texts = [f"{counts['written']} baselines written to {self._shown(self._baselines)}"] * bool(counts["written"])
        texts += [f"{counts['missing']} without a baseline (--opscope-update)"] * bool(counts["missing"])
        terminalreporter.write_line(", ".join([f"opscope: {recorded} tests recorded", *texts]))


def _write(trace: opscope.Trace, path: Path) -> str | None:
    """Why a recording cannot be written, with the path; None if it is."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        trace.save(path)
    except (opscope.Error, OSError) as error:
        return str(error)
    return None


def _crossed(trace: opscope.Trace, limits: dict[str, dict], baseline: opscope.Trace | Path | None) -> list[str]:
    """A line for each limit that is crossed; one line for a wrong limit, or a baseline that cannot be read."""
    try:
        return [f"opscope: {message}" for message in trace.check(limits, baseline=baseline).crossed] if limits else []
    except (opscope.Error, TypeError, OSError) as error:
        return [f"opscope: {error}"]


def _is_call(report: Any) -> bool:
    return getattr(report, "when", None) == "call"


def file_of(nodeid: str) -> str:
    """The name of a test's file: readable, safe on every file system, and another one for each test."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", nodeid).strip("._")[:100]
    return f"{readable}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}.opscope"
