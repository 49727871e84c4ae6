# SPDX-License-Identifier: Apache-2.0
"""Makes torch.compile treat ranges and profiles of opscope like torch's own.

torch's compiler recognises the classes `record_function` and `profile` by identity: it removes them or, with
``torch._dynamo.config.capture_profiler_record_function``, makes them operators of the graph. Any other class would
break the graph, so our classes are registered as equivalents of torch's. The registration happens when a program
imports the compiler, because importing it takes seconds; compilers of unknown versions are not changed.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from types import ModuleType

import torch.autograd.profiler
import torch.profiler

from ..log import log_message

# module that converts Python objects for the compiler; imports the rest of it
_BUILDER = "torch._dynamo.variables.builder"
_CONTEXTS = "torch._dynamo.variables.torch"
_RANGE = torch.autograd.profiler.record_function
_equivalents: dict[type, type] = {}  # class of opscope -> class of torch


def compile_as(ours: type, torchs: type) -> None:
    """Makes torch.compile treat the class `ours` like torch's class `torchs`."""
    _equivalents[ours] = torchs
    if _BUILDER in sys.modules:
        _register(sys.modules[_BUILDER])
    elif not any(isinstance(finder, _OnImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OnImport())


def _register(builder: ModuleType) -> None:
    """Registers all equivalents with the compiler, whose module is `builder`."""
    try:
        contexts = sys.modules[_CONTEXTS]
        contexts.supported_ctx_manager_classes.update(dict.fromkeys([*_equivalents, *_equivalents.values()]))
        _support_calls(contexts.TorchCtxManagerClassVariable)
        _support_objects(builder, builder.VariableBuilder, builder.RecordFunctionVariable)
    except (AttributeError, KeyError) as error:
        log_message("info", f"torch's compiler is not as expected ({error!r}): ranges of opscope may break its graphs")


def _support_calls(kind: type) -> None:
    """Supports ``record_function("x")`` and ``profile()`` in a compiled function."""
    call = kind.call_function
    if getattr(call, "_is_opscopes", False):
        return

    def call_function(self, *arguments, **keywords):
        recognised = _recognised_class(self.value) if isinstance(self.value, type) else None
        return call(self if recognised is None else kind(recognised), *arguments, **keywords)

    call_function._is_opscopes = True
    kind.call_function = call_function


def _recognised_class(called: type) -> type | None:
    """The class for which the compiler handles a call of `called`; None if `called` is neither ours nor torch's.

    The compiler compares a called class with what ``torch.profiler`` names at that moment. ``patch()`` and
    ``torch.profiler = opscope.torch`` put our classes there; then the compiler no longer recognises torch's own.
    """
    known = {*_equivalents, *_equivalents.values()}
    if called not in known:
        return None
    torchs = _equivalents.get(called, called)
    named = torch.profiler.record_function if torchs is _RANGE else torch.profiler.profile
    return named if named in known else torchs


def _support_objects(builder: ModuleType, kind: type, as_range: type) -> None:
    """Supports a range that was created outside and is entered in a compiled function."""
    wrap = kind._wrap
    if getattr(wrap, "_is_opscopes", False):
        return

    def wrap_ranges(self, value):
        if _equivalents.get(type(value), type(value)) is not _RANGE:
            return wrap(self, value)
        self.install_guards(builder.GuardBuilder.ID_MATCH)
        return as_range(value)

    wrap_ranges._is_opscopes = True
    kind._wrap = wrap_ranges


class _OnImport(importlib.abc.MetaPathFinder):
    """An import hook: changes the compiler's module, once, right after its import."""

    def find_spec(self, name, path=None, target=None):
        if name != _BUILDER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            _register(module)

        spec.loader.exec_module = exec_module
        return spec
