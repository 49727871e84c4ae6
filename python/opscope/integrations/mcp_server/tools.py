# SPDX-License-Identifier: Apache-2.0
"""The tools of the server: one for each verb that answers a question about a trace.

The signature and the docstring of a function below are the tool: its typed arguments are options of the verb, and the
docstring is the description that an agent reads. `make_server` (server.py) puts the answer of the verb behind them.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

_FIELDS = (
    "name, category, kind, overload, thread, process, duration, start, depth, sequence, step, rank, device, correlation"
)

File = Annotated[int | str, Field(description="An opened file: its name or its index. 0 is the first.")]
Where = Annotated[
    str | None,
    Field(description=f'Only spans for which this holds: "name ~ conv and duration > 10us". Fields: {_FIELDS}.'),
]
Steps = Annotated[int | str | None, Field(description='Only spans that begin in these steps: "3", "3..7", "3..".')]
Time = Annotated[
    str | None, Field(description='Only spans that begin then, after the first one: "10ms..20ms", "1s..".')
]
Sort = Annotated[str | None, Field(description="The field of the rows to sort by, such as self_ns.")]
Limit = Annotated[int | None, Field(ge=1, description="At most so many rows; default: all that fit.")]
Explain = Annotated[bool, Field(description='Adds "explain": which spans the answer used, clocks, overhead.')]
GroupKey = Literal[
    "name", "shape", "category", "thread", "device", "stack", "module", "kind", "process", "rank", "step"
]
Seconds = Annotated[float, Field(gt=0, le=60, description="The query stops after so many seconds.")]

TOOLS: dict[str, Callable[..., Any]] = {}


def tool(function: Callable[..., Any]) -> Callable[..., Any]:
    TOOLS[function.__name__] = function
    return function


# fmt: off
@tool
def summary(file: File = 0, group_by: list[GroupKey] | None = None, corrected: bool = False, where: Where = None,
            steps: Steps = None, time: Time = None, sort: Sort = None, limit: Limit = None, explain: Explain = False):
    """The operator table: for each name the number of spans, total, self, mean, p50 and p99 time, memory and FLOPs.
    Largest total first. `group_by` splits the rows further, `corrected` takes off what recording took."""


@tool
def steps(file: File = 0, where: Where = None, steps: Steps = None, time: Time = None, sort: Sort = None,
          limit: Limit = None, explain: Explain = False):
    """How long each training step was, and how much of it was computation, communication, copies, waiting for input,
    host code, other ranges and idle. "summary" has the statistics of all steps."""


@tool
def devices(file: File = 0, kernels: bool = False, copies: bool = False, where: Where = None, steps: Steps = None,
            time: Time = None, sort: Sort = None, limit: Limit = None, explain: Explain = False):
    """How busy each device and stream was and why it was idle, its kernels and its copies. `sort` and `limit` are of
    the list "rows"; with `kernels` of "kernels", with `copies` of "copies". No rows: the trace has no device."""


@tool
def memory(file: File = 0, by_step: bool = False, where: Where = None, steps: Steps = None, time: Time = None,
           sort: Sort = None, limit: Limit = None, explain: Explain = False):
    """How much memory was allocated on each device (the host is one too), its peak, and which operators hold it there.
    `sort` and `limit` are of the list "rows"; with `by_step` of "steps". No rows: memory was not recorded."""


@tool
def critical_path(file: File = 0, where: Where = None, steps: Steps = None, time: Time = None, sort: Sort = None,
                  limit: Limit = None, explain: Explain = False):
    """The chain of host code, launches, device work and waits that determined how long the run took: "paths" has the
    parts of its length, "rows" its edges in order of time. `sort="duration_ns"` puts the longest edges first."""


@tool
def diff(file: File = 0, other: File = 1, by: Literal["name", "shape", "kernel", "module", "step"] = "name",
         where: Where = None, steps: Steps = None, time: Time = None, sort: Sort = None, limit: Limit = None,
         explain: Explain = False):
    """What became slower or faster from `file` (A) to `other` (B), and whether that is more than chance. "status" of a
    row: new, vanished, slower, faster, matched. The largest difference first. Needs two opened files."""


@tool
def advise(file: File = 0, where: Where = None, steps: Steps = None, time: Time = None, sort: Sort = None,
           limit: Limit = None, explain: Explain = False):
    """What slows the program down and what to do about it, with the estimated saving per step and the time ranges that
    show it. Ask this first. No rows: nothing was found."""


@tool
def roofline(file: File = 0, peak_flops: Annotated[float | None, Field(ge=1)] = None,
             peak_bandwidth: Annotated[float | None, Field(ge=1)] = None, where: Where = None, steps: Steps = None,
             time: Time = None, sort: Sort = None, limit: Limit = None, explain: Explain = False):
    """FLOPs, bytes and rates of operators by input shapes, against the peaks of the machine (operations and bytes per
    second; default: those of the trace's device, if opscope knows it). Needs a trace with recorded shapes."""


@tool
def query(sql: Annotated[str, Field(min_length=1, max_length=100_000)], file: File = 0,
          limit: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000_000, max_seconds: Seconds = 60):
    """One SQL statement that reads (DuckDB's dialect) over the tables of the trace: spans, tracks, steps, launches,
    allocations, ... The resource opscope://tables describes them. Times are nanoseconds. "rows" are lists of the values
    of "columns"; sum and LIMIT in SQL rather than reading all rows. It reaches no file, no network and no setting."""
# fmt: on
