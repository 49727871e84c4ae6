# SPDX-License-Identifier: Apache-2.0
"""Which steps of a program are recorded, as the options of ``opscope run`` say."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Steps are numbered from 0; step 0 begins when the framework is imported."""

    folder: str  # of the files; "": nothing is recorded by a plan
    first: int = 0
    last: int | None = None  # None: to the end of the process
    every: int = 0  # of each so many steps ...
    count: int = 0  # ... the first so many; both 0: all
    seconds: float | None = None  # from the import on; None: no limit
    is_empty: bool = False  # nothing is recorded until a request comes

    @classmethod
    def read(cls, settings: str) -> Plan:
        """From the text in ``OPSCOPE_RUN``, which src/cli/run.cc writes."""
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
