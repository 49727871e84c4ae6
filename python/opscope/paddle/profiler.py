# SPDX-License-Identifier: Apache-2.0
"""``Profiler`` and the names of ``paddle.profiler.profiler``.

Enumerations, schedulers and export callbacks are Paddle's own objects: they record nothing.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Literal

from paddle.profiler import profiler as _original
from paddle.profiler.profiler import (
    ProfilerState,
    ProfilerTarget,
    SortedKeys,
    SummaryView,
    TracerEventType,
    _default_state_scheduler,
    export_chrome_tracing,
    export_protobuf,
    make_scheduler,
)

from .. import _core
from ..frontend.lifecycle import Lifecycle
from ..frontend.options import DEFAULT_MAX_BYTES
from ..frontend.schedule import run_plan, transition_plans
from ..frontend.views import Views
from . import engine, phases, timer
from .record_event import RecordEvent
from .recording import Recording
from .result import ProfilerResult
from .targets import refuse_absent, usable_targets
from .targets import supported_targets as _get_supported_targets  # noqa: F401  its name in the original

__all__ = [
    "Profiler",
    "ProfilerState",
    "ProfilerTarget",
    "SummaryView",
    "TracerEventType",
    "export_chrome_tracing",
    "export_protobuf",
    "get_profiler",
    "make_scheduler",
]

_LOST_AT_READY = "profiler will start and stop without saving data"
_MADE_BESIDE_ANOTHER = (
    "this Profiler cannot record: it was made while another Profiler existed, and Paddle has one for each process; "
    "stop() the other one, delete every reference to it, and make this one anew"
)
_PLANS = transition_plans(
    ProfilerState,
    {"prepare": "_prepare", "start": "_start", "stop": "_stop", "ready": "_ready"},
    {
        (1, 0): f"Improper schedule: READY->CLOSED, {_LOST_AT_READY}",
        (1, None): f"Improper Profiler state transform: READY->CLOSED, {_LOST_AT_READY}",
        (2, 0): "Improper schedule: RECORD->CLOSED, profiler will not saving data",
        (2, 1): "Improper schedule: RECORD->READY, profiler will stop and re-prepare",
    },
)


class Profiler(Lifecycle, Views):
    """Records a program::

        with Profiler(scheduler=(2, 5)) as prof:
            for batch in loader:
                train(batch)
                prof.step()
        prof.summary()

    Takes the arguments of ``paddle.profiler.Profiler``; ``record_to``, ``max_bytes`` and ``at_cap`` are opscope's own:
    ``help(opscope.frontend.options.OwnOptions)``. ``emit_nvtx`` changes nothing on machines without such devices.
    """

    _front_end = "opscope.paddle"
    _writes_chrome = "export({!r})"

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: (
            Callable[[int], ProfilerState] | tuple[int, int] | None
        ) = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: list[str] = [],  # noqa: B006  as in Paddle's signature
        with_flops: bool = False,
        record_to: str | os.PathLike | None = None,
        max_bytes: int | str = DEFAULT_MAX_BYTES,
        at_cap: str = "stop",
    ) -> None:  # fmt: skip
        self._take_own_options(max_bytes=max_bytes, at_cap=at_cap, record_to=record_to)
        self.targets = usable_targets(targets)
        _original.wrap_optimizers()
        refuse_absent(custom_device_types, self.targets)
        self.profiler = engine.create(self)
        self.scheduler = _scheduler_of(scheduler)
        self.on_trace_ready = export_chrome_tracing("./profiler_log/") if on_trace_ready is None else on_trace_ready
        self.step_num = 0
        self.previous_state = ProfilerState.CLOSED
        self.current_state = self.scheduler(self.step_num)
        self.record_event: RecordEvent | None = None
        self.profiler_result: ProfilerResult | None = None
        self._stopped: ProfilerResult | None = None  # not delivered yet
        self.timer_only = timer_only
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_flops = with_flops
        self.emit_nvtx = emit_nvtx
        self._is_in_use = False

    # ---- recording --------------------------------------------------------------------------

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self._session.exception_leaves(exc_type)
        self.stop()

    def start(self) -> None:
        """Begins with step 0, or after a ``stop()`` with the step at which it stopped."""
        self._begin(self._start_step)

    def _start_step(self) -> None:
        if not self.timer_only or self.emit_nvtx:
            self._is_in_use = True
            phases.begin_use()
        if self.timer_only:
            timer.begin()
            return
        try:
            self._follow(ProfilerState.CLOSED, self.current_state)
        except BaseException:
            self._leave_use()
            raise
        timer.begin()  # not before: a start that fails must not take the timer from a profiler that runs
        self._open_step()

    def stop(self) -> None:
        """Ends the period and passes its result to ``on_trace_ready``."""
        self._session.stop()
        timer.benchmark().end()
        try:
            if not self.timer_only:
                self._close_step()
                self._follow(self.current_state, None)
        finally:
            self._leave_use()

    def step(self, num_samples: int | None = None) -> None:
        """Ends the current step and begins the next one. ``num_samples``: number of samples in the ended step."""
        timer.benchmark().step(num_samples)
        if self.timer_only:
            return
        self._close_step()
        self.previous_state = self.current_state
        self.step_num += 1
        self.current_state = self.scheduler(self.step_num)
        if self._session.is_started:
            phases.set_flag_again()
            self._follow(self.previous_state, self.current_state)
        self._open_step()

    def step_info(self, unit: str | None = None) -> str:
        """Costs of reader and batch, and the throughput, since the last call, as text; ``unit`` of the samples."""
        return timer.benchmark().step_info("samples" if unit is None else unit)

    def _follow(self, previous: ProfilerState, following: ProfilerState | None) -> None:
        plan = _PLANS.get((previous, following))
        if plan is None and following is not None and not isinstance(previous, ProfilerState):
            raise AssertionError(f"the scheduler returned {previous!r}, which is not a ProfilerState")
        run_plan(self, plan or ())

    def _open_step(self) -> None:
        self.record_event = RecordEvent(name=f"ProfileStep#{self.step_num}", event_type=TracerEventType.ProfileStep)
        self.record_event.begin()

    def _close_step(self) -> None:
        step, self.record_event = self.record_event, None
        if step is not None:
            step.end()

    def _leave_use(self) -> None:
        if self._is_in_use:
            self._is_in_use = False
            phases.end_use()

    def __del__(self) -> None:
        try:
            self._leave_use()
        except Exception:  # the constructor raised, or the interpreter ends
            pass

    # Methods that the plan of a transition names.

    def _prepare(self) -> None:
        self._required_engine().prepare()

    def _start(self) -> None:
        self._required_engine().start()

    def _stop(self) -> None:
        self._stopped = self._required_engine().stop()

    def _required_engine(self) -> engine.Engine:
        if self.profiler is None:  # the original raises AttributeError here
            raise RuntimeError(_MADE_BESIDE_ANOTHER)
        return self.profiler

    def _ready(self) -> None:
        self.profiler_result, self._stopped = self._stopped, None
        if self.profiler_result is not None and self.on_trace_ready:
            self.on_trace_ready(self)

    def _new_recording(self, source: _core.paddle.PaddleSource) -> Recording:
        requested = {"shapes": self.record_shapes or self.with_flops, "memory": self.profile_memory}
        flags = [flag for flag, is_requested in requested.items() if is_requested]
        return Recording(
            self._session,
            self.targets,
            source,
            flags,
            max_bytes=self.max_bytes,
            at_cap=self.at_cap,
            record_to=self.record_to or "",
        )

    @property
    def _last_recording(self) -> Recording | None:
        recorder = getattr(self, "profiler", None)
        return None if recorder is None else recorder.recording

    # ---- results ----------------------------------------------------------------------------

    def export(self, path: str = "", format: str = "json") -> None:
        """Writes the last result as Chrome JSON ("json") or protobuf ("pb"). OSError if it cannot be written."""
        if self.profiler_result:
            self.profiler_result.save(path, format)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: Literal["s", "ms", "us", "ns"] = "ms",
        views: SummaryView | list[SummaryView] | None = None,
    ) -> None:
        """Prints the tables of the last result; ``views``: only these tables."""
        if isinstance(views, SummaryView):
            views = [views]
        if views is not None:
            views = [view for view in SummaryView if view in views]
        if self.profiler_result:
            print(self.profiler_result.summary(sorted_by, op_detail, thread_sep, time_unit, views))
        if self.with_flops:
            self._print_flops()

    def _print_flops(self, repeat: int = 1) -> None:
        if not self.with_flops:
            print("ERROR: with_flops disabled.")
            return
        print(self.profiler_result.flops(repeat))


def _scheduler_of(scheduler: Any) -> Callable[[int], ProfilerState]:
    if callable(scheduler):
        return scheduler
    if not isinstance(scheduler, (tuple, list)):
        return _default_state_scheduler
    if not (len(scheduler) == 2 and scheduler[1] > scheduler[0]):
        raise AssertionError
    start, end = max(scheduler[0], 0), scheduler[1]
    ready = 1 if start >= 1 else 0
    return make_scheduler(closed=max(start - 1, 0), ready=ready, record=end - start, repeat=1)


_TARGETS = {"cpu": ProfilerTarget.CPU, "gpu": ProfilerTarget.GPU}


def get_profiler(config_path: str) -> Profiler:
    """A Profiler configured by a JSON file. Invalid values are printed, and their defaults used."""
    try:
        with open(config_path) as file:
            config = json.load(file)
    except Exception as error:
        print(f"Load config file for profiler error: {error}")
        print("Use default parameters instead.")
        return Profiler()
    arguments: dict[str, Any] = {}
    readers = {"targets": _read_targets, "scheduler": _read_scheduler, "on_trace_ready": _read_callback}
    for name, read in readers.items():
        if name in config:
            try:
                read(config[name], arguments)
            except Exception:
                print(f"Set {name} parameter error, use default parameter instead.")
                arguments[name] = None
    if "timer_only" in config:
        if isinstance(config["timer_only"], bool):
            arguments["timer_only"] = config["timer_only"]
        else:
            print("Set timer_only parameter error, use default parameter instead.")
    return Profiler(**arguments)


def _read_targets(names: list[str], arguments: dict[str, Any]) -> None:
    arguments["targets"] = [_TARGETS[name.lower()] for name in names if name.lower() in _TARGETS]


def _read_scheduler(described: Any, arguments: dict[str, Any]) -> None:
    if isinstance(described, dict):
        _read_functions("scheduler", described, arguments)
    else:
        arguments["scheduler"] = [described[0], described[1]]


def _read_callback(described: Any, arguments: dict[str, Any]) -> None:
    if isinstance(described, dict):
        _read_functions("on_trace_ready", described, arguments)


def _read_functions(argument: str, described: dict[str, dict], arguments: dict[str, Any]) -> None:
    """Reads {name: {module, use_direct, args, kwargs}}: a function, or the result of calling it."""
    for name, how in described.items():
        function = getattr(importlib.import_module(how["module"]), name)
        arguments[argument] = function if how["use_direct"] else function(*how["args"], **how["kwargs"])


def __getattr__(name: str):
    return getattr(_original, name)
