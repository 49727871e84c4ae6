# SPDX-License-Identifier: Apache-2.0
"""The classes of ``megengine.utils.profile_analyzer``, which select rows of the output of ``get_profile()``.

    with open("profile.json") as file:
        analyzer = ProfileAnalyzer(json.load(file))
    slowest = analyzer.select(TimeFuncHelper.eval_time_func("device", "end", max), sort_by="time", top_k=5)

The command ``opscope analyze-megengine`` makes the common selections faster, and prints tables. Times are in seconds.
This module does not import MegEngine.
"""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["NonExistNum", "OprProfRst", "ProfileAnalyzer", "Record", "TimeFuncHelper"]

_COLUMNS = ("time", "info", "computation", "memory", "in_shapes", "in_layouts", "out_shapes", "flops", "bandwidth")


class NonExistNum:
    """Placeholder for an unknown number: printed as N/A, left out of sums, greater than every number.

    Two of them are neither greater nor less than each other (the original raises TypeError there).
    """

    def __truediv__(self, _):
        return self

    def __add__(self, other):
        return other

    __radd__ = __add__

    def __neg__(self):
        return self

    def __gt__(self, other):
        return not isinstance(other, NonExistNum)

    def __ge__(self, other):
        return True

    def __lt__(self, other):
        return False

    def __le__(self, other):
        return isinstance(other, NonExistNum)

    def __eq__(self, other):
        return self is other

    __hash__ = None

    def __format__(self, spec):
        return "N/A"

    def __repr__(self):
        return "N/A"


class OprProfRst:
    """An operator and its measurements.

    ``opr_info``: name, type, id. ``time_dict``: by "host" and "device", a list of {"start", "kern", "end", ...} in
    seconds. ``footprint``: memory, computation, in_shapes, ... (NonExistNum if not in the profile).
    """

    def __init__(self, entry: dict):
        assert isinstance(entry, dict), f"an operator is a dict, not {type(entry).__name__}"
        self.opr_info = OrderedDict((key, entry[key]) for key in ("name", "type", "id"))
        self.time_dict: dict[str, list[dict]] = defaultdict(list)
        self.footprint: dict[str, Any] = defaultdict(NonExistNum)

    def update_device_prof_info(self, dev_time: dict) -> None:
        """Adds the times of one device."""
        self._add("device", dev_time)

    def update_host_prof_info(self, host_time: dict) -> None:
        """Adds the times of one thread."""
        self._add("host", host_time)

    def update_footprint(self, footprint: dict) -> None:
        """Adds memory, computation, shapes."""
        assert isinstance(footprint, dict), f"a footprint is a dict, not {type(footprint).__name__}"
        self.footprint.update(footprint)

    def _add(self, place: str, times: dict) -> None:
        assert isinstance(times, dict), f"times are a dict, not {type(times).__name__}"
        self.time_dict[place].append(copy.deepcopy(times))


def _ratio(number, time):
    """Division as in IEEE 754: inf or nan for a time of 0, which is common with a CPU clock in whole microseconds."""
    if isinstance(number, NonExistNum) or time != 0:
        return number / time
    return float("nan") if number == 0 else float("inf") if number > 0 else float("-inf")


class Record:
    """A row of a result: an operator, or several that were aggregated.

    ``time`` in seconds, ``computation`` in operations, ``memory`` in bytes; ``flops`` and ``bandwidth`` per second.
    """

    def __init__(self, time: float, info: dict, footprint: dict):
        assert isinstance(footprint, dict), f"a footprint is a dict, not {type(footprint).__name__}"
        self.time = time
        self.info = OrderedDict(copy.deepcopy(info))
        self.computation = footprint["computation"] or NonExistNum()
        self.memory = footprint["memory"]
        self.in_shapes = footprint["in_shapes"]
        self.in_layouts = footprint.get("in_layouts")
        self.out_shapes = footprint["out_shapes"]
        self.flops = _ratio(self.computation, time)
        self.bandwidth = _ratio(self.memory, time)
        number = info.get("id")
        self.opr_id = int(number) if isinstance(number, str) and number != "N/A" else number

    def get_column_by_name(self, name: str | None = None):
        """The value of a column; None: ``time``. AttributeError: there is no such column."""
        name = name or "time"
        try:
            return getattr(self, name)
        except AttributeError:
            raise AttributeError(f"no column {name!r}: there are {', '.join((*_COLUMNS, 'opr_id'))}") from None


