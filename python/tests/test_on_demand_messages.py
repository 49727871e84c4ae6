# SPDX-License-Identifier: Apache-2.0
"""The messages of `opscope record` are read strictly: random, cut, slow and too many ones are not served."""

import json
import random
import re
import time

import pytest
from control_client import ask, connect, exchange, log_of, status
from running_program import PYTHON, TORCH, under_run
from waiting import wait_for

from opscope.launch.control_message import BadMessage, answer, read_request
from opscope.launch.demand import Demand

torch = pytest.mark.framework("torch")
RECORD = {"version": 1, "command": "record", "request": "0123456789abcdef", "first_step": 3, "steps": 2}


@pytest.fixture
def running(tmp_path):
    (tmp_path / "train.py").write_text(TORCH)
    with under_run([PYTHON, tmp_path / "train.py", "STOP"], tmp_path / "out") as program:
        yield program
        assert program.process.poll() is None


def test_requests_are_read_strictly():
    good = json.dumps(RECORD).encode()
    assert read_request(good).first_step == 3
    in_file = {**RECORD, "host": "far", "ranks": [[0, 7], [12, 12]]}
    assert read_request(json.dumps(in_file).encode(), is_file=True).is_for(12)
    assert not read_request(json.dumps(in_file).encode(), is_file=True).is_for(8)
    wrong = [
        b"",
        b"[]",
        b"\xff" + good,
        b"[" * 4000,
        good + b" " * 4096,
        b'{"version":1,"version":1,"command":"status"}',
        b'{"version":1,"command":"status","more":NaN}',
    ]
    changes = [
        {"version": 2},
        {"version": True},
        {"version": 1.0},
        {"command": "stop"},
        {"command": ["status"]},
        {"request": "0123456789ABCDEF"},
        {"request": "../../../../../.."},
        {"request": 5},
        {"first_step": -1},
        {"first_step": 1 << 60},
        {"first_step": True},
        {"steps": 0},
        {"steps": 101},
        {"steps": "5"},
        {"file": "/etc/passwd"},
        {"host": "far"},
    ]
    wrong += [json.dumps({**RECORD, **change}).encode() for change in changes]
    wrong += [json.dumps({name: RECORD[name] for name in RECORD if name != left}).encode() for left in RECORD]
    for message in wrong:
        with pytest.raises(BadMessage):
            read_request(message)
    for change in ({"ranks": [[0]]}, {"ranks": [[0, True]]}, {"ranks": {}}, {"host": "h" * 300}, {"host": 1}):
        with pytest.raises(BadMessage):
            read_request(json.dumps({**in_file, **change}).encode(), is_file=True)


def test_an_answer_with_a_long_text_keeps_the_short_ones():
    members = {"request": RECORD["request"], "state": "unavailable", "host": "node1"}
    line = answer(**members, why_not="\N{GREEK SMALL LETTER ALPHA}" * 900)
    assert len(line) <= 4096
    read = json.loads(line)
    assert {name: read[name] for name in members} == members
    assert read["why_not"] == "\\u03b1" * 33 + "\\u"


def changed(message, chance):
    bytes_ = bytearray(message)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(bytes_) or 1)
        what = chance.random()
        if what < 0.3:
            del bytes_[at : at + chance.randint(1, 9)]
        elif what < 0.6:
            bytes_[at:at] = chance.randbytes(chance.randint(1, 9))
        elif bytes_:
            bytes_[at] = chance.choice(b'{}[]",:0123456789\\ue-.' + chance.randbytes(1))
    return bytes(bytes_)


def test_changed_requests_are_read_or_refused():
    chance = random.Random(7)
    good = json.dumps(RECORD).encode()
    read = 0
    for _ in range(20_000):
        message = changed(good, chance)
        try:
            request = read_request(message)
        except BadMessage as error:
            assert len(str(error)) < 100
            continue
        read += 1
        assert 1 <= request.steps <= 100 or request.command == "status"
        assert re.fullmatch("[0-9a-f]{16}", request.number) or request.command == "status"
    assert read > 100  # other numbers are requests, too


def test_answers_have_at_most_4096_bytes():
    for text in ("x" * 10_000, "\x00" * 10_000, "\U0001f600" * 10_000, '"' * 10_000):
        line = answer(why_not=text, file=text)
        assert len(line) <= 4096 and line.endswith(b"\n") and json.loads(line)["version"] == 1


def test_the_first_end_of_a_window_counts():
    ends = []
    demand = Demand("0" * 16, 3, 2, lambda each: ends.append(each.status))
    assert [demand.has(step) for step in (2, 3, 4, 5)] == [False, True, True, False]
    demand.end("complete", file="x")
    demand.end("failed", "later")
    assert (ends, demand.file, demand.why_not) == (["complete"], "x", "")
    assert not demand.has(3)


@torch
def test_random_cut_and_slow_messages_are_not_served(running):
    (socket,) = running.sockets()
    chance = random.Random(8)
    good = json.dumps({**RECORD, "steps": 0}).encode()
    for number in range(300):
        message = changed(good, chance) if number % 2 else chance.randbytes(chance.randint(1, 300))
        reply = exchange(socket, message.replace(b"\n", b"") + b"\n")
        assert reply == b"" or "error" in json.loads(reply) or json.loads(reply)["status"] == "late"
    assert json.loads(exchange(socket, good + b"\n"))["error"] == "steps is not a whole number from 1 to 100"
    for length in (0, 1, len(good)):  # without the end of a line: each takes a second
        assert exchange(socket, good[:length]) == b""
    assert exchange(socket, b"x" * 5000) == b""
    with connect(socket) as slow:  # a byte each 0.3 s
        for byte in b'{"version":1,"command":"status"}\n':
            try:
                slow.send(bytes([byte]))
            except ConnectionError:
                break
            time.sleep(0.3)
        else:
            raise AssertionError("a slow message was taken")
    assert status(socket)["state"] == "ready"
    assert list(running.folder.glob("*.opscope")) == []
    whys = {entry["why_not"] for entry in log_of(running.folder)}
    assert {"no message within a second", "incomplete message", "steps is not a whole number from 1 to 100"} <= whys


@torch
def test_eight_clients_at_once_are_served(running):
    (socket,) = running.sockets()
    idle = [connect(socket) for _ in range(8)]
    assert ask(socket, command="status") == [{"version": 1, "error": "8 clients are connected"}]
    wait_for(lambda: "error" not in status(socket))
    for each in idle:
        assert each.recv(10) == b""
        each.close()
