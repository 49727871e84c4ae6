# SPDX-License-Identifier: Apache-2.0
"""Holds PLACE/samples.json (samples_read.py) against what Perfetto's trace processor says of the same files.

Of every name how often it occurs and the sum of its times, and the time in which a device was busy. Differences that
docs/explanation/checked_in_other_tools.md explains are counted by their cause; any other one is an error (exit code 1).
"""

import json
import sys
from pathlib import Path

import browser


def differences(ours, theirs):
    """(name, ours, theirs) where they are not equal; of a double of microseconds the last digit may be lost."""
    for name in sorted({*ours, *theirs}):
        mine, other = ours.get(name, (0, 0)), theirs.get(name, (0, 0))
        if mine[0] != other[0] or abs(mine[1] - other[1]) > mine[0]:
            yield name, tuple(mine), tuple(other)


def compare(ours, theirs):
    """({cause: spans}, differences without one)."""
    causes, unexplained, missing = {}, [], []
    for name, mine, other in differences(ours["names"], theirs["names"]):
        instants = ours["instants"].get(name, 0)
        if other == (mine[0] + instants, mine[1]):
            causes["instants are slices there"] = causes.get("instants are slices there", 0) + instants
        elif other[0] < mine[0] and other[1] <= mine[1]:
            missing.append((name, mine, other))
        else:
            unexplained.append((name, mine, other))
    lost = sum(mine[0] - other[0] for _, mine, other in missing)
    if lost != theirs["dropped"]:  # the number that Perfetto itself gives
        return causes, unexplained + missing
    if lost:
        causes["crossing slices are dropped there"] = lost
    busy = ours["busy_ns"] - theirs["busy_ns"]
    if busy < 0 or (busy > 0 and not lost):
        unexplained.append(("busy time of devices", ours["busy_ns"], theirs["busy_ns"]))
    return causes, unexplained


def main(place):
    read = json.loads((place / "samples.json").read_text(encoding="utf-8"))
    in_perfetto = browser.viewers(place).get("Perfetto")
    if in_perfetto is None:
        return True
    failed = False
    for name, ours in read.items():
        theirs = in_perfetto(place / "samples" / name.removesuffix(".gz"), browser.SUMS)
        causes, unexplained = compare(ours, theirs)
        spans = sum(times for times, _ in ours["names"].values())
        busy = f"busy {ours['busy_ns']} ns ({ours['busy_ns'] - theirs['busy_ns']:+d})"
        said = ", ".join(f"{count} {cause}" for cause, count in causes.items()) or "all equal"
        print(f"{name}: {len(ours['names'])} names, {spans} spans, {busy}; {said}; {len(unexplained)} without a cause")
        for each, mine, other in unexplained:
            print(f"    {each}: {mine}, Perfetto {other}")
        failed = failed or bool(unexplained)
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
