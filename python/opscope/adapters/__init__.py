# SPDX-License-Identifier: Apache-2.0
"""Adapters: the small libraries that record a framework, one per build of the framework.

The engine depends on no framework. An adapter depends on the layouts of one build of one: the package
carries those that were built with it, and the sources, from which one for any other build is compiled
once, into a private cache. Nothing here imports a framework.

    installed.py        finds installed frameworks by their files
    adapter.py          one that is compiled: its key, its entry in the cache, how it comes there
    cache.py            the private folder, its lock, what makes an entry valid
    compiler.py         which C++ compiler there is
    build.py            compiles a library
    parts.py            the parts of an adapter, and which of them fit
    run_self_test.py    tests a library before its first use, part by part
    self_test.py        the process in which it is tested
    packaged_test_results.py  what is known of one that the package carries

One framework each: torch_build.py, torch_adapter.py, torch_self_test.py; python_calls.py, python_self_test.py.
"""

from .errors import AdapterMissing

__all__ = ["AdapterMissing"]
