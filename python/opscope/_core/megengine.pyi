# SPDX-License-Identifier: Apache-2.0
"""What opscope.megengine needs of opscope's engine."""

from collections.abc import Callable

from . import Source, Trace, _Path

class MegEngineSource(Source):
    """The loaded MegEngine source."""

    def free(self, callable: object, with_gil: bool = False) -> None: ...
    def take(self, callable: Callable[[str, str], None], with_gil: bool = False) -> str: ...
    @property
    def taken(self) -> int: ...

def load_source(path: _Path) -> MegEngineSource: ...
def read_dump(path: _Path, why: str) -> Trace: ...
