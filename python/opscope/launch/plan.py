# SPDX-License-Identifier: Apache-2.0
"""The plan of ``opscope run``: which steps of a program are recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Steps are numbered from 0; step 0 begins when the framework is imported."""

    folder: str  # for the files; "": the plan records nothing
    first: int = 0
    last: int | None = None  # None: to the end of the process
    every: int = 0  # in each group of `every` steps ...
    count: int = 0  # ... the first `count` are recorded; both 0: all
    seconds: float | None = None  # since the import; None: no limit
    is_empty: bool = False  # records nothing until a request comes

    @classmethod
    def read(cls, settings: str) -> Plan:
        """Parses the text of ``OPSCOPE_RUN``, which src/cli/run.cc writes."""
        given = json.loads(settings)
        is_on_demand = given.get("on_demand", False)
        return cls(
            folder=given["dir"],
            first=given.get("first", 0),
            last=given.get("last"),
            every=given.get("every", 0),
            count=given.get("for", 0),
            seconds=given.get("seconds"),
            is_empty=is_on_demand and not given.keys() & {"first", "every", "seconds"},
        )

    def window(self, step: int) -> int | None:
        """The number of the window that has this step, from 0; None: the step is not recorded."""
        if self.is_empty:
            return None
        if self.every:
            return step // self.every if step % self.every < self.count else None
        return 0 if self.first <= step and (self.last is None or step <= self.last) else None
