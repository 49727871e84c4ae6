# SPDX-License-Identifier: Apache-2.0
"""Added time of a small training step, and the same without what torch itself costs.

"Empty" is a pair of callbacks that do nothing, registered with torch: the part of the cost that is torch's own and that
every profiler of torch that is a callback pays. It needs libopscope_torch_floor; without it that row is left out.
"""

import ctypes

from added_time import added, sides_of

import measure
from workloads import MlpTraining

GOALS = {"none": 0.27, "shapes": 0.34, "all": 0.35}
ROWS = {"none": "step", "shapes": "step_shapes", "all": "step_all"}
WORDS = {"none": "", "shapes": ", record_shapes", "all": ", all flags"}


class EmptyCallbacks:
    """What torch takes for an observer that does nothing."""

    def __init__(self, library):
        self._library = library

    def start(self):
        self._handle = self._library.opscope_torch_floor_install()

    def stop(self):
        self._library.opscope_torch_floor_remove(self._handle)

    @staticmethod
    def load():
        """The library from the newest build that has it, or None."""
        found = measure.newest_built("**/libopscope_torch_floor.so")
        if found is None:
            return None
        library = ctypes.CDLL(str(found))
        library.opscope_torch_floor_install.restype = ctypes.c_uint64
        library.opscope_torch_floor_remove.argtypes = [ctypes.c_uint64]
        return library


def less(a, b):
    return {key: a[key] - b[key] for key in a}


def print_added(row, title, ours, theirs, goal, rounds):
    cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
    more = {"cpu": cpu, "repetitions": rounds, "is_difference": True}
    measure.print_row(row, title, "us/step", ours, theirs, goal, **more)


def main():
    options = measure.parse_options(__doc__, ops=20, quick_ops=3, rounds=150)  # ops: steps
    rounds = 1 if options.quick else max(options.rounds, 5)
    library = EmptyCallbacks.load()
    empty = {} if library is None else {"empty": lambda: EmptyCallbacks(library)}
    times = added(MlpTraining().run, options.ops, 3, {**sides_of(GOALS), **empty}, rounds)
    times = {side: {key: value / 1000 for key, value in row.items()} for side, row in times.items()}
    for flags, goal in GOALS.items():
        title = f"added per MLP training step{WORDS[flags]}"
        print_added(ROWS[flags], title, times["opscope", flags], times["torch", flags], goal, rounds)
    if empty:
        ours, theirs = (less(times[side, "none"], times["empty"]) for side in measure.SIDES)
        title = "added per MLP training step, above empty callbacks"
        print_added("step_above_empty", title, ours, theirs, 0.25, rounds)


if __name__ == "__main__":
    main()
