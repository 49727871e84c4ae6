# SPDX-License-Identifier: Apache-2.0
"""Scopes: a named block of the program and, on request, every module, function and method of tensors."""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps

from megengine.core._imperative_rt import core2
from megengine.module import Module
from megengine.traced_module.module_tracer import Patcher, module_tracer


@contextmanager
def scope(name):
    """A range with this name around the block, on the track of the interpreter and on that of the worker."""
    core2.push_scope(name)
    try:
        yield
    finally:
        core2.pop_scope(name)


def open_all_scopes() -> Patcher:
    """Makes scopes of all functions, methods of tensors and modules of MegEngine, until the result's ``__exit__``."""
    patcher = Patcher(_wrapped_function)
    patcher.patch_method(Module, "__call__", _wrapped_call)
    return patcher


def _in_scope(name: str, kind: str, call, args, kwargs):
    core2.push_scope_with_type(name, kind)
    try:
        return call(*args, **kwargs)
    finally:
        core2.pop_scope_with_type(name, kind)


def _wrapped_function(original):
    @wraps(original)
    def wrapped(*args, **kwargs):
        method = _method_name(args[0], wrapped) if args else None
        if method is None:
            return _in_scope(original.__name__, "functional", original, args, kwargs)
        return _in_scope(f"tensor.{method}", "tensor_method", original, args, kwargs)

    return wrapped


def _method_name(owner, function) -> str | None:
    """The name of this function as an attribute of a tensor or of a class of tensors."""
    kind = owner if isinstance(owner, type) else type(owner)
    if not issubclass(kind, core2.Tensor):
        return None
    return next((name for cls in kind.mro() for name, value in cls.__dict__.items() if value is function), None)


def _wrapped_call(original):
    @wraps(original)
    def wrapped(*args, **kwargs):
        kind = type(args[0])
        if kind not in module_tracer._opaque_types:  # is_builtin() asks for the class of what it is given
            return original(*args, **kwargs)
        return _in_scope(kind.__name__, "module", original, args, kwargs)

    return wrapped
