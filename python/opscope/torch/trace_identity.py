# SPDX-License-Identifier: Apache-2.0
"""Ids of a profile's recordings, and the metadata of its traces."""

from __future__ import annotations

from ..frontend import metadata
from ..user_warning import warn_user


class TraceIdentity:
    """Mixin for a profile whose ``profiler`` is its recording, or None."""

    def set_custom_trace_id_callback(self, callback) -> None:
        """Sets the function that returns the id of each following cycle."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self):
        """The id of the current or last cycle; None before the first."""
        return None if self.profiler is None else self.profiler.trace_id

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text to the metadata of the current recording or, before the first one, of that."""
        if not isinstance(value, str):
            value.replace('"', "'")  # Python's error text, as in torch
            raise TypeError(f"metadata {key!r} is not a text: {value!r}")
        self._add_metadata(_checked_key(key), metadata.json_text(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """As add_metadata, with a value that is JSON text."""
        self._add_metadata(_checked_key(key), metadata.checked_json(key, value))

    def _add_metadata(self, key: str, value: str) -> None:
        self._trace_metadata[key] = value
        if self.profiler is None:
            self._metadata_for_next[key] = value
        elif not self.profiler.add_metadata(key, value) and not self.profiler.is_inherited:
            warn_user(f"metadata {key!r} came after the recording was read and is not part of it")

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Adds an entry (JSON text) to the metadata of every recording that starts from now on."""
        self.preset_metadata[_checked_key(key)] = metadata.checked_json(key, value)


def _checked_key(key: str) -> str:
    # Checked when it is given: otherwise the start of the next recording would fail.
    if not isinstance(key, str):
        raise TypeError(f"the name of metadata must be a text, not {key!r}")
    return key
