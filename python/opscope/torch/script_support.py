# SPDX-License-Identifier: Apache-2.0
"""Makes torch.jit.script treat our range class like torch's own.

The compiler compiles the source of a class, and ours has none that it accepts. It asks each class for its qualified
name first; ours returns the name of torch's class, which is compiled already.
"""

from __future__ import annotations

import torch


class _ScriptName:
    def __init__(self, ours: type, torchs: type) -> None:
        self._ours, self._torchs = ours, torchs

    def __get__(self, _object, kind: type) -> str:
        if kind is not self._ours:
            raise AttributeError(f"TorchScript knows no subclass of {self._ours.__name__}")
        nowhere = torch._jit_internal.fake_range()
        return torch.jit._script._recursive_compile_class(self._torchs, nowhere).qualified_name()


def script_as(ours: type, torchs: type) -> None:
    """Makes TorchScript treat the class `ours` like torch's class `torchs`."""
    ours._jit_override_qualname = _ScriptName(ours, torchs)
