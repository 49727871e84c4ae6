# SPDX-License-Identifier: Apache-2.0
"""What the front ends share: they put a framework's names, defaults, messages and layouts over these. Imports no
framework; what happens between two steps, and in which states a recording can be, is the engine's alone (Session)."""
