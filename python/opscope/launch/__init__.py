# SPDX-License-Identifier: Apache-2.0
"""What ``opscope run`` does inside the processes of a program that it records, which knows nothing of it.

``site/sitecustomize.py`` runs at the start of every Python; ``site/_opscope_watch.py`` waits for the import of a
framework. Then ``process.py`` begins a ``Recorder`` for it (``recorder.py``), which starts and stops windows as the
``Plan`` says (``plan.py``) through the front end of the framework (``torch_program.py`` and so on).
"""
