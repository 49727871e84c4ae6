# SPDX-License-Identifier: Apache-2.0
"""opscope.megengine.profile_analyze prints what MegEngine's own command prints of the same dump."""

import contextlib
import gzip
import io
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import pytest

original = pytest.importorskip("megengine.tools.profile_analyze")

from opscope.megengine import profile_analyze  # noqa: E402

SAMPLE = Path(__file__).parents[4] / "shared/samples/megengine/lenet_get_profile.json.gz"
DOCUMENTED = (
    ("-t", "5"),
    ("-t", "5", "--aggregate-by", "type", "--aggregate", "sum"),
    ("-t", "5", "--order-by", "memory", "--min-time", "1e-4", "--type", "ConvolutionForward"),
)
CHOICES = (
    ((), ("-t", "0"), ("-t", "7"), ("-t", "-2"), ("-t", "1")),
    ((), (), ("--type", "Elemwise", "--type", "MatrixMul"), ("--opr-name", ".*[a-m]"), ("--input-dtype", "Float32")),
    (
        (),
        (),
        ("--aggregate", "sum"),
        *(("--aggregate", a, "--aggregate-by", "type") for a in ("sum", "mean", "max", "min")),
    ),
    (
        (),
        *(
            ("--order-by", sign + name)
            for sign in ("", "+")
            for name in ("time", "bandwidth", "memory", "flops", "opr_id")
        ),
    ),
    ((), ("--show-host",), ("--print-only", "device"), ("--print-only", "host"), ("--print-only", "summary")),
    ((), (), ("--dump-only-opr",), ("--confluence",)),
    ((), (), ("--copy-time",), ("--top-end-key", "kern"), ("--min-time", "1e-6", "--max-time", "0.001")),
)


def made_dump(seed):
    """A get_profile() dump with what a real one may have, at random."""
    chance = random.Random(seed)
    count = chance.choice([0, 1, 3, 20, 70, 300, 1500])
    words = [
        "conv1",
        "back-ward",
        "a.b",
        "fc",
        "1.5",
        "x y",
        "Broadcast[12]",
        "ä",
        "very.long_name-of-an-operator.forward",
        "--",
    ]
    kinds = ["Elemwise", "Copy", "MatrixMul", "ConvolutionForward", "Reduce"]
    known = chance.random() < 0.5  # no cost is missing
    dump = {
        "graph_exec": {"operator": {}, "var": {}, "mem_chunk": {}, "comp_seq": []},
        "profiler": {"device": {}, "host": {}, "opr_footprint": {}, "opr_internal_pf": {}},
    }
    unit = chance.choice([1e-6, 1e-3, 0.37])

    def interval(steps):
        start = round(chance.random(), 6)
        kern = start + round(chance.randrange(steps) * unit, 6)
        return {"start": start, "kern": kern, "end": kern + round(chance.randrange(steps) * unit, 6)}

    def shapes():
        return [[chance.randrange(1, 99) for _ in range(chance.randrange(4))] for _ in range(chance.randrange(3))]

    ids = [str(i) for i in range(count)]
    chance.shuffle(ids)
    for i in ids:
        plan = {"layout": {"dtype": chance.choice(["Float32", "Int32"]), "shape": [1]}}
        dump["graph_exec"]["var"][i] = {"mem_plan": plan}
        dump["graph_exec"]["operator"][i] = {
            "node_type": "operator",
            "id": i,
            "name": chance.choice(["", "."]).join(chance.choices(words, k=chance.randrange(1, 5))),
            "type": chance.choice(kinds),
            "input": [i],
            "output": [i],
        }
        for part in ("device", "host"):
            if chance.random() < 0.9:
                places = chance.choice([1, 1, 1, 2])
                dump["profiler"][part][i] = {
                    f"gpu{place}": interval(chance.choice([2, 5, 900])) for place in range(places)
                }
        if known or chance.random() < 0.8:
            print_ = {
                "computation": chance.choice([0, None, chance.randrange(10**9)])
                if not known
                else chance.randrange(1, 10**13),
                "memory": chance.choice([0, chance.randrange(2000), chance.randrange(10**9)]),
                "in_shapes": shapes(),
                "out_shapes": shapes(),
                "param": {},
            }
            if chance.random() < 0.2:
                print_["in_layouts"] = [chance.choice([None, [7, 1]]) for _ in print_["in_shapes"]]
            dump["profiler"]["opr_footprint"][i] = print_
    return dump


def printed_by_original(arguments):
    """What it prints, or None where it fails."""
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        try:
            original.main(arguments)
        except Exception:  # whatever it fails with
            return None
    return out.getvalue()


def printed_by_opscope(arguments, capfd):
    capfd.readouterr()
    code = profile_analyze.main(arguments)
    return code, capfd.readouterr()


