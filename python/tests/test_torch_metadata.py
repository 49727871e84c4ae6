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
