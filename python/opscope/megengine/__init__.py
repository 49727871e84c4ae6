# SPDX-License-Identifier: Apache-2.0
"""What stands in for MegEngine's profiler. Importing it does not import MegEngine."""