def lenet(tmp_path):
    if not SAMPLE.exists():
        pytest.skip(f"{SAMPLE} is not there")
    path = tmp_path / "lenet.json"
    path.write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    return str(path)


@pytest.mark.parametrize("arguments", DOCUMENTED, ids=" ".join)
def test_the_document_s_command_lines_print_the_same(arguments, tmp_path, capfd):
    dump = lenet(tmp_path)
    want = printed_by_original([dump, *arguments])
    assert want
    code, printed = printed_by_opscope([dump, *arguments], capfd)
    assert (code, printed.out, printed.err) == (0, want, "")


def compared(dump, lines, capfd):
    """How many of the command lines the original answered, all as opscope does."""
    answered = 0
    for arguments in lines:
        want = printed_by_original([dump, *arguments])
        code, printed = printed_by_opscope([dump, *arguments], capfd)
        if want is not None:
            answered += 1
            assert (printed.out, code) == (want, 0), arguments
        else:
            assert code in (0, 1, 2), arguments
            assert "Traceback" not in printed.err
            assert code != 0 or printed.out, arguments
    return answered


def test_any_combination_of_options_prints_the_same(tmp_path, capfd):
    dump = lenet(tmp_path)
    chance = random.Random(1)
    lines = [tuple(itertools.chain.from_iterable(map(chance.choice, CHOICES))) for _ in range(250)]
    assert compared(dump, lines, capfd) > 60


@pytest.mark.parametrize("seed", range(40))
def test_any_dump_is_printed_the_same(seed, tmp_path, capfd):
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps(made_dump(seed)))
    chance = random.Random(seed)
    lines = [tuple(itertools.chain.from_iterable(map(chance.choice, CHOICES))) for _ in range(12)]
    lines += [("--aggregate", "sum"), ("-t", "0", "--order-by", "bandwidth")]
    assert compared(str(dump), lines, capfd) > 0


@pytest.mark.parametrize("damage", ["cut", "wrong bytes", "wrong sum", "cut by half"])
def test_a_packed_dump_that_is_damaged_is_read_as_far_as_it_goes(damage, tmp_path, capfd):
    dumps = map(made_dump, itertools.count())
    text = json.dumps(next(dump for dump in dumps if len(dump["graph_exec"]["operator"]) > 200)).encode()
    whole = tmp_path / "whole.json"
    whole.write_bytes(text)
    packed = bytearray(gzip.compress(text, mtime=0))
    if damage == "wrong bytes":
        packed[-200:-100] = bytes(100)
    elif damage == "wrong sum":
        packed[-6] ^= 1
    else:
        del packed[(-100 if damage == "cut" else len(packed) // 2) :]
    dump = tmp_path / "dump.json.gz"
    dump.write_bytes(packed)
    listed = ["-t", "0", "--dump-only-opr", "--print-only", "host"]
    code, printed = printed_by_opscope([str(dump), *listed], capfd)
    assert code == 3, printed.err
    assert printed.err.startswith(f"opscope: {dump}: at byte ")
    _, of_whole = printed_by_opscope([str(whole), *listed], capfd)
    rows, all_rows = set(printed.out.splitlines()), set(of_whole.out.splitlines())
    if damage == "wrong sum":
        assert rows == all_rows
    else:
        assert len(rows) <= len(all_rows)


@pytest.mark.parametrize("module", ["opscope.megengine.profile_analyze", "opscope"])
def test_an_interrupt_that_the_shell_has_ignored_stays_ignored(module, tmp_path):
    dump = tmp_path / "fifo"
    os.mkfifo(dump)
    line = [sys.executable, "-m", module, *(["analyze-megengine"] if module == "opscope" else []), str(dump)]
    ignored = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=ignored) as command:
        with open(dump, "wb"):  # returns when the command has opened it
            command.send_signal(signal.SIGINT)
        command.communicate(timeout=60)
    assert command.returncode == 1  # what it read is no dump


def test_what_is_no_dump_is_refused_in_one_line(tmp_path, capfd):
    for name, content in {
        "empty": b"",
        "text": b"hello\x01",
        "gzip of nothing": gzip.compress(b"", mtime=0),
        "cut before anything": gzip.compress(b'{"graph_exec": {', mtime=0)[:12],
        "null": b"null",
    }.items():
        dump = tmp_path / name
        dump.write_bytes(content)
        code, printed = printed_by_opscope([str(dump)], capfd)
        assert (code, printed.out) == (1, ""), name
        assert printed.err.startswith(f"opscope: {dump}: ") and printed.err.count("\n") == 1, name
    code, printed = printed_by_opscope([str(tmp_path / "absent")], capfd)
    assert (code, printed.err.count("\n")) == (1, 1)
