# SPDX-License-Identifier: Apache-2.0
"""Removes from our classes and functions what the installed torch lacks (features.py). They are written with all names
and arguments that any release has.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from .features import absent, qualified_name


def as_in_torch(owner: str, absent: Callable = absent) -> Callable:
    """Decorator for the class or function that replaces this one of torch's."""

    def shape(ours):
        attributes, arguments = absent(owner)
        if not inspect.isclass(ours):
            return _without(ours, arguments[""]) if "" in arguments else ours
        _name_as_torch(ours, owner)
        for kind in ours.__mro__[:-1]:
            if kind.__module__.startswith("torch."):
                continue  # a base class for isinstance() alone, which other code uses
            for name in attributes & vars(kind).keys():
                delattr(kind, name)
        for method, names in arguments.items():
            written = vars(ours).get(method or "__init__")
            if written is not None:
                setattr(ours, method or "__init__", _without(written, names))
        return ours

    return shape


def _name_as_torch(ours: type, owner: str) -> None:
    """Renames methods, because Python's TypeErrors begin with the class of the method, and one class is several parts
    here.
    """
    named = set()
    for kind in ours.__mro__[:-1]:
        for name, method in vars(kind).items():
            is_ours = inspect.isfunction(method) and method.__module__.startswith(f"{__package__}.")
            # a method that a derived class redefines is a different method in torch, too
            if is_ours and name not in named:
                method.__qualname__ = qualified_name(owner, name) or method.__qualname__
        named.update(vars(kind))


def as_written(function: Callable) -> Callable:
    """The function with all arguments, for our own code."""
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
    """A function with exactly these parameters that does nothing: wrong arguments raise Python's own TypeErrors."""
    bare = [p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None) for p in parameters]
    names: dict = {}
    exec(f"def refuse{inspect.Signature(bare)}: pass", names)
    names["refuse"].__qualname__ = function.__qualname__
    return names["refuse"]
