# SPDX-License-Identifier: Apache-2.0
"""Reads the data of a page (docs/reference/web_data.md), in the plainest way."""

import base64
import json
import re
import zlib

ELEMENT = re.compile(
    r'<script type="application/json" id="opscope-data" data-schema="opscope.web/1">([^<]*)</script>', re.S
)


def column(written):
    """The integers of a column."""
    values, value, shift, before = [], 0, 0, 0
    for byte in zlib.decompress(base64.b64decode(written["z"])) if written["n"] else b"":
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte >= 0x80:
            continue
        number = (value >> 1) ^ -(value & 1)
        if written["d"]:
            number = before = (before + number + 2**63) % 2**64 - 2**63
        values.append(number)
        value = shift = 0
    assert len(values) == written["n"]
    return values


def data_text(page):
    (text,) = ELEMENT.findall(page)
    return text


def read_page(path):
    with open(path, encoding="utf-8", newline="") as file:
        return json.loads(data_text(file.read()))


def page_of(trace, folder, **options):
    """The data of the page that the trace's report is."""
    page = folder / "page.html"
    trace.report(page, **options)
    return read_page(page)


def columns(object_, *keys):
    return list(zip(*(column(object_[key]) for key in keys), strict=True))


def rows(data, name):
    """A table as a list of dicts, as `opscope VERB --json` has it."""
    table = data["tables"][name]
    result = []
    for row in zip(*table["values"], strict=True):
        record = {}
        for described, value in zip(table["columns"], row, strict=True):
            if described["unit"] == "text":
                value = None if value == -1 else data["strings"][value]
            elif isinstance(value, str):
                value = int(value)
            record[described["key"]] = value
        result.append(record)
    return result


def arguments(data):
    """By kept span: its arguments, each once."""
    texts, shown = data["strings"], [{} for _ in range(data["timeline"]["kept"]["start"]["n"])]
    members = data["timeline"]["arguments"]

    def add(span, key, value):
        assert key not in shown[span]
        shown[span][key] = value

    lists = {}
    for number, key, value in columns(members["lists"], "row_list", "row_key", "row_value"):
        lists.setdefault(number, []).append((texts[key], json.loads(texts[value])))
    for span, number in columns(members["lists"], "span", "list"):
        for key, value in lists[number]:
            add(span, key, value)
    for span, key, value in columns(members, "span", "key", "value"):
        add(span, texts[key], json.loads(texts[value]))
    for integers in members["integers"]:
        for span, value in columns(integers, "span", "value"):
            add(span, texts[integers["key"]], value)
    return shown
