# SPDX-License-Identifier: Apache-2.0
"""The messages of ``opscope ps`` and ``opscope record``: read strictly, because any process may send anything.

A message is one JSON object on one line of at most 4096 bytes; docs/reference/control_protocol.md lists its members. An
unknown member, a duplicate one or another version is an error, so that both sides agree on the meaning of a message.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .control_folder import MAX_BYTES
from .demand import MAX_STEPS

VERSION = 1
_NUMBER = re.compile(r"[0-9a-f]{16}")
_MAX_STEP = 1 << 53
_MAX_TEXT = 1000


class BadMessage(ValueError):
    """A malformed message. The text describes the fault and does not quote the message."""


@dataclass(frozen=True)
class Request:
    """A request of ``ps`` or ``record``."""

    command: str  # "status" or "record"
    number: str = ""  # 16 hexadecimal digits
    first_step: int = 0
    steps: int = 0
    host: str = ""  # in a file: machine of the command, whose own processes get requests by socket
    ranks: tuple[tuple[int, int], ...] = ()  # in a file: (first, last) of each range; -1: processes without a rank

    def is_for(self, rank: int) -> bool:
        """Whether a request in a file is for the processes of this rank."""
        return self.command == "status" or any(first <= rank <= last for first, last in self.ranks)


_OF_COMMAND = {"status": set(), "record": {"request", "first_step", "steps"}}
_OF_FILE = {"status": {"request", "host"}, "record": {"host", "ranks"}}


def read_request(message: bytes, *, is_file: bool = False) -> Request:
    """Parses a request from a socket or from ``request.json``. BadMessage: it is malformed."""
    given = _read_object(message)
    command = given.get("command")
    if type(given.get("version")) is not int or given["version"] != VERSION:
        raise BadMessage(f"unsupported version; the only one is {VERSION}")
    if not isinstance(command, str) or command not in _OF_COMMAND:
        raise BadMessage("unknown command")
    expected = {"version", "command"} | _OF_COMMAND[command] | (_OF_FILE[command] if is_file else set())
    if given.keys() != expected:
        raise BadMessage("missing or unexpected members")
    number = given.get("request", "")
    if "request" in given and not (isinstance(number, str) and _NUMBER.fullmatch(number)):
        raise BadMessage("request is not a number of 16 hexadecimal digits")
    host = given.get("host", "")
    if not isinstance(host, str) or len(host) > 255:
        raise BadMessage("invalid host name")
    return Request(
        command=command,
        number=number,
        first_step=_integer(given, "first_step", 0, _MAX_STEP),
        steps=_integer(given, "steps", 1, MAX_STEPS),
        host=host,
        ranks=_ranks(given.get("ranks", [])),
    )


def _read_object(message: bytes) -> dict[str, Any]:
    if len(message) > MAX_BYTES:
        raise BadMessage(f"longer than {MAX_BYTES} bytes")
    try:
        given = json.loads(message.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_constant)
    except BadMessage:
        raise
    except (ValueError, RecursionError) as error:
        raise BadMessage("not a JSON object") from error
    if not isinstance(given, dict):
        raise BadMessage("not a JSON object")
    return given


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BadMessage("duplicate member")
    return members


def _no_constant(_: str) -> None:
    raise BadMessage("not a JSON object")


def _integer(given: dict[str, Any], name: str, least: int, most: int) -> int:
    if name not in given:
        return 0
    value = given[name]
    if type(value) is not int or not least <= value <= most:
        raise BadMessage(f"{name} is not a whole number from {least} to {most}")
    return value


def _ranks(given: Any) -> tuple[tuple[int, int], ...]:
    if not isinstance(given, list):
        raise BadMessage("ranks is not a list of pairs")
    for pair in given:
        if not isinstance(pair, list) or len(pair) != 2 or any(type(rank) is not int for rank in pair):
            raise BadMessage("ranks is not a list of pairs")
    return tuple((first, last) for first, last in given)


def _as_ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()[:200]


def answer(**members: Any) -> bytes:
    """Formats an answer as one line. Cuts long texts, so that the line has at most 4096 bytes."""
    texts = {name: value[:_MAX_TEXT] if isinstance(value, str) else value for name, value in members.items()}
    line = json.dumps({"version": VERSION, **texts}, separators=(",", ":")).encode() + b"\n"
    if len(line) > MAX_BYTES:  # characters that take six bytes or more in JSON
        texts = {name: _as_ascii(value) if isinstance(value, str) else value for name, value in texts.items()}
        line = json.dumps({"version": VERSION, **texts}, separators=(",", ":")).encode() + b"\n"
    return line
