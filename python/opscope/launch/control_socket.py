# SPDX-License-Identifier: Apache-2.0
"""The socket of a process in the folder of ``OPSCOPE_CONTROL``, and the clients that have connected to it.

Only this user can connect (mode 0600 in a folder 0700), and the kernel says who has connected (SO_PEERCRED). A client
has one second for one message of at most 4096 bytes. Nothing blocks: a client that does not read is closed.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
import time

from .control_folder import MAX_BYTES, ControlFolder
from .control_message import answer
from .own_descriptor import OwnDescriptor, copy_above_standard_streams

MAX_CLIENTS = 8
MESSAGE_SECONDS = 1.0


class Client:
    """A connection from a command. It sends one request, and gets lines until the request is done."""

    def __init__(self, connection: socket.socket, peer_process: int) -> None:
        self._connection = connection
        self.descriptor = connection.fileno()
        self._own = OwnDescriptor(self.descriptor)
        self.peer_process = peer_process
        self.deadline = time.monotonic() + MESSAGE_SECONDS  # for its message
        self._received = b""

    def read(self) -> bytes | None:
        """The complete message, without its line end; None while it is incomplete. EOFError: the client has closed the
        connection, or has sent more than one message.
        """
        if not self._own.is_ours():
            raise EOFError
        try:
            received = self._connection.recv(MAX_BYTES + 1)
        except BlockingIOError:
            return None
        except OSError as error:
            raise EOFError from error
        if not received:
            raise EOFError
        self._received += received
        line, end, more = self._received.partition(b"\n")
        if len(line) >= MAX_BYTES or more:
            raise EOFError
        return line if end else None

    def send(self, line: bytes) -> bool:
        """Sends a line. False: the client does not read."""
        try:
            return self._own.is_ours() and self._connection.send(line, socket.MSG_NOSIGNAL) == len(line)
        except OSError:
            return False

    def close(self, *, for_both_sides: bool = True) -> None:
        """Shuts the connection down, so that the client sees its end even if a forked child has it too. A forked child
        itself calls this with ``for_both_sides`` False, which leaves the connection to the parent.
        """
        if for_both_sides and self._own.is_ours():
            try:
                self._connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # the client has gone
                pass
        self._own.close()
        self._connection.detach()


class ControlSocket:
    """The listening socket. OSError if it cannot be made."""

    def __init__(self, folder: ControlFolder, name: str) -> None:
        self._folder, self._name = folder, name
        self._socket = _above_standard_streams(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC))
        try:
            os.fchmod(self._socket.fileno(), 0o600)  # bind gives this mode to the file
            self._file = self._listen()
        except BaseException:
            self._socket.close()
            raise
        self.descriptor = self._socket.fileno()
        self._own = OwnDescriptor(self.descriptor)

    def _listen(self) -> tuple[int, int] | None:
        """Creates the socket file when clients can connect to it. Returns its identity."""
        path, part = f"{self._folder.link}/{self._name}", self._name + ".new"  # an address has at most 108 bytes
        if self._folder.identity_of(self._name) is not None and not self._is_left_over(path):
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE), self._name)
        self._folder.remove(part)
        self._socket.bind(path + ".new")
        self._socket.listen(MAX_CLIENTS)
        made = self._folder.identity_of(part)
        os.rename(part, self._name, src_dir_fd=self._folder.descriptor, dst_dir_fd=self._folder.descriptor)
        return made

    def _is_left_over(self, path: str) -> bool:
        """Whether the name belongs to a socket without a listener, left by an earlier process with our id."""
        facts = os.stat(self._name, dir_fd=self._folder.descriptor, follow_symlinks=False)
        if not stat.S_ISSOCK(facts.st_mode) or facts.st_uid != os.geteuid():
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) as tried:
            return tried.connect_ex(path) == errno.ECONNREFUSED

    def is_open(self) -> bool:
        """Whether the descriptor is still that of this socket: the program may have closed it."""
        return self._own.is_ours()

    def accept(self) -> Client | None:
        """The next client; None: no client waits. PermissionError: the client is of another user. Other OSErrors: no
        descriptor is free.
        """
        try:
            accepted, _ = self._socket.accept()
        except (BlockingIOError, ConnectionError):  # the client has gone
            return None
        connection = _above_standard_streams(accepted)
        try:
            process, user, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if user != os.geteuid():
                raise PermissionError(f"the user {user} has connected")
            return Client(connection, process)
        except BaseException:
            connection.close()
            raise

    def close(self, *, with_file: bool) -> None:
        """``with_file``: this process ends; otherwise it is a forked child, and the file is the parent's."""
        self._own.close()
        self._socket.detach()
        if with_file and self._file is not None and self._folder.identity_of(self._name) == self._file:
            self._folder.remove(self._name)


def _above_standard_streams(made: socket.socket) -> socket.socket:
    """A non-blocking copy of the socket with a descriptor above 2. Closes the old descriptor."""
    with made:
        copy = copy_above_standard_streams(made.fileno())
        moved = socket.socket(made.family, made.type, made.proto, copy)
    moved.setblocking(False)
    return moved


def refuse(client: Client) -> None:
    """Answers a client beyond the limit, and closes its connection."""
    client.send(answer(error=f"{MAX_CLIENTS} clients are connected"))
    client.close()
