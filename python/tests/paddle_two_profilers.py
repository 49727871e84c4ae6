# SPDX-License-Identifier: Apache-2.0
"""Orders of calls on two Profiler objects, under paddle.profiler or opscope.paddle.

    python paddle_two_profilers.py {paddle.profiler,opscope.paddle} SEED COUNT

Prints for each order its calls, how each ended, and the events of each result.
"""

import collections
import importlib
import json
import random
import sys
import threading

import paddle

profiler = importlib.import_module(sys.argv[1])
ones = paddle.ones([2, 3])
CALLS = {"make": 3, "start": 3, "step": 3, "stop": 2, "drop": 1, "work": 2, "enter": 1}  # how often
SCHEDULERS = [None, (0, 2), (1, 3), (3, 5)]


def keeper(results):
    """A callback that holds no Profiler: references alone end one."""

    def keep(prof):
        names = collections.Counter()
        nodes = [node for root in prof.profiler_result.get_data().values() for node in root.children_node]
        while nodes:
            node = nodes.pop()
            nodes += node.children_node
            names[node.name] += 1
        results.append(sorted(names.items()))

    return keep


class Pair:
    """Two names, each of a Profiler or unset. A call that makes no sense for the object is left out."""

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.objects, self.running, self.results = {}, set(), []

    def call(self, what, name):
        there = self.objects.get(name)
        if what == "work":
            paddle.add(ones, ones)
        elif what == "make" and there is None:
            self.objects[name] = profiler.Profiler(scheduler=self.scheduler, on_trace_ready=keeper(self.results))
        elif what == "drop" and there is not None:
            del there, self.objects[name]
            self.running.discard(name)
        elif what in ("start", "enter") and there is not None and name not in self.running:
            (there.start if what == "start" else there.__enter__)()
            self.running.add(name)
        elif what in ("step", "stop") and there is not None and name in self.running:
            if what == "stop":
                self.running.discard(name)
            getattr(there, what)()


def ending(pair, what, name):
    try:
        pair.call(what, name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def on_thread(act, *arguments):
    ends = []
    thread = threading.Thread(target=lambda: ends.append(act(*arguments)))
    thread.start()
    thread.join()
    return ends[0]


def run(random_):
    pair = Pair(random_.choice(SCHEDULERS))
    uses_threads = random_.random() < 0.3
    told = [pair.scheduler, uses_threads]
    for _ in range(random_.randint(6, 20)):
        (what,), name = random_.choices(list(CALLS), CALLS.values()), random_.choice("ab")
        other_thread = uses_threads and name == "b"
        told.append([what, name, on_thread(ending, pair, what, name) if other_thread else ending(pair, what, name)])
    results = pair.results
    del pair  # and with it both objects
    return told, results


chance = random.Random(int(sys.argv[2]))
print(json.dumps([run(chance) for _ in range(int(sys.argv[3]))]))
