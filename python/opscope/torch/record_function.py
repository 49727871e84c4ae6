# SPDX-License-Identifier: Apache-2.0
"""``record_function``: a labelled range of the program."""

from __future__ import annotations

import copy
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from .. import _core
from . import source
from .compile_support import compile_as
from .script_support import script_as

_Function = TypeVar("_Function", bound=Callable[..., Any])


class record_function(_core.torch.RangeBase):
    """Labels a block of code, or every call of a function::

        with record_function("forward"):
            y = model(x)

        @record_function("load")
        def load(): ...

        @record_function("fetch")
        async def fetch(): ...  # "fetch": what the caller awaits; "fetch (running)": what runs between suspensions

        @record_function("batches")
        def batches(): yield ...  # each step on its own, without what runs between the steps

    Every observer of torch sees the range, ``torch.profiler`` too, and it is in the graphs that torch makes. One
    object may be entered again while it is open and on several threads; a decorated function may call itself.
    """

    __slots__ = ("__weakref__",)

    def __call__(self, function: _Function) -> _Function:
        """Decorates a function; each call is a range of its own."""
        label, args = self.name, self.args
        # A subclass may have another constructor, and keep state: its object itself is entered, as under torch.
        is_plain = type(self) is record_function
        make = record_function if is_plain else lambda *_: self
        make_async = record_function if is_plain else lambda *_: copy.copy(self)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def labelled(*positional, **keywords):
                return await _awaited(make_async(label, args), function(*positional, **keywords))

        elif inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def labelled(*positional, **keywords):
                generator = function(*positional, **keywords)
                step, value = generator.asend, None
                while True:
                    try:
                        item = await _awaited(make_async(label, args), step(value))
                    except StopAsyncIteration:
                        return
                    try:
                        step, value = generator.asend, (yield item)
                    except GeneratorExit:
                        await _awaited(make_async(label, args), generator.aclose())
                        raise
                    except BaseException as raised:
                        step, value = generator.athrow, raised

        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def labelled(*positional, **keywords):
                return (yield from _stepped(function(*positional, **keywords), lambda: make(label, args)))

        else:

            @functools.wraps(function)
            def labelled(*positional, **keywords):
                with make(label, args):
                    return function(*positional, **keywords)

        return labelled

    def __reduce__(self):
        """A copy, and the range that a pickle makes, has not been entered."""
        return _remade, (type(self), self.name, self.args), getattr(self, "__dict__", None)

    def _call_end_callbacks_on_future(self, fut):
        """Ends the range when the future is done, instead of at the end of the block.

        Returns a future with the same outcome, which is done after the range has ended.
        """
        if not self.run_callbacks_on_exit:
            raise RuntimeError("_call_end_callbacks_on_future can only be called once.")
        if not isinstance(fut, torch._C.Future):
            raise RuntimeError(
                "profiler::_call_end_callbacks_on_jit_fut() Expected a value of type 'Future[t]' for argument 'y' but "
                f"instead found type '{type(fut).__name__}'."
            )
        handle = self._detach()
        if not isinstance(handle, int):
            return handle._call_end_callbacks_on_future(fut)  # range of torch's own class
        end = type(self)._end_detached

        def pass_on(done: torch.futures.Future):
            end(handle)
            return done.value()  # raises the future's exception, which becomes the result's

        return fut.then(pass_on)


def _remade(kind: type, name: str, args: str | None) -> record_function:
    """A range of the class, made without the constructor of a subclass."""
    made = kind.__new__(kind)
    record_function.__init__(made, name, args)
    return made


def _stepped(iterator, new_range):
    """As ``yield from iterator``, with a range of its own around each step."""
    step, value = iterator.send, None
    while True:
        with new_range():
            try:
                item = step(value)
            except StopIteration as stop:
                return stop.value
        try:
            step, value = iterator.send, (yield item)
        except GeneratorExit:
            with new_range():
                iterator.close()
            raise
        except BaseException as raised:
            step, value = iterator.throw, raised


@types.coroutine
def _awaited(whole, awaitable):
    """Awaits inside an asynchronous range; each part between two suspensions is a nested range."""
    whole._enter_async()
    try:
        return (yield from _stepped(awaitable.__await__(), lambda: record_function(f"{whole.name} (running)")))
    finally:
        whole.__exit__(None, None, None)


_torchs = torch.autograd.profiler.record_function
compile_as(record_function, _torchs)
script_as(record_function, _torchs)
_core.torch.set_original_range(_torchs)
source.load_ready_adapter()
