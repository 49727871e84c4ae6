# SPDX-License-Identifier: Apache-2.0
"""Events lost: none below the cap; at the cap, with the policy "keep_newest", recorded + dropped = issued.

64 threads each issue numbered ranges, so what is missing can be named: below the cap a thread keeps all of its events,
at the cap its last ones.
"""

import json
import threading
from collections import defaultdict

import measure

THREADS = 64


def record(events, max_bytes, at_cap):
    """Issues THREADS x events numbered ranges; returns the Trace."""
    from torch._C._profiler import _ExperimentalConfig

    import opscope.torch

    profile = opscope.torch.profile(
        activities=[opscope.torch.ProfilerActivity.CPU],
        experimental_config=_ExperimentalConfig(profile_all_threads=True),
        max_bytes=max_bytes,
        at_cap=at_cap,
    )

    def issue(thread):
        for number in range(events):
            with opscope.torch.record_function(f"{thread}:{number}"):
                pass

    threads = [threading.Thread(target=issue, args=(thread,)) for thread in range(THREADS)]
    profile.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    profile.stop()
    return profile.trace


def kept_numbers(trace):
    """{thread: sorted numbers of its events in the trace}."""
    kept = defaultdict(list)
    for name in trace.spans.text("name"):
        thread, colon, number = name.partition(":")
        if colon and thread.isdigit() and number.isdigit():
            kept[int(thread)].append(int(number))
    return {thread: sorted(numbers) for thread, numbers in kept.items()}


def holes(kept, events, at_cap):
    """Threads whose kept events are not a run of numbers at the end where the policy keeps them."""
    wrong = 0
    for numbers in kept.values():
        first = 0 if at_cap == "stop" else events - len(numbers)
        wrong += numbers != list(range(first, first + len(numbers)))
    return wrong


def faults(run, dropping):
    """Events that no counter has, events that are counted but not there, holes in the numbering."""
    lost = run["issued"] - run["recorded"] - (run["dropped"] if dropping else 0)
    return abs(lost) + abs(run["recorded"] - run["kept"]) + run["holes"]


def one(events, max_bytes, at_cap):
    trace = record(events, max_bytes, at_cap)
    kept = kept_numbers(trace)
    info = trace.info
    return {
        "issued": THREADS * events,
        "recorded": info["recorded"],
        "dropped": info["dropped"],
        "kept": sum(map(len, kept.values())),
        "holes": holes(kept, events, at_cap),
    }


def main():
    options = measure.parse_options(__doc__, ops=20000, quick_ops=6000)  # ops: events per thread
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    small = THREADS * 256 * 1024  # a chunk per thread, so that each thread reaches the cap
    variants = {
        "free": {"events": options.ops, "max_bytes": 1 << 30, "at_cap": "stop"},
        "keep_newest": {"events": options.ops, "max_bytes": small, "at_cap": "keep_newest"},
    }
    results = measure.interleaved(__file__, options.repetitions, variants)
    for name, title in (
        ("free", "ops lost, cap not reached"),
        ("keep_newest", "issued - recorded - dropped at the cap, policy keep_newest"),
    ):
        runs = results[name]
        wrong = max(faults(run, dropping=name != "free") for run in runs)
        measure.require_when_quick(wrong == 0, f"{title}: {wrong}, not 0", options)
        last = runs[-1]
        if name != "free" and last["dropped"] == 0:
            raise SystemExit(f"bench: {name}: nothing was dropped, so the cap was not reached: {last}")
        measure.print_row(
            f"lost_{name}",
            title,
            "events",
            {"min": wrong, "median": wrong},
            absolute_goal=0,
            note=f"{THREADS} threads; issued {last['issued']}, recorded {last['recorded']}, dropped {last['dropped']}; "
            "the worst repetition, with holes in the numbering",
            repetitions=len(runs),
        )


if __name__ == "__main__":
    main()
