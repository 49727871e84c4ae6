# SPDX-License-Identifier: Apache-2.0
"""300 names that want to be more than text, and a trace with each of them in every field that can hold a text."""

import json

MARKS = [
    "</script><script>window.hostile=1</script>",
    "<script>window.hostile=1</script>",
    "</title><svg onload=window.hostile=1>",
    "<img src=x onerror=window.hostile=1>",
    "<svg onload=window.hostile=1>",
    "<svg><a xlink:href='javascript:window.hostile=1'>",
    "<iframe srcdoc='<script>window.hostile=1</script>'>",
    *("<object data=x>", "<base href=//x.example>", "<meta http-equiv=refresh>"),
    *('" onmouseover="window.hostile=1', "' autofocus onfocus='window.hostile=1", '"><b>bold</b>'),
    *("`onload=1", "&quot;onload=1", "&#34;>"),
    *(
        "<!--",
        "<!--<script>",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?x?>",
        "{{7*7}}",
        "${window.hostile=1}",
        "`${1}`",
        "<%= 1 %>",
        "#{1}",
    ),
    *("javascript:window.hostile=1", "data:text/html,<script>window.hostile=1</script>"),
    *("//x.example/y", "https://x.example/y"),
    *(
        "\u2028",
        "\u2029",
        "\u202e",
        "\u2066",
        "\u200f",
        "\u061c",
        "\ufeff",
        "\x00",
        "\x1b[31m",
        "\x7f",
        "\x85",
        "\t",
        "\r\n",
    ),
    *("=SUM(A1)", "+1", "-1", "@x", "'x", "\uff1dSUM(A1)", "=cmd|' /C calc'!A0", '",=1', "\t=1"),
    *(
        "&lt;b&gt;",
        "<b>",
        "__proto__",
        "constructor",
        "toString",
        "",
        " ",
        "\\",
        "\\u003c",
        "%00",
        "%3Cb%3E",
        "NaN",
        "undefined",
    ),
    *("\U0001f600", "\u0301", "a" * 3000, "<" * 700, "\U0010ffff", "\ue000<i>"),
]
SHAPES = ("{}", "x{}", "{}x", "x {} y", "{0}{0}")


def hostile_names():
    return list(dict.fromkeys(shape.format(mark) for shape in SHAPES for mark in MARKS))[:300]


LONE = '"<b>\\ud800\\udfff\\udc00</b>"'  # halves of surrogate pairs, as JSON escapes
INVALID = b'"<i>\xff\xc3(\xed\xa0\x80\xf5</i>"'  # no UTF-8


def events_of(name, at):
    """Events around 100 * `at` us with the name in every field."""
    start, pid, tid = 100 * at, name, name
    base = {"pid": pid, "tid": tid, "cat": name}
    arguments = {name: name, "k": name, "nested": {name: [name]}, "Call stack": name}
    arguments |= {"Input type": [name], "Ev Idx": name}
    kernel = {"device": name, "stream": name, "correlation": at + 1, "External id": at + 1, name: name}
    python = {"Python id": at + 1, "Python parent id": None, "Python module id": at, "Call stack": f"{name};{name}"}
    yield {"ph": "X", "name": name, "ts": start, "dur": 90, "args": arguments, **base}
    yield {
        "ph": "X",
        "name": f"nn.Module: {name}_0",
        "ts": start,
        "dur": 80,
        "args": python,
        **base,
        "cat": "python_function",
    }
    yield {
        "ph": "X",
        "name": "cudaLaunchKernel",
        "ts": start + 1,
        "dur": 5,
        **base,
        "cat": "cuda_runtime",
        "args": {"correlation": at + 1},
    }
    yield {
        "ph": "X",
        "name": name,
        "ts": start + 10,
        "dur": 5,
        "pid": at % 3,
        "tid": 7,
        "cat": "kernel",
        "args": kernel,
    }
    yield {"ph": "C", "name": name, "ts": start, "pid": pid, "args": {name: at, "v": name}}
    yield {"ph": "s", "id": name, "name": name, "ts": start, **base}
    yield {"ph": "f", "id": name, "name": name, "ts": start + 12, "bp": "e", **base}
    yield {"ph": "b", "id": name, "name": name, "ts": start, **base}
    yield {"ph": "e", "id": name, "name": name, "ts": start + 9, **base}
    yield {"ph": "i", "s": "t", "name": name, "ts": start, **base}
    yield {"ph": name, "name": name, "ts": name, **base}
    for kind in ("process_name", "thread_name", "process_labels", name):
        yield {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name, "labels": name, name: name}}
    memory = {"Total Allocated": 64 * (at + 1), "Bytes": 64, "Addr": 16 * at, "Device Type": 0, "Device Id": -1}
    yield {
        "ph": "i",
        "s": "t",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "ts": start + 2,
        "pid": pid,
        "tid": tid,
        "args": memory,
    }


def hostile_json():
    """A Chrome trace as bytes. Beside the 300 names there are one of 1 MiB, one with lone surrogates, and one that is
    no UTF-8.
    """
    names, long = hostile_names(), "<b>" + "y" * (1 << 20)
    events = [event for at, name in enumerate(names) for event in events_of(name, at)]
    events += list(events_of(long, 300))[:1]
    events += [
        {
            "ph": "X",
            "pid": "p",
            "tid": "t",
            "name": f"ProfilerStep#{i}",
            "cat": "user_annotation",
            "ts": 6000 * i,
            "dur": 5900,
        }
        for i in range(5)
    ]
    text = json.dumps(
        {
            "traceEvents": events,
            "deviceProperties": [{"id": i, "name": names[i]} for i in range(3)],
            "distributedInfo": {"backend": names[0], "rank": 0, "world_size": 1, names[1]: names[1]},
            **{name: name for name in names[:20]},
        }
    ).encode()
    for number, raw in enumerate((LONE.encode(), INVALID)):
        template = json.dumps(list(events_of("RAW", 400 + number))).encode()[1:-1].replace(b'"RAW"', raw)
        text = text.replace(b'"traceEvents": [', b'"traceEvents": [' + template + b", ", 1)
    return text
