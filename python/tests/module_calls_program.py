# SPDX-License-Identifier: Apache-2.0
"""As calls_program.py: programs that record calls of modules alone."""

import os

from calls_program import MODULES_ALONE, Module, Window, fail, leaf, main


def modules(path, functions=()):
    first, second = Module(), Module()
    window = Window(path, flags=0, code=Module.__call__.__code__, functions=functions).start()
    first(lambda: second(lambda: leaf("x")))
    second()
    try:
        first(lambda: fail(0))
    except ValueError:
        pass
    first = second = None
    for _ in range(3):  # one address, three objects
        Module()()
    return window.stop()


def modules_by_function(path):
    return modules(path, MODULES_ALONE["functions"])


def modules_by_name(path):
    module, keep = Module(), Module.__call__
    window = Window(path, **MODULES_ALONE).start()
    module.__call__(lambda: keep(module, lambda: keep(self=module)))
    module.inner(lambda: leaf("x"))  # the program calls it, not a module
    window.stop()
    module()
    return Module.__call__ is keep


def modules_at_start(path):
    """Windows that begin and end within modules."""
    first, second = (Window(path + name, **MODULES_ALONE) for name in ("", ".second"))

    def within():
        Module()(second.start)
        Module()()
        replaced.append(first.stop())
        Module()()

    replaced = []
    first.start()
    Module()(within)
    Module()()
    replaced.append(second.stop())
    Module()()
    return replaced


def modules_of_greenlets(path):
    try:
        from greenlet import greenlet
    except ImportError:
        return "no greenlet"
    window = Window(path, **MODULES_ALONE).start()
    one = greenlet(lambda: Module()(lambda: other.switch()))
    other = greenlet(lambda: Module()(lambda: one.switch()))
    one.switch()
    other.switch()
    return window.stop()


def modules_and_a_fork(path):
    window = Window(path, **MODULES_ALONE).start()
    Module()()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            Module()()
            again = Window(path + ".child", **MODULES_ALONE).start()
            Module()()
            again.stop()
            window.source.contents.stop(window.session)  # the parent's
            Module()()
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    Module()()
    window.stop()
    return status


if __name__ == "__main__":
    main(globals())
