# SPDX-License-Identifier: Apache-2.0
"""As calls_program.py, for programs that tell from where they called, as Python itself says it."""

import sys

from calls_program import ALL_CALLS, Window, main

PLACES = 8
lines = []


def told():
    """Notes the line from which it was called."""
    lines.append(sys._getframe(1).f_lineno)


def tell(_):
    told()


def generate():
    told()
    yield 1
    told()
    yield from (told() for _ in range(2))


class Callable:
    def __call__(self):
        told()


def body():
    told()
    str(
        repr(
            told(),
        )
    )
    any(map(tell, range(1)))
    for _ in generate():
        pass
    [told() for _ in range(2)]
    sorted([1, 2], key=lambda each: told() or each)
    Callable()()
    try:
        told(1)
    except TypeError:
        told()


def places(path):
    window = Window(path, flags=ALL_CALLS | PLACES).start()
    body()
    window.stop()
    return lines


def places_of_two(path):
    """Another window hears the same calls, and wants no places."""
    other = Window(path + ".other").start()
    window = Window(path, flags=ALL_CALLS | PLACES).start()
    body()
    window.stop()
    other.stop()
    return lines


def places_of_open(path):
    """Calls that began before the window come from where their callers stand when it begins."""

    def inner():
        window = Window(path, flags=ALL_CALLS | PLACES).start()
        told()
        return window

    def outer():
        told()
        window = inner()
        return window

    outer().stop()
    return lines


def places_unasked(path):
    window = Window(path, flags=PLACES).start()  # without the flag of all calls
    body()
    window.stop()
    return lines


if __name__ == "__main__":
    main(globals())
