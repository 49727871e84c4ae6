# SPDX-License-Identifier: Apache-2.0
"""``prof.report`` and the frames of notebooks of real programs, under opscope.torch and opscope.paddle: the numbers are
those of ``summary``, and wrong uses get one sentence. megengine/test_reported_pages.py does the same with MegEngine.
"""

import pytest
from reported_pages import check_about, check_answers, check_numbers, run

FRAMEWORKS = [pytest.param(name, marks=pytest.mark.framework(name)) for name in ("torch", "paddle")]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_pages_have_the_numbers_of_the_summary_and_wrong_uses_get_a_sentence(name, tmp_path):
    answers = run(name, tmp_path)
    check_numbers(name, tmp_path)
    check_about(name, tmp_path)
    check_answers(answers)
