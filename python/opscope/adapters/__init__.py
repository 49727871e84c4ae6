# SPDX-License-Identifier: Apache-2.0
"""Adapters: the small libraries that record a framework, one per build of the framework.

The engine depends on no framework. An adapter depends on the layouts of one build of one: the package
carries those that were built with it, and the sources, from which one for any other build is compiled
once, into a private cache. Nothing here imports a framework.

    framework.py     which build of torch is installed, read from its files
    compiler.py      which C++ compiler there is
    cache.py         the private folder, its lock, what makes an entry valid
    torch_adapter.py the adapter that fits a build of torch: carried, cached, or compiled now
    build.py         compiles it and has it tried
    carried_verdict.py  what is known of one that the package carries
    parts.py         the parts of an adapter, and which of them fit this torch
    self_test.py     a process of its own that loads an adapter and tries its parts
"""

from .errors import AdapterMissing

__all__ = ["AdapterMissing"]
