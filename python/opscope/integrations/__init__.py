# SPDX-License-Identifier: Apache-2.0
"""Integrations into trainers, notebooks and pytest. Each module imports its host."""
