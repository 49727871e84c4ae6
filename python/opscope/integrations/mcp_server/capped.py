# SPDX-License-Identifier: Apache-2.0
"""Keeps an answer below the size that fits into the context of an agent.

Rows are taken from the end of the longest list, so that the JSON keeps its form. "truncated" and "left_out" are added:
``{"rows": [...], "truncated": true, "left_out": {"rows": 1200}}``.
"""

from __future__ import annotations

import itertools
import json
import re
from bisect import bisect_right
from typing import Any

MAX_BYTES = 100_000  # of UTF-8
_NOTE_BYTES = 100  # for "truncated" and the entry of a list in "left_out"


def cap(text: str, max_bytes: int = MAX_BYTES) -> str:
    """The JSON object `text`, unchanged if it is short enough. ValueError: it is too long without any row, too."""
    if len(text) <= max_bytes and len(text.encode()) <= max_bytes:
        return text
    document = json.loads(text)
    document["truncated"], document["left_out"] = True, {}
    excess = _size(document) - max_bytes
    while excess > 0:
        # "columns" names the values of each row, so it is never cut.
        lists = [key for key, value in document.items() if isinstance(value, list) and value and key != "columns"]
        if not lists:
            raise ValueError(f"the answer is longer than {max_bytes} bytes without any row: ask for fewer columns")
        key = max(lists, key=lambda name: _size(document[name]))
        ends = list(itertools.accumulate(_size(row) + 1 for row in document[key]))  # +1: the comma
        kept = bisect_right(ends, ends[-1] - excess - _NOTE_BYTES)
        document["left_out"][key] = len(ends) - kept
        document[key] = document[key][:kept]
        excess = _size(document) - max_bytes
    return _text(document)


def _size(value: Any) -> int:
    return len(_text(value).encode())


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A byte of a name that is not UTF-8 is a lone surrogate here, which UTF-8 cannot encode: it becomes an escape.
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
