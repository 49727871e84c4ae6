# SPDX-License-Identifier: Apache-2.0
"""Metadata of a trace that a program gives: what is refused, and that it is refused at once."""

import pytest

pytestmark = pytest.mark.framework("torch")


@pytest.mark.parametrize("value", ["NaN", "[Infinity]", '{"a": -Infinity}', "[" * 5000])
def test_metadata_that_json_readers_refuse_is_refused(value):
    import opscope.torch

    prof = opscope.torch.profile()
    for add in (prof.add_metadata_json, prof.preset_metadata_json):
        with pytest.raises(ValueError, match="metadata 'k' is not valid JSON"):
            add("k", value)


def test_metadata_of_wrong_types_is_refused_when_it_is_given():
    """Not by the next start."""
    import opscope.torch

    prof = opscope.torch.profile()
    for add in (prof.add_metadata, prof.add_metadata_json, prof.preset_metadata_json):
        with pytest.raises(TypeError):
            add(5, "1")
    for add in (prof.add_metadata_json, prof.preset_metadata_json):
        with pytest.raises(TypeError):
            add("k", b"1")
    prof.add_metadata_json("k", "1" * 5000)
    with prof:
        pass


def test_lone_surrogates_in_metadata_become_escapes(tmp_path):
    """As bytes they would be no UTF-8, and no member of the recording would be readable."""
    import opscope.torch

    prof = opscope.torch.profile()
    prof.preset_metadata_json("early", '"\udcff"')
    prof.start()
    prof.add_metadata_json("late", '["\ud800", "é"]')
    prof.stop()
    prof.save(tmp_path / "run.opscope")
    metadata = opscope.open(tmp_path / "run.opscope").metadata
    rows = dict(zip(metadata.text("key"), metadata.text("json"), strict=True))
    assert (rows["early"], rows["late"]) == (r'"\udcff"', r'["\ud800", "é"]')
