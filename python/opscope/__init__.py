# SPDX-License-Identifier: Apache-2.0
"""opscope: a performance profiler for deep-learning programs.

``opscope.open`` reads a trace of any format that opscope knows; ``opscope.torch`` stands in for
``torch.profiler``. Importing this package imports no framework and no NumPy.
"""

from opscope._core import Error
from opscope._version import __version__
from opscope.table import Strings, Table, TextColumn
from opscope.trace import ExportWarning, Trace, merge, open, read

__all__ = ["Error", "ExportWarning", "Strings", "Table", "TextColumn", "Trace", "__version__", "merge", "open", "read"]
