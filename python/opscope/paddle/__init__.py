# SPDX-License-Identifier: Apache-2.0
"""Paddle's events in opscope's recordings."""
