# SPDX-License-Identifier: Apache-2.0
"""Talks to the control socket of a process byte by byte, for the tests of what it accepts."""

import contextlib
import json
import os
import socket

LIMIT_S = 60


def sockets(folder):
    return sorted(folder.glob("*.sock"))


def connect(path):
    """A short path: an address has at most 108 bytes."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(LIMIT_S)
    folder = os.open(path.parent, os.O_PATH)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
    return connection


def exchange(path, message):
    """Sends bytes, and returns what comes until the other side closes, which it may do with some of them unread."""
    received = b""
    with connect(path) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(message)
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                received += part
    return received


def ask(path, **members):
    """The answers to a message, as objects."""
    message = json.dumps({"version": 1, **members}).encode() + b"\n"
    return [json.loads(line) for line in exchange(path, message).splitlines()]


def status(path):
    (answer,) = ask(path, command="status")
    return answer


def record(path, first_step, steps, request="0123456789abcdef"):
    """The last answer."""
    return ask(path, command="record", request=request, first_step=first_step, steps=steps)[-1]


def log_of(folder):
    return [json.loads(line) for line in (folder / "control.log").read_text().splitlines()]
