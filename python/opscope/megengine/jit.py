# SPDX-License-Identifier: Apache-2.0
"""``megengine.jit.trace`` with a better error message; opscope reads its profile unchanged."""

from . import import_megengine  # isort: skip  # noqa: F401  first: says what to do without MegEngine

import json

from megengine.jit import trace as _original

__all__ = ["trace"]


class trace(_original):
    """MegEngine's class: with ``profiling=True`` it measures each operator of the compiled graph."""

    def get_profile(self):
        """The profile of the last call, in the JSON form that ``opscope analyze-megengine`` and ``opscope.read``
        accept. TypeError before the first call.
        """
        text = self._trace.get_profile()
        if text is None:
            raise TypeError(f"there is no profile: {self._why_none()}")
        return json.loads(text)

    def _why_none(self) -> str:
        if not self._trace.profile:
            return "the function was traced without profiling=True"
        return (
            "the first call traces, the second one compiles and notes; where all operators are computed on the host "
            "(a few elements) nothing runs that could be noted"
        )
