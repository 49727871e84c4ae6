# SPDX-License-Identifier: Apache-2.0
"""``OpscopeProfiler``, a profiler for the ``Trainer`` of Lightning: ``lightning.pytorch`` or ``pytorch_lightning``.

Both packages have a base class of their own. ``OpscopeProfiler`` of this module derives from that of the package which
is imported already, else of the one that is installed; ``lightning`` comes first. ``profiler_of("pytorch_lightning")``
chooses.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from typing import Any

from ..frontend.framework import require
from ._lightning_actions import Actions

HOSTS = {"lightning": "lightning.pytorch", "pytorch_lightning": "pytorch_lightning"}  # package -> module of Trainer


@functools.cache
def profiler_of(host: str) -> type:
    """The class ``OpscopeProfiler`` for one package: "lightning" or "pytorch_lightning".

    ValueError for another name, ModuleNotFoundError if the package is not installed.

        Trainer(profiler=profiler_of("pytorch_lightning")("traces"))
    """
    if host not in HOSTS:
        raise ValueError(f"host must be 'lightning' or 'pytorch_lightning', not {host!r}")
    require(host, f"opscope.integrations.lightning needs the package {host}: `pip install {host.replace('_', '-')}`")
    base = importlib.import_module(f"{HOSTS[host]}.profilers").Profiler

    class OpscopeProfiler(Actions, base):
        __doc__, __qualname__ = Actions.__doc__, "OpscopeProfiler"

        def __reduce_ex__(self, protocol):
            if type(self) is not OpscopeProfiler:
                return super().__reduce_ex__(protocol)
            return _unpickled, (host,), self.__dict__  # for strategies that spawn processes

    return OpscopeProfiler


def _unpickled(host: str) -> Any:
    kind = profiler_of(host)
    return kind.__new__(kind)


def _present_host() -> str:
    imported = [host for host, module in HOSTS.items() if module in sys.modules]
    installed = [host for host in HOSTS if not imported and importlib.util.find_spec(host) is not None]
    return [*imported, *installed, "lightning"][0]


def __getattr__(name: str) -> Any:
    if name != "OpscopeProfiler":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return profiler_of(_present_host())
