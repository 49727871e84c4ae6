# SPDX-License-Identifier: Apache-2.0
"""Code that the front ends for torch, Paddle and MegEngine share. A front end adds its framework's names, defaults,
messages and file layouts. Imports no framework. The states of a recording, and what happens between two steps, are in
C++ (Session).
"""
