# SPDX-License-Identifier: Apache-2.0
"""Gives classes and functions of ours the shape of the imported torch's: without what that one lacks (features.py).

They are written with everything that any release has.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from .features import absent, qualified_name


def as_in_torch(owner: str, absent: Callable = absent) -> Callable:
    """Decorates the class, or the function, that stands for this one of torch's."""

    def shape(ours):
        attributes, arguments = absent(owner)
        if not inspect.isclass(ours):
            return _without(ours, arguments[""]) if "" in arguments else ours
        _name_as_torch(ours, owner)
        for kind in ours.__mro__[:-1]:
            for name in attributes & vars(kind).keys():
                delattr(kind, name)
        for method, names in arguments.items():
            written = vars(ours).get(method or "__init__")
            if written is not None:
                setattr(ours, method or "__init__", _without(written, names))
        return ours

    return shape


def _name_as_torch(ours: type, owner: str) -> None:
    """Python's own TypeErrors begin with the name of the class that has the method, here one of several parts."""
    named = set()
    for kind in ours.__mro__[:-1]:
        for name, method in vars(kind).items():
            is_ours = inspect.isfunction(method) and method.__module__.startswith(f"{__package__}.")
            if is_ours and name not in named:  # what a derived class has anew is another method of torch's, too
                method.__qualname__ = qualified_name(owner, name) or method.__qualname__
        named.update(vars(kind))


def as_written(function: Callable) -> Callable:
    """The function with all its arguments, for callers of our own."""
    return getattr(function, "_as_written", function)


def _without(function: Callable, names: frozenset[str]) -> Callable:
    signature = inspect.signature(function)
    kept = [parameter for name, parameter in signature.parameters.items() if name not in names]
    shown = signature.replace(parameters=kept)
    if len(kept) == len(signature.parameters):
        return function
    refuse = _taking_nothing_else(function, kept)

    @functools.wraps(function)
    def taking(*args, **kwargs):
        try:
            bound = shown.bind(*args, **kwargs)
        except TypeError:
            refuse(*args, **kwargs)
            raise
        return function(**bound.arguments)

    taking.__signature__ = shown
    taking._as_written = function
    return taking


def _taking_nothing_else(function: Callable, parameters: list[inspect.Parameter]) -> Callable:
    """A function that takes just these and does nothing: wrong arguments are Python's own TypeErrors, in its words."""
    bare = [p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None) for p in parameters]
    names: dict = {}
    exec(f"def refuse{inspect.Signature(bare)}: pass", names)
    names["refuse"].__qualname__ = function.__qualname__
    return names["refuse"]
