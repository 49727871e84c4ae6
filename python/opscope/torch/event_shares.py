# SPDX-License-Identifier: Apache-2.0
"""Shares of the total time as texts, which torch's table stores in the rows that it prints: ``self_cpu_percent``,
``total_cpu_percent`` and, with a device, ``total_device_percent``.
"""

from __future__ import annotations

from torch.autograd import DeviceType

_DEVICES_OF_TOTAL = (DeviceType.CUDA, DeviceType.PrivateUse1, DeviceType.MTIA, DeviceType.XPU)


def set_shares(rows, *, row_limit: int, top_level_only: bool) -> None:
    """Sets the attributes of the rows that a table with these arguments prints."""
    total = sum(row.self_cpu_time_total for row in rows)
    has_device = any(row.self_device_time_total > 0 for row in rows)
    device_total = sum(row.self_device_time_total for row in rows if _is_of_total(row)) if has_device else 0
    count = 0
    for row in rows:
        if count == row_limit:
            break
        if top_level_only and row.cpu_parent is not None:
            continue
        count += 1
        row.self_cpu_percent = _share(row.self_cpu_time_total, total)
        row.total_cpu_percent = 0 if row.is_async else _share(row.cpu_time_total, total)
        if has_device:
            row.total_device_percent = _share(row.self_device_time_total, device_total)


def _is_of_total(row) -> bool:
    if row.device_type == DeviceType.CPU:
        return row.is_legacy
    return row.device_type in _DEVICES_OF_TOTAL and not row.is_user_annotation


def _share(time: float, total: float) -> str:
    return "NaN" if total == 0 else f"{time * 100.0 / total:.2f}%"