class ProfileAnalyzer:
    """The operators of a profile that pass a filter.

    ``obj``: the profile as ``json.load`` returns it. ``opr_filter``: called with an operator, its inputs and its
    outputs, as in the profile.
    """

    def __init__(self, obj: dict, opr_filter: Callable[..., bool] = lambda opr, inp, out: True):
        assert isinstance(obj, dict), f"a profile is a dict, not {type(obj).__name__}"
        variables, profiler = obj["graph_exec"]["var"], obj["profiler"]
        self._opr_set: dict[str, OprProfRst] = {}
        for number, entry in obj["graph_exec"]["operator"].items():
            inputs = [variables[i] for i in entry["input"]]
            if opr_filter(entry, inputs, [variables[i] for i in entry["output"]]):
                self._opr_set[number] = OprProfRst(entry)
        for opr, entry in self._known(profiler["device"]):
            for times in entry.values():
                opr.update_device_prof_info(times)
        for opr, entry in self._known(profiler["host"]):
            for times in entry.values():
                opr.update_host_prof_info(times)
        for opr, entry in self._known(profiler.get("opr_footprint", {})):
            opr.update_footprint(entry)

    def _known(self, entries: dict):
        return ((self._opr_set[number], entry) for number, entry in entries.items() if number in self._opr_set)

    def select(
        self,
        time_func: Callable[[OprProfRst], float | None],
        opr_filter: Callable[[OprProfRst], bool] = lambda opr: True,
        aggregate: str | Callable | None = None,
        aggregate_by: str | None = None,
        sort_by: str | None = None,
        top_k: int = 0,
    ) -> list[Record]:
        """Rows of the operators that have a time, aggregated, sorted, and cut to ``top_k`` (0: all).

        ``aggregate``: a function of a list, or the name of a NumPy function; ``aggregate_by``: "type", or None for one
        row. ``sort_by``: a column, in descending order, or ascending with "+" before it. Unknown values come last.
        """
        timed = ((opr, time_func(opr)) for opr in self._opr_set.values() if opr_filter(opr))
        records = [Record(time, opr.opr_info, opr.footprint) for opr, time in timed if time is not None]
        records = _aggregated(records, aggregate, aggregate_by)
        if sort_by is not None:
            sign, column = (1, sort_by[1:]) if sort_by.startswith("+") else (-1, sort_by)
            records.sort(key=lambda record: _signed(record.get_column_by_name(column), sign))
        return records[:top_k] if top_k else records


def _signed(value, sign):
    return value if sign > 0 else -value


def _aggregated(records: list[Record], function: str | Callable | None, by: str | None) -> list[Record]:
    if function is None:
        assert by is None, "must specify aggregate op"
        return records
    if isinstance(function, str):
        import numpy  # not before: a profile is read without it

        function = getattr(numpy, function)
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.info["type"] if by == "type" else "all", []).append(record)
    return [
        Record(
            function([each.time for each in group]),
            {"type": name, "count": len(group), "id": "N/A"},
            {
                "computation": function([each.computation for each in group]),
                "memory": function([each.memory for each in group]),
                "in_shapes": None,
                "out_shapes": None,
            },
        )
        for name, group in groups.items()
    ]


class TimeFuncHelper:
    """Functions for ``ProfileAnalyzer.select``, from an operator to one of its times in seconds; None if it has none.

    ``prof_type``: "host" or "device". ``end_key``: "kern" or "end".
    """

    @staticmethod
    def eval_time_func(prof_type: str, end_key: str, func: Callable[[list[float]], float]):
        """``func`` of the durations on all devices or threads."""
        return partial(_evaluated, prof_type, lambda each: each[end_key] - each["start"], func)

    @staticmethod
    def min_start_func(prof_type: str, end_key: str, func: Callable):
        """Its first start; the other two arguments have no effect, as in the original."""
        return partial(_evaluated, prof_type, lambda each: each["start"], min)

    @staticmethod
    def max_end_func(prof_type: str, end_key: str, func: Callable):
        """Its last end; the other two arguments have no effect, as in the original."""
        return partial(_evaluated, prof_type, lambda each: each["end"], max)


def _evaluated(place: str, value: Callable[[dict], float], function: Callable, opr: OprProfRst) -> float | None:
    return function([value(each) for each in opr.time_dict[place]]) if place in opr.time_dict else None
