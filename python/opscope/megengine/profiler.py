# SPDX-License-Identifier: Apache-2.0
"""``Profiler`` and the names of ``megengine.utils.profiler``; as a program, its runner::

python -m opscope.megengine.profiler [options] SCRIPT [arguments of the script]
"""

from . import import_megengine  # isort: skip  # noqa: F401  first: says what to do without MegEngine

import os
from contextlib import ContextDecorator
from typing import List  # noqa: UP035  as in MegEngine's signature

from megengine.core._imperative_rt import core2
from megengine.logger import get_logger

from ..frontend import cuda_activity
from ..frontend.lifecycle import Lifecycle
from ..frontend.on_demand import wait_for_requests
from ..frontend.views import describe_profile
from ..log import log_message
from ..user_warning import warn_user
from . import active_profilers
from .merge import merge_trace_events
from .scopes import open_all_scopes, scope
from .window import Window

__all__ = ["Profiler", "is_profiling", "merge_trace_events", "profile", "scope"]

_MANY_BYTES = 64 << 20  # of a file
_MOST = (1 << 64) - 1  # what MegEngine's recorder takes


class Profiler(Lifecycle, ContextDecorator):
    """Records a program::

        profiler = Profiler()
        for data, label in loader:
            with profiler:
                train_step(data, label)

    Each ``start()`` to ``stop()`` is a window; the last one is written by ``dump()``, when the object goes and at the
    end of the process, as ``PATH/PID.FORMAT`` for each of ``formats``. Takes the arguments and options of
    ``megengine.utils.profiler.Profiler``; ``record_to``, ``max_bytes`` and ``at_cap`` are opscope's own:
    ``help(opscope.frontend.options.OwnOptions)``; with ``all_windows=True`` all windows are kept and written, not the
    last one alone. For the thread that runs MegEngine.
    """

    CHROME_TIMELINE = "chrome_timeline.json"

    valid_options = {
        "sample_rate": 0,
        "profile_device": 1,
        "num_tensor_watch": 10,
        "enable_cupti": 0,
    }
    valid_formats = {"chrome_timeline.json", "memory_flow.svg"}

    def __init__(
        self,
        path: str = "profile",
        format: str = "chrome_timeline.json",
        formats: List[str] = None,  # noqa: RUF013, UP006
        with_backtrace: bool = False,
        with_scopes: bool = False,
        **kwargs,
    ) -> None:
        self._path = path
        self._formats = _checked_formats(formats or [format])
        self._options = {name: int(kwargs.pop(name, default)) for name, default in self.valid_options.items()}
        own = {name: kwargs.pop(name) for name in ("record_to", "max_bytes", "at_cap") if name in kwargs}
        self._take_own_options(**own)
        self._all_windows = bool(kwargs.pop("all_windows", False))
        if kwargs:
            warn_user(f"{', '.join(sorted(kwargs))}: no option of Profiler, and without effect")
        self.with_backtrace = with_backtrace
        self._with_scopes = with_scopes
        self._open_scopes = None
        self._pid = "<PID>"  # from the first start on: the part of the file names before the format
        self._place: tuple[int, str] | None = None
        self._number = 1
        self._window: Window | None = None  # that is being recorded
        self._last_window: Window | None = None
        self._is_written = True
        self._has_cupti = self._records_cuda = False
        if self._options["enable_cupti"]:
            self._begin_cupti()

    def _begin_cupti(self) -> None:
        """Records CUDA by MegEngine's own CUPTI support, whose records are among its others, if its wheel has it;
        otherwise by opscope's.
        """
        if core2.cupti_available():
            core2.enable_cupti()
            self._has_cupti = True
        elif why := cuda_activity.why_not():
            get_logger().warning("CuPTI unavailable")
            log_message("info", f"enable_cupti: {why}")
        else:
            self._records_cuda = True

    # ---- paths of the files -----------------------------------------------------------------

    @property
    def path(self):
        """Path of the file; for several formats, these are in braces."""
        format = self._formats[0] if len(self._formats) == 1 else "{" + ",".join(self._formats) + "}"
        return self.format_path(self._path, self._pid, format)

    @property
    def directory(self):
        """The output directory; created at the first access."""
        return self._path

    @property
    def formats(self):
        """A copy of the list."""
        return list(self._formats)

    def format_path(self, path, pid, format):
        """Path of a file."""
        return os.path.join(path, f"{pid}.{format}")

    # ---- recording --------------------------------------------------------------------------

    def start(self):
        """Begins a window; AssertionError while a Profiler records. Waits for pending work of MegEngine."""
        for name, value in self._options.items():
            if not 0 <= value <= _MOST:
                raise TypeError(f"{name}={value}: the options of Profiler are whole numbers from 0 to {_MOST}")
        active_profilers.set_running(self)
        try:
            self._pid = active_profilers.name_files(self, self._path, self._formats)
            window = self._new_window()
            window.begin(self._options)
        except BaseException:
            active_profilers.clear_running(self)
            raise
        self._window = window
        self._had_backtrace = core2.set_python_backtrace_enabled(self.with_backtrace)
        return self

    def _new_window(self) -> Window:
        return Window(
            self._session,
            with_backtrace=self.with_backtrace,
            cuda_flags=[] if self._records_cuda else None,
            max_bytes=self.max_bytes,
            at_cap=self.at_cap,
            record_to=self.record_to or "",
            adds_up=self._all_windows,
        )

    def stop(self):
        """Ends the window; AssertionError if it is not recording. Waits for all work of MegEngine, and raises its
        errors.
        """
        active_profilers.clear_running(self)
        window, self._window = self._window, None
        try:
            core2.full_sync()
        finally:
            core2.set_python_backtrace_enabled(self._had_backtrace)
            window.end()
            self._last_window, self._is_written = window, False
            self._pid = active_profilers.name_files(self, self._path, self._formats)

    def step(self):
        """Marks the end of a training step; AssertionError while no Profiler records."""
        if not is_profiling():
            raise AssertionError("no Profiler is recording: start() comes before step()")
        core2.stop_step()
        profiler = active_profilers.running()
        if isinstance(profiler, Profiler):
            profiler._window.step()
        return self

    def __enter__(self):
        self.start()
        if self._with_scopes:
            try:
                self._open_scopes = open_all_scopes()
            except BaseException:
                self.stop()
                raise

    def __exit__(self, val, tp, trace):
        scopes, self._open_scopes = self._open_scopes, None
        try:
            self.stop()
        finally:
            if scopes is not None:
                scopes.__exit__(val, tp, trace)

    def __call__(self, func):
        func = super().__call__(func)
        func.__profiler__ = self
        return func

    # ---- results ----------------------------------------------------------------------------

    def __repr__(self):
        name = f"opscope.megengine.{type(self).__name__}"
        window = self._window or self._last_window
        if window is not None and window.is_dumped and not window.is_inherited:
            return f"<{name}: a window as MegEngine writes it>"  # its events are not counted
        return describe_profile(name, window)

    def dump(self):
        """Writes the last window, unless that was done already. OSError, with the path, if it cannot be written; then a
        later call tries again.
        """
        if self._is_written:
            return
        if not os.path.exists(self._path):
            os.makedirs(self._path)
        if not os.path.isdir(self._path):
            get_logger().warning(f"{self._path} is not a directory, cannot write profiling results")
            return
        for format in self._formats:
            path = self.format_path(self._path, self._pid, format)
            get_logger().info(f"process {self._pid} generating {format}")
            self._last_window.write(path, format)
            get_logger().info(f"profiling results written to {path}")
            if os.path.getsize(path) > _MANY_BYTES:
                get_logger().warning(
                    "profiling results too large, maybe you are profiling multi iters,"
                    "consider attach profiler in each iter separately"
                )
        self._is_written = True

    @property
    def _last_recording(self):
        return self._last_window

    @property
    def _is_started(self):
        return self._window is not None

    def _forget_results(self) -> None:
        self._last_window, self._is_written = None, True

    def _leave_to_parent(self) -> None:
        """In a forked child: the parent keeps the recording and its file."""
        self._forget_results()
        self.record_to = None

    def __del__(self):
        if getattr(self, "_has_cupti", False):
            core2.disable_cupti()
        if not getattr(self, "_is_written", True):  # the constructor raised: there is nothing to write
            active_profilers.write_last(self)


def _checked_formats(formats) -> list[str]:
    if isinstance(formats, str):
        raise AssertionError(f"formats expects a list, got str: formats=[{formats!r}], or format={formats!r}")
    for format in formats:
        if format not in Profiler.valid_formats:
            raise AssertionError(f"unsupported format {format}; known: {', '.join(sorted(Profiler.valid_formats))}")
    return list(formats)


def profile(*args, **kwargs):
    """Decorator ``@profile`` that records each call of a function with the defaults; with arguments it returns a
    ``Profiler``.
    """
    if len(args) == 1 and len(kwargs) == 0 and callable(args[0]):
        return Profiler()(args[0])
    return Profiler(*args, **kwargs)


def is_profiling():
    """Whether a Profiler, ours or MegEngine's, is recording."""
    return active_profilers.running() is not None


if __name__ == "__main__":
    from opscope.megengine.runner import main

    main()
else:
    wait_for_requests("megengine")
