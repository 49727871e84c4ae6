# SPDX-License-Identifier: Apache-2.0
"""opscope inside the tools that people work with: trainers, notebooks, pytest. Each module imports its host."""
