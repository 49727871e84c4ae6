# SPDX-License-Identifier: Apache-2.0
"""Files that torch.profiler breaks by a quote in a name: every event but the broken ones is read."""

import collections
import json
import re

import pytest

pytestmark = pytest.mark.framework("torch")


def events_of(text):
    """The events of a file as torch lays it out, one by one: (offset, event or None where it is no JSON)."""
    events = []
    start = text.index(b'"traceEvents"')
    for match in re.finditer(rb"^  \{\n.*?^  \}", text[start:], re.M | re.S):
        try:
            event = json.loads(match.group())
        except ValueError:
            event = None
        events.append((start + match.start() + 2, event))
    return events


@pytest.mark.parametrize("with_stack", [False, True])
def test_a_quote_in_a_name_costs_its_events_alone(tmp_path, with_stack):
    import torch
    import torch.profiler

    import opscope

    names = ['ran"ge', "ok", 'the "fast" one', '"', "C:\\"]
    path = tmp_path / "trace.json"
    with torch.profiler.profile(with_stack=with_stack, record_shapes=True) as prof:
        for name in names:
            with torch.profiler.record_function(name):
                torch.ones(3) + 1
    prof.export_chrome_trace(str(path))
    events = events_of(path.read_bytes())
    broken = [offset for offset, event in events if event is None]
    whole = collections.Counter(event["name"] for _, event in events if event and event["ph"] == "X")
    assert whole["ok"] == 1

    trace = opscope.open(path)
    assert collections.Counter(trace.spans.text("name")) == whole
    problems = problems_of(trace)
    if broken:
        assert problems["faulty_event"] == (len(broken), broken[0])
    else:
        assert "faulty_event" not in problems


def problems_of(trace):
    rows = trace.problems
    return {
        kind: (count, offset)
        for kind, count, offset in zip(rows.text("kind"), rows["count"], rows["first_offset"], strict=True)
    }
