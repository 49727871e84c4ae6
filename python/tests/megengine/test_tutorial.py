# SPDX-License-Identifier: Apache-2.0
"""MegEngine's tutorial does what it says when it is followed to the letter."""

import pytest
from tutorial import follow

pytestmark = pytest.mark.framework("megengine")


def test_the_tutorial_of_megengine(tmp_path):
    assert follow("megengine.md", tmp_path) >= 5
