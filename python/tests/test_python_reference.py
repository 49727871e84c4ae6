# SPDX-License-Identifier: Apache-2.0
"""docs/reference/python.md has the signatures and docstrings of `opscope`. OPSCOPE_UPDATE_GOLDEN=1 writes it anew."""

import inspect
import os
import re
import textwrap
from pathlib import Path

import opscope

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"
HEAD = """# Python

This page lists the functions and classes of `opscope`, which read traces and answer questions about them. The profilers
have pages of their own: [opscope.torch](torch.md), [opscope.paddle](paddle.md), [opscope.megengine](megengine.md).
Importing `opscope` imports no framework and no NumPy.

<!-- Generated from python/opscope: OPSCOPE_UPDATE_GOLDEN=1 pytest python/tests/test_python_reference.py -->
"""
FUNCTIONS = (opscope.open, opscope.read, opscope.merge, opscope.diff, opscope.collect, opscope.job)
OF_SPARK = (opscope.spark.collect, opscope.spark.views)
CLASSES = (
    opscope.Trace,
    opscope.Job,
    opscope.Table,
    opscope.ResultRows,
    opscope.TraceCheck,
    opscope.TraceDiff,
    opscope.SqlRows,
    opscope.TextColumn,
    opscope.Strings,
    opscope.Error,
    opscope.ExportWarning,
)


def prose(text):
    """A docstring as Markdown: examples become blocks of code."""
    blocks = re.split(r"\n\n", inspect.cleandoc(text or ""))
    return "\n\n".join(f"```pycon\n{each}\n```" if each.lstrip().startswith(">>>") else each for each in blocks)


def parameter(each):
    text = each.name + (f": {each.annotation}" if each.annotation is not each.empty else "")
    if each.default is each.empty:
        return text
    return f"{text}{' = ' if each.annotation is not each.empty else '='}{each.default!r}"


def signature(name, called):
    """`name(...)` without `self`, a parameter a line where it is long."""
    found = inspect.signature(called)
    words = []
    for each in found.parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        if each.name != "self":
            words.append(parameter(each))
    returned = "" if found.return_annotation is found.empty else f" -> {found.return_annotation}"
    line = f"{name}({', '.join(words)}){returned}"
    return line if len(line) <= 100 else f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returned}"


def section(level, name, text, documentation):
    code = "" if text is None else f"```text\n{text}\n```\n\n"
    return f"\n{'#' * level} {name}\n\n{code}{prose(documentation)}\n"


def members(kind):
    """Public methods and properties of the class and of those that it is put together from, as they stand there."""
    parts = [part for part in reversed(kind.__mro__) if part.__name__ in ("TraceAnswers", kind.__name__)]
    for name, value in (item for part in reversed(parts) for item in vars(part).items()):
        if name.startswith("_") and name not in ("__call__",):
            continue
        if isinstance(value, property):
            returned = inspect.signature(value.fget).return_annotation
            text = name if returned is inspect.Signature.empty else f"{name}: {returned}"
            yield section(3, f"{kind.__name__}.{name}", text, value.__doc__)
        elif inspect.isfunction(value):
            yield section(3, f"{kind.__name__}.{name}", signature(name, value), value.__doc__)


def page():
    out = HEAD
    for function in FUNCTIONS:
        out += section(2, f"opscope.{function.__name__}", signature(function.__name__, function), function.__doc__)
    for function in OF_SPARK:
        out += section(
            2, f"opscope.spark.{function.__name__}", signature(function.__name__, function), function.__doc__
        )
    for kind in CLASSES:
        base = kind.__mro__[1].__name__
        text = f"class {kind.__name__}({base})" if issubclass(kind, Exception) else None
        out += section(2, f"opscope.{kind.__name__}", text, kind.__doc__)
        if kind is opscope.Trace:
            out += "\nEach table of the trace is an attribute of this class: `trace.spans`, `trace.tracks`, ... "
            out += "[Tables of a trace](tables.md) lists\nthem with their columns.\n"
        out += "".join(members(kind))
    return textwrap.dedent(out)


def test_the_reference_has_what_the_code_says():
    text = page()
    if os.environ.get("OPSCOPE_UPDATE_GOLDEN"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


def test_the_reference_has_every_public_name():
    named = {each.__name__ for each in FUNCTIONS + CLASSES}
    assert named == set(opscope.__all__) - {"__version__"}
