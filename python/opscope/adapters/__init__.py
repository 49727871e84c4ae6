# SPDX-License-Identifier: Apache-2.0
"""Adapters: the small libraries that record a framework, one per build of the framework.

The engine depends on no framework; an adapter depends on the class layouts of one build. The package carries adapters
for the frameworks that were present when it was built, and the sources, from which an adapter for any other build is
compiled once, into a private cache. No module here imports a framework at its own import.

    installed.py        finds installed frameworks by their files
    adapter.py          one adapter, and its entry in the cache
    cache.py            the private folder, its lock, and the rule by which an entry is valid
    compiler.py         finds the C++ compiler
    build.py            compiles a library
    parts.py            the parts of an adapter, and the results of their tests
    run_self_test.py    tests a library before its first use, part by part
    self_test.py        the process in which it is tested
    packaged_test_results.py  test results of an adapter that the package carries

The other modules are for one framework each: torch_build.py, torch_adapter.py, torch_self_test.py, and so on.
"""

from .errors import AdapterMissing

__all__ = ["AdapterMissing"]
