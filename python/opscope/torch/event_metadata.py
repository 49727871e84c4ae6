# SPDX-License-Identifier: Apache-2.0
"""``FunctionEvent.event_metadata``: typed metadata of a kernel, a copy or a collective."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .features import has

_FIELDS = [
    ("registers_per_thread", int | None),
    ("shared_memory", int | None),
    ("grid", list[int] | None),
    ("block", list[int] | None),
    ("priority", int | None),
    ("blocks_per_sm", float | None),
    ("warps_per_sm", float | None),
    *(
        [("occupancy", dict[str, Any] | None), ("est_occupancy_pct", float | None)]
        if has("EventMetadata.est_occupancy_pct")
        else [("occupancy", float | None)]
    ),
    ("queued", int | None),
    ("graph_id", int | None),
    ("graph_node_id", int | None),
    ("stream", int | None),
    ("context", int | None),
    *([("channel", int | None), ("channel_type", int | None)] if has("EventMetadata.channel") else []),
    *([("hsa_queue", int | None)] if has("EventMetadata.hsa_queue") else []),
    ("bytes", int | None),
    ("bandwidth_gb_s", float | None),
    ("collective_name", str | None),
    ("dtype", str | None),
    ("in_msg_nelems", int | None),
    ("out_msg_nelems", int | None),
    ("in_split_size", str | None),
    ("out_split_size", str | None),
    ("global_rank_start", int | None),
    ("global_rank_stride", int | None),
    ("group_size", int | None),
    ("process_group_name", str | None),
    ("process_group_desc", str | None),
    ("group_ranks", str | None),
    ("rank", int | None),
    ("src_rank", int | None),
    ("dst_rank", int | None),
    ("seq", int | None),
    ("is_async", bool | None),
]
EventMetadata = NamedTuple("EventMetadata", _FIELDS)
EventMetadata.__doc__ = "None stands for what the trace does not say."


def _list_or_dict(value):
    return json.loads(value) if isinstance(value, str) else value


def _text(value) -> str:
    return value.strip('"') if isinstance(value, str) else json.dumps(value)


def _truth(value) -> bool:
    return value in ("1", "true", 1, True)


# Name in Kineto's JSON -> field, conversion. Names that equal the field's with spaces are not listed.
_NAMES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "grid": ("grid", _list_or_dict),
    "block": ("block", _list_or_dict),
    "occupancy": ("occupancy", _list_or_dict),
    "blocks per SM": ("blocks_per_sm", float),
    "warps per SM": ("warps_per_sm", float),
    "est. achieved occupancy %": ("est_occupancy_pct", float),
    "memory bandwidth (GB/s)": ("bandwidth_gb_s", float),
    **({"channel_type": ("channel_type", int)} if "channel_type" in EventMetadata._fields else {}),
    "Collective name": ("collective_name", _text),
    "dtype": ("dtype", _text),
    "In msg nelems": ("in_msg_nelems", int),
    "Out msg nelems": ("out_msg_nelems", int),
    "In split size": ("in_split_size", _text),
    "Out split size": ("out_split_size", _text),
    "Global rank start": ("global_rank_start", int),
    "Global rank stride": ("global_rank_stride", int),
    "Group size": ("group_size", int),
    "Process Group Name": ("process_group_name", _text),
    "Process Group Description": ("process_group_desc", _text),
    "Process Group Ranks": ("group_ranks", _text),
    "Rank": ("rank", int),
    "Src Rank": ("src_rank", int),
    "Dst Rank": ("dst_rank", int),
    "Seq": ("seq", int),
    "Is asynchronized op": ("is_async", _truth),
}
if "est_occupancy_pct" not in EventMetadata._fields:
    del _NAMES["occupancy"]
    _NAMES["est. achieved occupancy %"] = ("occupancy", float)
for _field in EventMetadata._fields[: EventMetadata._fields.index("bytes") + 1]:
    if not any(field == _field for field, _ in _NAMES.values()):
        _NAMES[_field if _field == "hsa_queue" else _field.replace("_", " ")] = (_field, int)


def read_event_metadata(members: Mapping[str, Any]) -> EventMetadata | None:
    """The known members that have a value; None if no member has one."""
    valued = {name: value for name, value in members.items() if name in _NAMES and value is not None}
    known = {_NAMES[name][0]: _NAMES[name][1](value) for name, value in valued.items()}
    return EventMetadata(**(dict.fromkeys(EventMetadata._fields) | known)) if known else None
