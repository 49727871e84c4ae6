# SPDX-License-Identifier: Apache-2.0
"""Counts of Python's objects that boxes of arguments leave out (src/sources/torch/hooks/deferred_refcounts.h) are
right again at the end of every operator, whatever other threads do with the same tensors."""

import os

import pytest
from program_server import OPSCOPE

pytestmark = pytest.mark.framework("torch")

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"
START = """
import gc, sys, threading, weakref
import torch
def count(tensor): return sys.getrefcount(tensor)
"""


def check(programs, program, expected, limit_s=240):
    done = programs.run(OPSCOPE + START + program, limit_s)
    assert (done.status, done.stderr, done.stdout) == (0, "", expected)


def test_one_thread_finds_the_counts_that_it_left(programs):
    program = """
a, b, many = torch.ones(2), torch.ones(2), [torch.ones(2) for _ in range(9)]
before = [count(x) for x in [a, b, *many]]
with profile(record_shapes=True):
    for _ in range(1000):
        a.add_(b); torch.add(a, a, out=b); torch._foreach_add_(many, 1.0); torch.cat(many); torch.stack([a, b, a])
        try: a.add_(torch.ones(3))
        except RuntimeError: pass
print([count(x) for x in [a, b, *many]] == before)
"""
    check(programs, program, "True\n")


def test_what_an_operator_keeps_holds_its_object(programs):
    """A tensor that autograd saved is one object more for Python until the graph is gone."""
    program = """
weights = torch.ones(2, requires_grad=True)
kept = []
with profile(record_shapes=True):
    for number in range(100):
        x = torch.ones(2)
        x.number = number  # of the object: lost if nobody held it
        kept.append((weights * x).grad_fn)
        del x
gc.collect()
print([node._saved_other.number for node in kept] == list(range(100)))
seen = weakref.ref(kept[0]._saved_other)
del kept, weights
gc.collect()
print(seen())
"""
    check(programs, program, "True\nNone\n")


def test_threads_that_share_tensors_while_windows_come_and_go(programs):
    rounds = 3000 if SOAK else 150
    program = f"""
shared = [torch.ones(2) for _ in range(4)]
weights = torch.ones(2, requires_grad=True)
before = [count(x) for x in [*shared, weights]]
wrong = []
def work(turn):
    kept = []
    for number in range({rounds}):
        with profile(record_shapes=True) if (number + turn) % 3 else profile():
            for i in range(20):
                mine = torch.full((2,), float(i)); mine.number = i
                a, b = shared[i % 4], shared[(i + turn) % 4]
                torch.add(a, b); a.mul(b); a.eq(b).any(); torch.cat([a, b, mine])
                kept.append((weights * mine).grad_fn)
                weights * a
                del mine
        for i, node in enumerate(kept):
            if node._saved_other.number != i: wrong.append((turn, number, i))
        kept.clear()
sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=work, args=(turn,)) for turn in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
gc.collect()
print(wrong, [count(x) for x in [*shared, weights]] == before)
print([x.tolist() for x in shared] == [[1.0, 1.0]] * 4)
"""
    check(programs, program, "[] True\nTrue\n")


def test_a_child_of_a_fork_has_its_own(programs):
    program = """
import os
a, b = torch.ones(2), torch.ones(2)
prof = profile(record_shapes=True); prof.start()
a.add_(b)
before = count(a), count(b)
child = os.fork()
for _ in range(100): a.add_(b)
if child == 0: os._exit(0 if (count(a), count(b)) == before else 1)
print(os.waitpid(child, 0)[1], (count(a), count(b)) == before)
prof.stop()
"""
    check(programs, program, "0 True\n")
