# SPDX-License-Identifier: Apache-2.0
"""Errors of finding, compiling and testing an adapter."""

from __future__ import annotations


class AdapterMissing(ImportError):
    """There is no adapter for the installed framework. The text says why, and what to do."""


class CacheUnusable(AdapterMissing):
    """The cache folder cannot be used; the text names ``OPSCOPE_CACHE``."""


class CompilerMissing(AdapterMissing):
    """There is no C++ compiler; the text has the line that installs one."""


class CompilationFailed(AdapterMissing):
    """The compiler failed, or the compiled library does not work."""


class NothingTested(CompilationFailed):
    """The self-test ended before it tested anything: this says nothing about the library, and is not stored."""
