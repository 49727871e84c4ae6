# SPDX-License-Identifier: Apache-2.0
"""``report`` of opscope.megengine's Profiler and its frame in notebooks: the numbers are those of ``summary``."""

from reported_pages import check_about, check_answers, check_numbers, run


def test_pages_have_the_numbers_of_the_summary_and_wrong_uses_get_a_sentence(tmp_path):
    answers = run("megengine", tmp_path)
    check_numbers("megengine", tmp_path)
    check_about("megengine", tmp_path)
    check_answers(answers)
