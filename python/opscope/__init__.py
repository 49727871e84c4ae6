# SPDX-License-Identifier: Apache-2.0
"""opscope: a performance profiler for deep-learning programs.

``opscope.open`` reads a trace of any format that opscope knows; ``opscope.torch`` replaces ``torch.profiler``.
Importing this package imports no framework and no NumPy. The engine and the modules that read traces are imported at
their first use, so that the command line, and a pytest run without recordings, start quickly.
"""

import sys

if sys.version_info >= (3, 13) or "sysconfig" in sys.modules:  # older versions have no free-threaded build
    import sysconfig

    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise ImportError(
            "opscope does not support the free-threaded build of Python (its extension and its source of Python's "
            "calls need the global lock); use the usual build of the same version"
        )

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from opscope._core import Error
    from opscope._version import __version__
    from opscope.comparison import TraceDiff
    from opscope.job_answers import Job, collect, job
    from opscope.limits import TraceCheck
    from opscope.sql import SqlRows
    from opscope.table import ResultRows, Strings, Table, TextColumn
    from opscope.trace import ExportWarning, Trace, diff, merge, open, read

_MODULE_OF = {
    "Error": "_core",
    "ExportWarning": "trace",
    "Job": "job_answers",
    "ResultRows": "table",
    "SqlRows": "sql",
    "Strings": "table",
    "Table": "table",
    "TextColumn": "table",
    "Trace": "trace",
    "TraceCheck": "limits",
    "TraceDiff": "comparison",
    "__version__": "_version",
    "collect": "job_answers",
    "diff": "trace",
    "job": "job_answers",
    "merge": "trace",
    "open": "trace",
    "read": "trace",
}

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


def __getattr__(name: str):
    submodule = _MODULE_OF.get(name, name if name in ("comparison", "spark", "sql", "table", "trace") else None)
    if submodule is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"opscope.{submodule}")
    if name not in _MODULE_OF:
        return module  # used as `opscope.sql`, without an import of that module
    return globals().setdefault(name, getattr(module, name))


def load_ipython_extension(shell) -> None:
    """IPython calls this for ``%load_ext opscope``: adds the cell magic ``%%opscope``."""
    import importlib

    importlib.import_module("opscope.integrations.notebook").load(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "sys", "sysconfig"})
