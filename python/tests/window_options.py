# SPDX-License-Identifier: Apache-2.0
"""WindowOptions of include/opscope/recorder_abi.h for ctypes; needs no framework."""

import ctypes


class WindowOptions(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_uint32),
        ("at_cap", ctypes.c_uint32),
        ("native_threads", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("max_bytes", ctypes.c_uint64),
        ("metadata_json", ctypes.c_char_p),
        ("thread_number", ctypes.c_void_p),
        ("record_to", ctypes.c_char_p),
    ]
