# SPDX-License-Identifier: Apache-2.0
"""Arguments of `opscope.Trace`: a name that is not UTF-8 may be given back, a wrong type is one line that names it."""

import json

import pytest

import opscope

NAME = "bad \udcff name"  # the byte 0xff, as `Trace.strings` has it


@pytest.fixture(scope="module")
def trace():
    args = {"Input Dims": [[4, 5], [5, 6]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""]}
    span = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 5, "cat": "cpu_op", "args": args}
    spans = [span | {"name": "bad NAME name"}, span | {"name": "aten::mm", "ts": 9}]
    return opscope.read(json.dumps(spans).encode().replace(b"NAME", b"\xff"))


def test_a_name_that_is_not_utf8_chooses_its_spans_in_every_answer(trace):
    where = f'name = "{NAME}"'
    assert [row["name"] for row in trace.summary(where=where)] == [NAME]
    assert list(trace.cut(where).spans["name"]) == [NAME]
    assert [row["name"] for row in trace.diff(trace, where=where)] == [NAME]
    assert [row["name"] for row in trace.critical_path(where=where)] == [NAME]
    assert trace.check({f"op_count:{NAME}": {"max": 0}}).crossed == [f"op_count of {NAME} is 1, more than 0"]
    with pytest.raises(opscope.Error):  # found, and no operator of torch
        trace.reproduce(where=where)


WRONG = {
    "where must be a str, not int": lambda trace: (
        lambda: trace.summary(where=5),
        lambda: trace.cut(5),
        lambda: trace.advise(where=5),
        lambda: trace.devices(where=5),
        lambda: trace.diff(trace, where=5),
        lambda: trace.reproduce(where=5),
        lambda: trace.roofline(where=5),
    ),
    "group_by must be a str, not int": lambda trace: (lambda: trace.summary(group_by=[5]),),
    "sort must be a str, not int": lambda trace: (lambda: trace.summary(sort=5),),
    "by must be a str, not int": lambda trace: (lambda: trace.diff(trace, by=5),),
    "text must be a str, not int": lambda trace: (lambda: trace.strings.find(5),),
    "limit must be a whole number, not str": lambda trace: (lambda: trace.summary(limit="5"),),
    "kernel_gap_ns must be a whole number, not float": lambda trace: (lambda: trace.devices(kernel_gap_ns=1.5),),
    "peak_flops must be a number, not str": lambda trace: (lambda: trace.roofline(peak_flops="fast"),),
    'limits are a dict such as {"spans": {"max": 5}}, not 5': lambda trace: (lambda: trace.check(5),),
    "the name of a metric must be a str, not int": lambda trace: (lambda: trace.check({5: {"max": 1}}),),
    "a table has columns by name, and rows by row(index) or as it is iterated; not 0": lambda trace: (
        lambda: trace.spans[0],
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_type_is_one_line_that_names_the_argument(trace, message):
    for call in WRONG[message](trace):
        with pytest.raises(TypeError) as raised:
            call()
        assert str(raised.value) == message


def test_the_names_of_the_package_are_what_it_offers():
    assert {"TYPE_CHECKING", "sys"}.isdisjoint(dir(opscope))
    assert set(opscope.__all__) <= set(dir(opscope))
