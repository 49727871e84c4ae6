# SPDX-License-Identifier: Apache-2.0
"""What a running profiler adds to a program: one process, all sides interleaved in every round.

"Empty" is a pair of callbacks that do nothing, registered with torch: the part of the cost that is torch's own and that
every profiler of torch that is a callback pays. It needs libopscope_torch_floor; without it those rows are left out.
"Floor" is a plain buffer behind the drop-in functions: what is added by the way that opscope takes, and not by opscope.
That of all flags has a profile function of Python, too, that does nothing.
"Callbacks" is opscope without drop-in functions: what it costs where those do not fit.

Many short samples rather than few long ones: a difference of two minima needs both sides to have met a quiet moment.
"""

import ctypes
import gc
import os
import statistics
import time

import measure


class EmptyCallbacks:
    """torch's own cost of being observed."""

    def __init__(self, library, needs_inputs):
        self._library = library
        self._needs_inputs = needs_inputs

    def start(self):
        self._handle = self._library.opscope_torch_floor_install(int(self._needs_inputs), 0)

    def stop(self):
        self._library.opscope_torch_floor_remove(self._handle)

    @staticmethod
    def load():
        """The library from the newest build that has it, or None."""
        import torch  # noqa: F401  (the library resolves its symbols against the loaded torch)

        found = measure.newest_built("**/libopscope_torch_floor.so")
        if found is None:
            return None
        library = ctypes.CDLL(str(found))
        library.under_gil = ctypes.PyDLL(str(found))
        library.opscope_torch_floor_install.restype = ctypes.c_uint64
        library.opscope_torch_floor_remove.argtypes = [ctypes.c_uint64]
        if hasattr(library, "opscope_plain_buffer_open"):
            library.opscope_plain_buffer_open.restype = ctypes.c_uint64
            library.opscope_plain_buffer_close.restype = ctypes.c_uint64
            library.opscope_plain_buffer_close.argtypes = [ctypes.c_uint64]
        return library


class PlainBuffer:
    """The drop-in functions with a plain buffer behind them (bench/plain_buffer.cc)."""

    def __init__(self, library, needs_inputs, needs_calls):
        self._library = library
        self._needs_inputs = needs_inputs
        self._python_floor = library.under_gil.opscope_python_floor if needs_calls else lambda _: None

    def start(self):
        self._handle = self._library.opscope_plain_buffer_open(int(self._needs_inputs))
        if self._handle == 0:
            raise SystemExit("bench: the drop-in functions do not fit this torch, which has passed their trial")
        self._python_floor(1)

    def stop(self):
        self._python_floor(0)
        if self._library.opscope_plain_buffer_close(self._handle) == 0:
            raise SystemExit("bench: the plain buffer has seen no operator")

    @staticmethod
    def fits():
        """Whether the adapter's trial has shown that the drop-in functions fit."""
        profile = measure.new_profile("opscope")
        profile.start()
        profile.stop()
        return profile.trace.info["options"]["torch_route"] == "drop-in functions"


class CallbacksAlone:
    """opscope without drop-in functions in torch's slots."""

    def __init__(self, arguments):
        self._profile = measure.new_profile("opscope", **arguments)
        self.stop = self._profile.stop

    def start(self):
        before = os.environ.get("OPSCOPE_TORCH_ROUTE")
        os.environ["OPSCOPE_TORCH_ROUTE"] = "callbacks"
        try:
            self._profile.start()
        finally:
            del os.environ["OPSCOPE_TORCH_ROUTE"]
            if before is not None:
                os.environ["OPSCOPE_TORCH_ROUTE"] = before


def contenders(flags):
    """name -> function that makes an object with start() and stop()."""
    library = EmptyCallbacks.load()
    found = {}
    for name, arguments in flags.items():
        if library is not None:
            needs_inputs = bool(arguments.get("record_shapes") or arguments.get("with_flops"))
            found["empty", name] = lambda needs_inputs=needs_inputs: EmptyCallbacks(library, needs_inputs)
        found["callbacks", name] = lambda arguments=arguments: CallbacksAlone(arguments)
        for side in measure.SIDES:
            found[side, name] = lambda side=side, arguments=arguments: measure.new_profile(side, **arguments)
    return found


def floors(*names):
    """The plain buffer as a contender for these sets of flags, "none", "shapes" or "all"."""
    library = EmptyCallbacks.load()
    if library is None or not hasattr(library, "opscope_plain_buffer_open") or not PlainBuffer.fits():
        return {}
    return {("floor", name): lambda name=name: PlainBuffer(library, name != "none", name == "all") for name in names}


def print_floors(times, row, title, unit, rounds):
    """Rows beside opscope's, judged by nothing."""
    for (side, name), ours in ((key, value) for key, value in times.items() if key[0] == "floor"):
        words = {"none": "no flags", "shapes": "record_shapes", "all": "all flags"}[name]
        note = "drop-in functions that write into an array: no chunks, no cap, no import"
        if name == "all":
            note += "; Python calls a function that does nothing; no memory"
        theirs = times["torch", name]
        measure.print_row(
            f"{row}_{side}_{name}", f"{title}, floor, {words}", unit, ours, theirs, note=note, repetitions=rounds
        )


def timed(run, count):
    cpu = time.process_time_ns()
    wall = time.perf_counter_ns()
    run(count)
    wall = time.perf_counter_ns() - wall
    return wall / count, (time.process_time_ns() - cpu) / count


def added(run, count, warm, sides, rounds):
    """{side: {"min", "median", "cpu", "cpu_min"}}: nanoseconds added per unit of `count`; "off": all of them."""
    off, samples = [], {side: [] for side in sides}
    run(count // 2 + 1)
    gc.collect()
    gc.freeze()  # what is imported is not looked through after every sample
    for round_number in range(rounds):
        for side, make in sides.items():
            run(warm)  # stopping and freeing the last profiler has cooled the caches
            before = timed(run, count)
            profile = make()
            profile.start()
            run(warm)
            during = timed(run, count)
            profile.stop()
            del profile
            gc.collect()
            off.append(before)
            samples[side].append((before, during))
        if (round_number + 1) % 10 == 0 or round_number + 1 == rounds:
            measure.say(f"added time: round {round_number + 1} of {rounds}")
    result = {
        "off": {
            "min": min(wall for wall, _ in off),
            "median": statistics.median(wall for wall, _ in off),
            "cpu": statistics.median(cpu for _, cpu in off),
            "cpu_min": min(cpu for _, cpu in off),
        }
    }
    for side, rows in samples.items():
        # A side's own samples without it: as many as with it, and next to them, so neither has more luck.
        result[side] = {
            "min": min(during[0] for _, during in rows) - min(before[0] for before, _ in rows),
            "median": statistics.median(during[0] - before[0] for before, during in rows),
            "cpu": statistics.median(during[1] - before[1] for before, during in rows),
            "cpu_min": min(during[1] for _, during in rows) - min(before[1] for before, _ in rows),
        }
    return result


def less(a, b):
    return {key: a[key] - b[key] for key in a}
