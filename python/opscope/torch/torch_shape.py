# SPDX-License-Identifier: Apache-2.0
"""Gives classes and functions of ours the shape of the imported torch's: without what that one lacks (features.py).

They are written with everything that any release has.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from .features import absent


def as_in_torch(owner: str, absent: Callable = absent) -> Callable:
    """Decorates the class, or the function, that stands for this one of torch's."""

    def shape(ours):
        attributes, arguments = absent(owner)
        if not inspect.isclass(ours):
            return _without(ours, arguments[""]) if "" in arguments else ours
        for kind in ours.__mro__[:-1]:
            for name in attributes & vars(kind).keys():
                delattr(kind, name)
        for method, names in arguments.items():
            written = vars(ours).get(method or "__init__")
            if written is not None:
                setattr(ours, method or "__init__", _without(written, names))
        return ours

    return shape


def as_written(function: Callable) -> Callable:
    """The function with all its arguments, for callers of our own."""
    return getattr(function, "_as_written", function)


def _without(function: Callable, names: frozenset[str]) -> Callable:
    signature = inspect.signature(function)
    kept = [parameter for name, parameter in signature.parameters.items() if name not in names]
    shown = signature.replace(parameters=kept)
    if len(kept) == len(signature.parameters):
        return function

    @functools.wraps(function)
    def taking(*args, **kwargs):
        try:
            bound = shown.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__qualname__}() {error}") from None
        return function(**bound.arguments)

    taking.__signature__ = shown
    taking._as_written = function
    return taking
