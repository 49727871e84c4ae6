# SPDX-License-Identifier: Apache-2.0
"""The call tree of a page against a plain pass over the spans of the trace."""

import collections
import random

from conftest import chrome_json, complete_event
from page_data import columns, read_page

import opscope


def nested(generator, begin, end, tid, depth):
    """Random events in [begin, end), each inside the one around it."""
    at = begin
    while end - at >= 2:
        length = generator.randint(1, end - at - 1)
        yield complete_event(f"op{generator.randint(0, 3)}", at, length, tid=tid)
        if depth > 0:
            yield from nested(generator, at, at + length, tid, depth - 1)
        at += length + generator.randint(0, 20)


def plain_tree(trace):
    """{path of names: [count, total, self]} of the nested spans; the steps have one name."""
    paths, open_spans = collections.defaultdict(lambda: [0, 0, 0]), {}
    for span in trace.spans:
        name = "ProfilerStep*" if span["name"].startswith("ProfilerStep#") else span["name"]
        around = open_spans.setdefault(span["track"], [])
        del around[span["depth"] :]
        around.append(name)
        path = tuple(around)
        node = paths[path]
        node[0] += 1
        node[1] += span["duration"]
        node[2] += span["duration"]
        if len(path) > 1:
            paths[path[:-1]][2] -= span["duration"]
    return dict(paths)


def page_tree(data):
    (tree,) = [tree for tree in data["trees"] if tree["metric"] == "time"]
    rows = columns(tree, "name", "parent", "count", "total", "self")
    paths = [()]
    for name, parent, *_ in rows[1:]:
        paths.append((*paths[parent], data["strings"][name]))
    assert tree["folded"] == 0 and len(set(paths)) == len(paths)
    return {path: list(row[2:]) for path, row in zip(paths[1:], rows[1:], strict=True)}, rows[0]


def test_a_node_has_the_spans_of_one_path_of_names_and_all_steps_are_one_node(tmp_path):
    generator = random.Random(3)
    events = []
    for step in range(8):
        begin = 1000 * step
        events.append(complete_event(f"ProfilerStep#{step}", begin, 990, tid=1, cat="user_annotation"))
        events += nested(generator, begin, begin + 990, 1, 3)
        events += nested(generator, begin, begin + 990, 2, 2)
    path = tmp_path / "run.json"
    path.write_bytes(chrome_json(*events))
    trace = opscope.open(path)
    trace.report(tmp_path / "run.html")
    shown, root = page_tree(read_page(tmp_path / "run.html"))
    assert shown == plain_tree(trace) and shown[("ProfilerStep*",)][0] == 8
    assert root[3] == sum(node[1] for path, node in shown.items() if len(path) == 1)
