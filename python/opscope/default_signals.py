# SPDX-License-Identifier: Apache-2.0
"""Signals of the programs of this package."""

import _signal as signal  # the package's enumerations take as long to import as the engine does


def use_default_signals() -> None:
    """Default signal handlers, as in a native program: Ctrl-C and a closed pipe end the process at once.

    Python's handlers would run only after the engine returns. An ignored SIGINT stays ignored: a shell ignores it for a
    program in the background.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
