# SPDX-License-Identifier: Apache-2.0
"""Executes cells as a notebook does, in a kernel of this interpreter."""

import sys
import tempfile

import pytest


def execute(cells, folder, *, allow_errors=False):
    """Executes the sources of code cells in one kernel, which runs in `folder`. Returns the executed cells."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        resources = {"metadata": {"path": str(folder)}}
        # What a cell prints arrives in several messages where the kernel is slow; a notebook shows it as one text.
        options = {"timeout": None, "allow_errors": allow_errors, "coalesce_streams": True}
        client = nbclient.NotebookClient(notebook, resources=resources, **options)
        # The kernel of this interpreter, whatever is installed for the user under the name "python3".
        client.create_kernel_manager()
        client.km.kernel_spec.argv[0] = sys.executable
        with tempfile.TemporaryDirectory() as sockets:  # names of sockets are short
            client.km.transport, client.km.ip = "ipc", f"{sockets}/kernel"
            client.execute()
    return notebook.cells
