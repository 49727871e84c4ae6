# SPDX-License-Identifier: Apache-2.0
"""Prints the folder of the torch package that this Python would import, if it has C++ headers; else nothing.

It is found as an import finds it: in site-packages, those of the system that a virtual environment shares, the user's,
and wherever a .pth file leads. Nothing of it is imported. FindInstalledTorch.cmake runs this.
"""

import importlib.util
import os
import sys

del sys.path[0]  # the folder of this file
spec = importlib.util.find_spec("torch")
for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
    if os.path.exists(os.path.join(folder, "include", "ATen", "record_function.h")):
        print(os.path.abspath(folder), end="")
        break
