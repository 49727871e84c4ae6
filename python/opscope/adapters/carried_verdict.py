# SPDX-License-Identifier: Apache-2.0
"""What a self-test has shown of an adapter that the package carries.

Its note tells where the framework that it is for was at hand when the package was built. Of one that was built from
headers alone nobody knows: the first program that records with it has it tried, and what that shows stays in the cache.
"""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..log import tell
from . import adapter as adapters
from . import cache, parts
from .adapter import Adapter
from .errors import CacheUnusable, CompilationFailed, NothingTried
from .trial import try_library


@functools.cache
def _kept(folder: Path, library: Path) -> Path:
    """Where the cache has the note; it goes with the bytes of the library."""
    digest = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
    return folder / f"carried-{digest}.json"


def known_parts(adapter: Adapter) -> dict[str, str] | None:
    """Why each part was left out, "" where it holds; None: it was not tried. Tries nothing; REQUIRES: it is carried."""
    if (told := parts.read_parts(adapter.carried)) is not None:
        return told
    try:
        kept = _kept(adapter.entry_folder(), adapter.carried)
        if any(cache.complaint(folder) for folder in (kept.parent.parent, kept.parent)):
            return None
    except (OSError, CacheUnusable):
        return None
    return parts.read_parts(kept)


def parts_of(adapter: Adapter) -> dict[str, str] | None:
    """As above, tried now where it was not; None where that cannot be done."""
    if (known := known_parts(adapter)) is not None:
        return known
    try:
        return _tried(adapter)
    except NothingTried as error:  # nothing is kept: the next program tries again
        return {parts.OPERATORS: str(error)}


def _tried(adapter: Adapter) -> dict[str, str] | None:
    what = adapter.what.replace("the adapter", "the carried adapter")

    def attempt(place: Path) -> dict[str, str] | None:
        try:
            return try_library(adapter.parts, what, adapter.carried, place, adapter.self_test)
        except NothingTried:
            raise
        except CompilationFailed as error:
            return {parts.OPERATORS: str(error)}

    try:
        note = _kept(adapter.entry_folder(), adapter.carried)
        return _kept_or_found(adapter, note, what, attempt)
    except (OSError, CacheUnusable) as error:
        tell("info", f"what a test of {what} shows cannot be kept: {error}")
        if not adapter.must_be_tried:
            return None
    with tempfile.TemporaryDirectory() as place:
        return attempt(Path(place))


def _kept_or_found(
    adapter: Adapter, note: Path, what: str, attempt: Callable[[Path], dict[str, str] | None]
) -> dict[str, str] | None:
    """What the note says of each part, or ``attempt`` in a folder finds, which is noted then.

    Of many processes one tries and the others wait. CacheUnusable, OSError: there is no place for the note.
    """
    cache.make_private(note.parent.parent)
    cache.make_private(note.parent)
    with cache.lock(note.parent, limit_s=adapters.WAIT_LIMIT_S, waiting_for=f"it tests {what}") as is_locked:
        if (known := known_parts(adapter)) is not None:  # by another process meanwhile
            return known
        with cache.working_folder(note.parent, is_locked=is_locked) as place:
            found = attempt(place)
            if found is not None:
                made = place / "note.json"
                made.write_text(json.dumps({"parts": found}) + "\n")
                made.rename(note)
            return found
