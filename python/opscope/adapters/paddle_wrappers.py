# SPDX-License-Identifier: Apache-2.0
"""Records operators by wrapping Paddle's Python functions: the last fallback, if no other capture mode works.

The wrappers see the operators that Paddle's Python calls by name (``paddle._C_ops``) in dynamic mode, and the shapes of
their arguments. They do not see operators called from C++ (``a + b``, the backward pass, compiled programs) or anything
inside operators.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable
from pathlib import Path

import paddle
from paddle import _C_ops

from .. import _core

_OPERATOR = 0  # TracerEventType.Operator
_BUILTIN = type(len)
# `PADDLE_API Tensor matmul(const Tensor& x, const Tensor& y, bool transpose_x = false);`
_DECLARATION = re.compile(r"^PADDLE_API [^(]*?\b(\w+)\((.*)\);$", re.MULTILINE)


class Wrappers:
    """The fallback recorder that python/bindings/paddle/fallback_recorder.h calls."""

    def __init__(self, source: _core.paddle.PaddleSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._recordings = 0
        self._has_shapes = False  # some recording wants shapes
        self._lost = 0
        self._originals: dict[str, Callable] = {}

    def start(self, shapes: bool, memory: bool) -> str:
        """Begins one more recording; the first one installs the wrappers. Memory is not recorded."""
        with self._lock:
            self._has_shapes = shapes or (self._recordings > 0 and self._has_shapes)
            if self._recordings == 0:
                _core.paddle.set_range_source(self._source)
                self._wrap()
            self._recordings += 1
        return ""

    def stop(self) -> None:
        """Ends a recording; the last one restores the functions. RuntimeError: shapes were lost."""
        with self._lock:
            self._recordings -= 1
            if self._recordings == 0:
                for name, original in self._originals.items():
                    setattr(_C_ops, name, original)
                self._originals = {}
            lost, self._lost = self._lost, 0
        if lost:
            raise RuntimeError(f"the shapes of {lost} operators could not be read")

    def _wrap(self) -> None:
        for name, original in vars(_C_ops).items():
            if isinstance(original, _BUILTIN) and not name.startswith("__"):
                self._originals[name] = original
        for name, original in self._originals.items():
            setattr(_C_ops, name, self._wrapped(name, original))

    def _wrapped(self, name: str, original: Callable) -> Callable:
        label = f"{name} dygraph"
        make_range, is_dynamic, note = _core.paddle.Range, paddle.in_dynamic_mode, self._note

        @functools.wraps(original)
        def call(*arguments, **named):
            if not is_dynamic():
                return original(*arguments, **named)
            operator = make_range(label, _OPERATOR)
            operator.begin()
            try:
                note(name, arguments, named)
                return original(*arguments, **named)
            finally:
                operator.end()

        return call

    def _note(self, operator: str, arguments: tuple, named: dict) -> None:
        if not self._has_shapes:
            return
        try:
            self._source.record_shapes(_shapes(operator, arguments, named))
        except Exception:  # any exception: the program must not see it
            self._lost += 1


def _shapes(operator: str, arguments: tuple, named: dict) -> list[tuple[str, list[list[int]]]]:
    """Shapes of the arguments that are tensors or lists of tensors, by the argument names of Paddle's headers."""
    names = _argument_names().get(operator, ())
    shapes = []
    for place, argument in enumerate(arguments):
        tensors = argument if isinstance(argument, (list, tuple)) else (argument,)
        found = [tensor.shape for tensor in tensors if isinstance(tensor, paddle.Tensor)]
        if found:
            shapes.append((names[place] if place < len(names) else str(place), found))
    shapes += [(name, [tensor.shape]) for name, tensor in named.items() if isinstance(tensor, paddle.Tensor)]
    return shapes


@functools.cache
def _argument_names() -> dict[str, tuple[str, ...]]:
    """Operator -> names of its arguments; empty where Paddle came without its headers."""
    header = Path(paddle.__file__).parent / "include/paddle/phi/api/include/api.h"
    try:
        text = header.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {name: _names_of(parameters) for name, parameters in _DECLARATION.findall(text)}


def _names_of(parameters: str) -> tuple[str, ...]:
    without_defaults = re.sub(r"=\s*(\{[^}]*\}|\"[^\"]*\"|[^,]*)", "", re.sub(r"<[^<>]*>", "", parameters))
    return tuple(parameter.split()[-1].lstrip("&*") for parameter in without_defaults.split(",") if parameter.split())
