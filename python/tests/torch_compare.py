# SPDX-License-Identifier: Apache-2.0
"""Compares what opscope and torch.profiler saw of the same run, range for range.

    OPSCOPE_BUILD=build/dev python torch_compare.py [resnet18 transformer mlp odd]

The known differences and their causes are listed in docs/reference/torch_parity.md; each is a named rule here and is
counted, so that a difference which is not on the list fails.
"""

import collections
import json
import sys

from torch.profiler import ProfilerActivity, _ExperimentalConfig, profile

ELEMENT_NAMES = {
    0: "unsigned char", 1: "signed char", 2: "short int", 3: "int", 4: "long int", 5: "c10::Half", 6: "float",
    7: "double", 8: "c10::complex<c10::Half>", 9: "c10::complex<float>", 10: "c10::complex<double>", 11: "bool",
    15: "c10::BFloat16",
}  # fmt: skip
PER_ARGUMENT = ("shapes", "structured shapes", "strides", "dtypes", "concrete inputs")
EVALUATE = "autograd::engine::evaluate_function: "


def run_with_both(program, window, **torch_options):
    """One run of the program inside `window`, torch.profiler active around it."""
    config = _ExperimentalConfig(
        capture_overload_names=True, profile_all_threads=torch_options.pop("profile_all_threads", False)
    )
    profiler = profile(
        activities=[ProfilerActivity.CPU], record_shapes=True, experimental_config=config, **torch_options
    )
    profiler.start()
    with window:
        program()
    profiler.stop()
    return profiler.profiler.kineto_results.events()


def structured(argument):
    """Shapes as torch's structured_input_shapes: dims, a list of dims, or nothing."""
    if argument[0] == "tensor":
        return argument[2]
    if argument[0] == "tensors" and all(a[0] == "tensor" for a in argument[1]):
        return [a[2] for a in argument[1]]
    return []


def structured_strides(argument):
    if argument[0] == "tensor":
        return argument[3]
    if argument[0] == "tensors" and all(a[0] == "tensor" for a in argument[1]):
        return [a[3] for a in argument[1]]
    return []


def type_name(argument):
    if argument[0] == "tensor":
        return ELEMENT_NAMES[argument[1]]
    if argument[0] == "tensors":
        return "TensorList"
    if argument[0] in ("int", "double", "bool", "complex"):
        return "Scalar"
    return "ScalarList" if argument[0] in ("ints", "doubles", "bools", "scalars") else ""


def concrete(argument):
    if argument[0] in ("int", "double", "bool", "complex", "ints", "doubles", "bools"):
        return argument[1]
    return [a[1] for a in argument[1]] if argument[0] == "scalars" else None


def nesting_depths(events):
    """Depth of each of torch's events by containment of times (they are sorted by start)."""
    depths, stack = [], []
    for event in events:
        while stack and (stack[-1].end_ns() < event.end_ns() or stack[-1].end_ns() <= event.start_ns()):
            stack.pop()
        depths.append(len(stack))
        stack.append(event)
    return depths


def as_torch_shows(ranges):
    """The two things that torch fills in or hides when it processes its records."""
    rules = collections.Counter()
    shown = [dict(r) for r in ranges]
    for i, r in enumerate(shown):
        if r["name"].startswith(EVALUATE) and r["sequence"] < 0:
            following = shown[i + 1] if i + 1 < len(shown) else None
            if following is not None and following["scope"] == 1:
                r["sequence"], r["forward_thread"] = following["sequence"], following["forward_thread"]
                rules["evaluate_function takes the node's sequence number"] += 1
    for r in shown:
        if r["sequence"] < 0 and r["forward_thread"] != 0:
            r["forward_thread"] = 0
            rules["forward thread hidden without a sequence number"] += 1
    return shown, rules


