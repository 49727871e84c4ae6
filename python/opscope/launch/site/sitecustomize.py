# SPDX-License-Identifier: Apache-2.0
# Python runs this file at its start because `opscope run` has put its folder first on PYTHONPATH. It starts the watcher
# and then runs the sitecustomize that Python would have run. Its folder stays on PYTHONPATH, so that children are
# recorded, and leaves sys.path, so that the program sees its own path. Any Python may come here: the syntax is old.
import os as _os
import sys as _sys

_folder = _os.path.dirname(_os.path.abspath(__file__))
try:
    import _opscope_watch

    _opscope_watch.start(_folder)
except Exception:  # the program goes on without a recording
    pass
_sys.path[:] = [_entry for _entry in _sys.path if _os.path.abspath(_entry) != _folder]
_sys.path_importer_cache.pop(_folder, None)
# The next sitecustomize takes this module's name. Without another one this import fails as that of a missing module,
# which Python's `site` expects.
_sys.modules.pop("sitecustomize", None)
import sitecustomize
