# SPDX-License-Identifier: Apache-2.0
"""Sizes in bytes as people write them: numbers, and texts with a unit, as on the command line."""

from __future__ import annotations

import re

_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def byte_count(size: int | str, name: str) -> int:
    """The bytes that an argument of this name asks for: ``64 << 20``, ``"64M"``, ``"1.5 GiB"``.

    >>> byte_count("64M", "max_bytes")
    67108864
    """
    if isinstance(size, str):
        read = _TEXT.fullmatch(size)
        number = float(read[1]) * _UNITS[read[2].upper()] if read else 0
    elif isinstance(size, int) or (isinstance(size, float) and size.is_integer()):
        number = size
    elif isinstance(size, float):
        number = 0
    else:
        raise TypeError(f"{name} must be a number of bytes or a text such as '64M', not {type(size).__name__}")
    if not 1 <= number < 1 << 63:
        raise ValueError(
            f"{name} must be a positive number of bytes, or a text such as '64M' (K, M, G, T: powers of 1024),"
            f" not {size!r}"
        )
    return int(number)
