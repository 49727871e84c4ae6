# SPDX-License-Identifier: Apache-2.0
"""Reads the arguments of ``@pytest.mark.opscope(...)``. A wrong argument fails the test with one line."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from opscope.integrations.pytest_fixture import OPTIONS, flag_error

__all__ = ["ABSOLUTE", "RELATIVE", "read_markers"]

ABSOLUTE, RELATIVE = ("max", "min"), ("max_increase", "max_decrease")  # limits; the latter need a baseline


def read_markers(markers: list[pytest.Mark]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Options of the recording, and the limits as `Trace.check` takes them. If several markers have an argument, that
    of the marker closest to the test wins.
    """
    options, limits = {}, {}
    for marker in reversed(markers):  # pytest lists the closest one first
        if marker.args:
            _fail(f"the marker takes names, such as max_increase=..., not {marker.args[0]!r}")
        for name, value in marker.kwargs.items():
            if name in OPTIONS:
                options[name] = value
            elif name not in ABSOLUTE + RELATIVE:
                known = ", ".join(ABSOLUTE + RELATIVE + OPTIONS)
                _fail(f"the marker has no argument {name}; known: {known}")
            elif not isinstance(value, dict):
                _fail(f'{name} is a dict such as {{"step_p50_ns": 5}}, not {value!r}')
            else:
                for metric, number in value.items():
                    limits.setdefault(metric, {})[name] = number
    wrong = flag_error(options)
    if wrong:
        _fail(wrong)
    return options, limits


def _fail(message: str) -> NoReturn:
    pytest.fail(f"opscope: {message}", pytrace=False)
