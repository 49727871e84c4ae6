# SPDX-License-Identifier: Apache-2.0
"""The part of ``opscope run`` inside the processes of the recorded program, which needs no changes.

``site/sitecustomize.py`` runs at the start of every Python; ``site/_opscope_watch.py`` waits for the import of a
framework. Then ``process.py`` begins a ``Recorder`` for it (``recorder.py``), which starts and stops windows as the
``Plan`` says (``plan.py``) through the front end of the framework (``torch_program.py`` and so on).
"""
