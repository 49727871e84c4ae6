# SPDX-License-Identifier: Apache-2.0
"""opscope: a performance profiler for deep-learning programs.

``opscope.open`` reads a trace of any format that opscope knows; ``opscope.torch`` stands in for
``torch.profiler``. Importing this package imports no framework and no NumPy.
"""

import sysconfig

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError(
        "opscope does not support the free-threaded build of Python (its extension and its source of Python's calls "
        "need the global lock); use the usual build of the same version"
    )

from opscope._core import Error
from opscope._version import __version__
from opscope.comparison import TraceDiff
from opscope.job_answers import Job, collect, job
from opscope.limits import TraceCheck
from opscope.sql import SqlRows
from opscope.table import ResultRows, Strings, Table, TextColumn
from opscope.trace import ExportWarning, Trace, diff, merge, open, read

__all__ = [
    "Error",
    "ExportWarning",
    "Job",
    "ResultRows",
    "SqlRows",
    "Strings",
    "Table",
    "TextColumn",
    "Trace",
    "TraceCheck",
    "TraceDiff",
    "__version__",
    "collect",
    "diff",
    "job",
    "merge",
    "open",
    "read",
]