def compare(ranges, events):
    """Returns (matched, rules, differences). `ranges` and `events` are those of one run."""
    rules, differences, matched = collections.Counter(), [], 0
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for r in ranges:
        ours[r["thread"]].append(r)
    for e in events:
        theirs[e.start_thread_id()].append(e)
    for thread in sorted(set(ours) | set(theirs)):
        mine, applied = as_torch_shows(sorted(ours[thread], key=lambda r: (r["start"], r["depth"])))
        rules += applied
        their = sorted(theirs[thread], key=lambda e: (e.start_ns(), -e.end_ns()))
        if [r["name"] for r in mine] != [e.name() for e in their]:
            differences.append(("order", thread, _first_difference(mine, their)))
            continue
        depths = nesting_depths(their)
        offset = mine[0]["depth"] - depths[0] if mine else 0
        for r, e, depth in zip(mine, their, depths, strict=True):
            matched += 1
            fields = list(_fields(r, e, depth + offset))
            extra = len(e.dtypes()) - len(r["arguments"])
            if extra > 0 and e.dtypes()[extra:] == [type_name(a) for a in r["arguments"]]:
                rules["torch shows the caller's stack before the arguments of a boxed call"] += 1
                fields = [(w, a, b[extra:] if w in PER_ARGUMENT else b) for w, a, b in fields]
            for what, a, b in fields:
                if a != b:
                    differences.append((what, r["name"], a, b))
    return matched, rules, differences


def _first_difference(mine, their):
    for i, (r, e) in enumerate(zip(mine, their, strict=False)):
        if r["name"] != e.name():
            around = slice(max(0, i - 3), i + 4)
            return (i, [x["name"] for x in mine[around]], [x.name() for x in their[around]])
    return (
        len(mine),
        len(their),
        [x["name"] for x in mine[len(their) :]][:9],
        [x.name() for x in their[len(mine) :]][:9],
    )


def _fields(r, e, depth):
    yield "depth", r["depth"], depth
    yield "scope", r["scope"], e.scope()
    yield "sequence", r["sequence"], e.sequence_nr()
    yield "forward thread", r["forward_thread"], e.fwd_thread_id()
    yield "overload", r["overload"], e.overload_name() or ""
    yield "async", r["kind"] == 4, e.is_async()
    yield "other thread", bool(r["flags"] & 2), e.start_thread_id() != e.end_thread_id()
    yield "shapes", [a[2] if a[0] == "tensor" else [] for a in r["arguments"]], e.shapes()
    yield "structured shapes", [structured(a) for a in r["arguments"]], e.structured_input_shapes()
    yield "strides", [structured_strides(a) for a in r["arguments"]], e.structured_input_strides()
    yield "dtypes", [type_name(a) for a in r["arguments"]], e.dtypes()
    values = [concrete(a) for a in r["arguments"]]
    yield "concrete inputs", values, [None if v == "" else v for v in e.concrete_inputs()]
    keywords = json.loads("{" + r["keywords"] + "}") if r["keywords"] else {}
    yield "keywords", keywords, e.kwinputs()


def main(names):
    import raw_window
    import torch_programs

    failed = False
    for name in names or list(torch_programs.PROGRAMS):
        program = torch_programs.PROGRAMS[name]()
        window = raw_window.Window(raw_window.INPUTS | raw_window.OVERLOAD_NAMES)
        events = run_with_both(program, window)
        ranges = window.ranges()
        counts = window.counts()
        matched, rules, differences = compare(ranges, events)
        window.free()
        print(f"{name}: opscope {len(ranges)}, torch {len(events)}, equal in order {matched}, dropped {counts.dropped}")
        for rule, count in rules.items():
            print(f"  {count:5d}  by rule: {rule}")
        for what, count in collections.Counter(d[0] for d in differences).items():
            print(f"  {count:5d}  DIFFERENT: {what}")
        for difference in differences[:12]:
            print("        ", str(difference)[:600])
        failed = failed or bool(differences)
    print("failures inside the source:", raw_window.source.source.failures())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
