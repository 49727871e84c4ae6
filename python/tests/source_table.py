# SPDX-License-Identifier: Apache-2.0
"""Source of include/opscope/source.h for ctypes; needs no framework."""

import ctypes


class Source(ctypes.Structure):
    pass


Source._fields_ = [
    ("abi", ctypes.c_uint32),
    ("flag_count", ctypes.c_uint32),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_void_p),
    (
        "start",
        ctypes.CFUNCTYPE(
            ctypes.c_void_p, ctypes.POINTER(Source), ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_char_p)
        ),
    ),
    ("stop", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("pause", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_bool)),
    ("thread_number", ctypes.CFUNCTYPE(ctypes.c_uint64)),
    ("failures", ctypes.CFUNCTYPE(ctypes.c_uint64)),
    ("own_cost", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_uint32)),
    ("deliver", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
