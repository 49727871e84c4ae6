# SPDX-License-Identifier: Apache-2.0
"""Results of the self-test for an adapter that the package carries.

If the framework was installed when the package was built, the results are in a note beside the library. An adapter that
was built from headers alone is untested: the first program that records with it runs the self-test, and the result is
stored in the cache.
"""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..log import log_message
from . import adapter as adapters
from . import cache, parts
from .adapter import Adapter
from .errors import CacheUnusable, CompilationFailed, NothingTested
from .run_self_test import try_library


@functools.cache
def _note_in_cache(folder: Path, library: Path) -> Path:
    """Path of the note in the cache; its name contains the hash of the library."""
    digest = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
    return folder / f"carried-{digest}.json"


def known_parts(adapter: Adapter) -> dict[str, str] | None:
    """Part -> why it does not work, "" if it does; None if untested. Runs no test. REQUIRES: the package carries it."""
    if (packaged := parts.read_parts(adapter.carried)) is not None:
        return packaged
    try:
        note = _note_in_cache(adapter.entry_folder(), adapter.carried)
        if any(cache.complaint(folder) for folder in (note.parent.parent, note.parent)):
            return None
    except (OSError, CacheUnusable):
        return None
    return parts.read_parts(note)


def parts_of(adapter: Adapter) -> dict[str, str] | None:
    """As known_parts(), but runs the self-test if there is no result; None where it cannot run."""
    if (known := known_parts(adapter)) is not None:
        return known
    try:
        return _test(adapter)
    except NothingTested as error:  # not stored: the next program tests again
        return {parts.OPERATORS: str(error)}


def _test(adapter: Adapter) -> dict[str, str] | None:
    what = adapter.what.replace("the adapter", "the carried adapter")

    def attempt(place: Path) -> dict[str, str] | None:
        try:
            return try_library(adapter.parts, what, adapter.carried, place, adapter.self_test)
        except NothingTested:
            raise
        except CompilationFailed as error:
            return {parts.OPERATORS: str(error)}

    try:
        note = _note_in_cache(adapter.entry_folder(), adapter.carried)
        return _stored_results(adapter, note, what, attempt)
    except (OSError, CacheUnusable) as error:
        log_message("info", f"the result of the test of {what} cannot be stored: {error}")
        if not adapter.must_be_tried:
            return None
    with tempfile.TemporaryDirectory() as place:
        return attempt(Path(place))


def _stored_results(
    adapter: Adapter, note: Path, what: str, attempt: Callable[[Path], dict[str, str] | None]
) -> dict[str, str] | None:
    """The results in the note; without a note, runs ``attempt`` in a temporary folder and stores its results.

    If several processes call this, one tests and the others wait. CacheUnusable, OSError: the note cannot be stored.
    """
    cache.make_private(note.parent.parent)
    cache.make_private(note.parent)
    with cache.lock(note.parent, limit_s=adapters.WAIT_LIMIT_S, waiting_for=f"it tests {what}") as is_locked:
        if (known := known_parts(adapter)) is not None:  # stored by another process meanwhile
            return known
        with cache.working_folder(note.parent, is_locked=is_locked) as place:
            found = attempt(place)
            if found is not None:
                made = place / "note.json"
                made.write_text(json.dumps({"parts": found}) + "\n")
                made.rename(note)
            return found
