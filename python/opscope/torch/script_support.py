# SPDX-License-Identifier: Apache-2.0
"""Ranges in TorchScript: the compiler of torch.jit.script takes a class of ours for torch's own.

It compiles the source of a class, and ours has none that it could: it asks each class under which name it knows it,
and is told the name of torch's, which is compiled by then.
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
    """Lets TorchScript treat the one class as the other."""
    ours._jit_override_qualname = _ScriptName(ours, torchs)
