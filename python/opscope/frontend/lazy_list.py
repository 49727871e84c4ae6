# SPDX-License-Identifier: Apache-2.0
"""Lists that create their elements at the first access.

They are ``list`` instances, because programs check for that. Until the first access of an element the object has a
class whose methods fill it; then its class is changed to the plain one, and every later operation has the speed of a
list.
"""

from __future__ import annotations

import threading
from typing import Any

# All methods that read or write elements. Comparisons are among them: `[] == events` calls the subclass's method first.
_READS_ELEMENTS = (
    "__add__ __iadd__ __mul__ __imul__ __rmul__ __contains__ __iter__ __reversed__ __getitem__ __setitem__"
    " __delitem__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__ __sizeof__ __reduce__ __reduce_ex__"
    " append clear copy count extend index insert pop remove reverse sort"
).split()


_filling_lock = threading.RLock()


def fill(list_: list) -> None:
    """Fills an unfilled list; does nothing to another one. Other threads wait until the list is filled.

    If the creation of an element fails, the list stays unfilled. If it runs Python code that looks at the list, that
    code finds it empty.
    """
    if not hasattr(type(list_), "_filled_class"):
        return
    with _filling_lock:
        filled = getattr(type(list_), "_filled_class", None)
        if filled is None or hasattr(list_, "_is_being_filled"):
            return
        list_._is_being_filled = True
        try:
            list_._columns.fill(list_)
        finally:
            del list_._is_being_filled
        list_.__class__ = filled


def unfilled_kind(filled: type[list]) -> type[list]:
    """The class for unfilled lists of the class `filled`, which ``unfill`` gives to an object."""

    class Unfilled(filled):
        """An unfilled list; filling changes its class, not its identity."""

        _filled_class = filled

        def __new__(cls, *args, **kwargs):
            # Programs create lists of the same class: type(events)(some_events).
            return filled(*args, **kwargs)

        def __len__(self) -> int:
            return len(self._columns)

        def __bool__(self) -> bool:
            return len(self._columns) > 0

        def __radd__(self, other):
            # list has no __radd__; this one wins over list.__add__ because our class is a subclass of list.
            if not isinstance(other, list):
                return NotImplemented
            fill(self)
            return other + self

        __hash__ = None

    for name in _READS_ELEMENTS:
        setattr(Unfilled, name, _filling(filled, name))
    Unfilled.__name__ = f"_Unfilled{filled.__name__}"
    Unfilled.__qualname__ = Unfilled.__name__
    return Unfilled


def _filling(filled: type[list], name: str):
    method = getattr(filled, name)

    def fill_first(self, *args, **kwargs):
        fill(self)
        for other in args:
            # list reads the memory of the other operand, without calling its methods.
            if isinstance(other, list):
                fill(other)
        return method(self, *args, **kwargs)

    fill_first.__name__ = name
    fill_first.__qualname__ = f"{filled.__name__}.{name}"
    fill_first.__doc__ = method.__doc__
    return fill_first


def unfill(made: list, kind: type[list], columns: Any) -> list:
    """Turns an empty list into an unfilled one of the class `kind`. ``columns`` has ``len`` and ``fill(list)``."""
    made._columns = columns
    made.__class__ = kind
    return made
