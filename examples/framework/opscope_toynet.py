# SPDX-License-Identifier: Apache-2.0
"""``toynet.Profiler``, recorded by opscope: all that a framework needs in Python.

Its adapter (what it depends on, how it is made and tried), its names, defaults and layout; the rest is
``opscope.frontend`` and ``opscope.adapters``.
"""

import hashlib
import sys
from enum import Enum

import toynet

from opscope import _core
from opscope.adapters import self_test
from opscope.adapters.adapter import INCLUDE, LIBRARIES, Adapter, source_files
from opscope.adapters.build import LINK_FLAGS, Recipe
from opscope.adapters.parts import OPERATORS
from opscope.adapters.run_self_test import build_in_parts
from opscope.frontend.lifecycle import Lifecycle
from opscope.frontend.loader import Loader
from opscope.frontend.patching import Patch, Patching
from opscope.frontend.recording import Recording
from opscope.frontend.schedule import run_plan, transition_plans
from opscope.frontend.views import Views
from opscope.trace import Trace

# ---- the adapter ----------------------------------------------------------------------------

_SOURCE = toynet.FOLDER / "source.cc"
_SHARED = ("sources/streams",)  # of opscope's own sources


def _recipe(without) -> Recipe:
    return Recipe(
        what=f"the adapter for toynet {toynet.__version__}",
        sources=[_SOURCE, *source_files(_SHARED)],
        include=INCLUDE,
        system_include=[toynet.FOLDER],
        libraries=[toynet.FOLDER / "libtoynet.so", LIBRARIES / "libopscope_recorder.so.1"],
        link_flags=(*LINK_FLAGS, "-Wl,-z,nodelete"),
        advice="take toynet 1.0",
    )


def _make(compiler, place):
    library, found = build_in_parts({}, _recipe, compiler, place, "opscope_toynet")
    return library, {"toynet": toynet.__version__, "parts": found}


def _find() -> Adapter:
    source = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()
    version = toynet.__version__
    what = f"the adapter for toynet {version}"
    return Adapter(what=what, name=f"toynet-{version}", facts=(version, source), folders=_SHARED, make=_make)


_loader = Loader(_find, _core.load_source)

# ---- the skin -------------------------------------------------------------------------------


class _Action(Enum):
    REST = 0
    RECORD = 2
    LAST = 3


_PLANS = transition_plans(_Action, {"prepare": "_prepare", "start": "_start", "stop": "_stop", "ready": "_ready"})


class Profiler(Lifecycle, Views):
    """Takes what ``toynet.Profiler`` takes, and opscope's own options (``opscope.frontend.options``). All threads."""

    _front_end = "opscope_toynet"

    def __init__(self, *, skip=0, record=None, on_ready=None, inner=False, **own_options):
        self._take_own_options(**own_options)
        self.profiler = None
        self._on_ready, self._flags, self._number = on_ready, ["inner"] if inner else [], 0
        self._plan = _core.Schedule(
            wait=0, warmup=0, active=record or 1, repeat=1 if record else 0, skip_first=skip, skip_first_wait=0
        )
        self._is_endless = record is None
        self._action = self._action_at(0)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, traceback):
        self._session.exception_leaves(kind)
        self.stop()

    def start(self):
        self._begin(lambda: self._move(_Action.REST, self._action))

    def step(self):
        self._number += 1
        before, self._action = self._action, self._action_at(self._number)
        if self._session.is_started:
            self._session.step()
            self._move(before, self._action)

    def stop(self):
        self._finish(lambda: self._move(self._action, None))

    def table(self):
        """The original's layout."""
        rows = sorted(self.trace.summary(), key=lambda row: -row["total_with_recursion_ns"])
        lines = [f"{row['name']:10} {row['count']:5} {row['total_with_recursion_ns'] / 1e3:6.0f}us" for row in rows]
        return "\n".join(["op         calls    total", *lines])

    def _action_at(self, step):
        action = _Action(self._plan.at(step))
        return _Action.RECORD if self._is_endless and action is _Action.LAST else action

    def _move(self, before, following):
        run_plan(self, _PLANS.get((before, following), ()))

    def _prepare(self):
        sources = [(_loader.source(), self._flags)]
        self.profiler = Recording(
            self._session,
            max_bytes=self.max_bytes,
            at_cap=self.at_cap,
            record_to=self.record_to or "",
            native_threads="attached",
            sources=sources,
        )

    def _start(self):
        self.profiler.start()

    def _stop(self):
        self.profiler.stop()

    def _ready(self):
        if self._on_ready:
            self._on_ready(self)


_patching = Patching("opscope_toynet.patch()", left_alone=("toynet", "opscope", "opscope_toynet"))


def patch() -> Patch:
    """Makes ``toynet`` hand out this Profiler."""
    return _patching.apply(replacements=[(toynet, {"Profiler": Profiler})])


# ---- the self-test, a process of its own ----------------------------------------------------


def _operators(source) -> str:
    recording = _core.Recording(sources=[(source, ["inner"])], native_threads="attached")
    recording.start()
    toynet.run("conv")
    recording.stop()
    names = [row["name"] for row in Trace(recording.trace()).summary()]
    return "" if sorted(names) == ["conv", "matmul", "pad"] else f"it recorded {names}"


if __name__ == "__main__":
    sys.exit(self_test.main({OPERATORS: _operators}, _core.load_source, lambda: None))
