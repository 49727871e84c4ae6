# SPDX-License-Identifier: Apache-2.0
"""The error of an adapter that there is not and cannot be made."""

from __future__ import annotations


class AdapterMissing(ImportError):
    """There is no adapter for the installed framework; the text says why and what to do."""


class CacheUnusable(AdapterMissing):
    """The cache folder cannot be used; the text names ``OPSCOPE_CACHE``."""


class CompilerMissing(AdapterMissing):
    """There is no C++ compiler; the text has the line that installs one."""


class CompilationFailed(AdapterMissing):
    """The compiler refused, or what it made does not work."""


class NothingTried(CompilationFailed):
    """The self-test ended before it tried anything: that says nothing of the library, and is not kept."""
