# SPDX-License-Identifier: Apache-2.0
"""Serves ``opscope ps`` and ``opscope record`` in this process, on a thread that waits for their requests.

The thread wakes for a client, at the end of a window, and once a second to read ``request.json``, through which
commands on other machines send requests. It takes about 0.2 ms of processor time a second and nothing per operator
(bench/on_demand.py). It is not a ``threading.Thread``, so that the program does not see it among its own threads, and
it handles no signals. It writes each request, served or refused, to ``control.log``.

Thread rule: the program's threads call ``close`` and ``forget``, the control thread all other methods. Windows may end
on any thread.
"""

from __future__ import annotations

import _thread
import json
import os
import select
import signal
import threading
import time
from collections.abc import Mapping

from .control_folder import REQUEST, ControlFolder
from .control_message import BadMessage, Request, answer, read_request
from .control_socket import MAX_CLIENTS, Client, ControlSocket, refuse
from .demand import Demand
from .files import Files, host_in_names
from .own_descriptor import own_pipe
from .program import Program
from .recorder import Recorder

TICK_SECONDS = 1.0


class Control:
    """Answers requests to one process. OSError if the socket cannot be made; then no file is left."""

    def __init__(
        self,
        folder: ControlFolder,
        files: Files,
        recorders: Mapping[str, tuple[Program, Recorder]],
        why_not: Mapping[str, str],
    ) -> None:
        """``recorders`` and ``why_not`` by framework; frameworks that the program imports later are added to them."""
        self._folder, self._files, self._recorders, self._why_not = folder, files, recorders, why_not
        self._name = f"{host_in_names(files.host)}-{files.process}"
        self._clients: dict[int, Client] = {}
        self._waiting: dict[Demand, Client | None] = {}  # window -> client that gets the result; None: a file gets it
        self._ended: list[Demand] = []  # windows whose results are not sent yet
        self._lock = threading.RLock()  # guards the three above: the end of the program sends results too
        self._is_closed = False
        self._looked_at = 0.0
        self._last_failure = ""
        self._wake_end, self._wake = own_pipe()
        try:
            self._socket = ControlSocket(folder, self._name + ".sock")
            try:
                _thread.start_new_thread(self._run, ())
            except BaseException:  # a socket without its thread would let clients wait
                self._socket.close(with_file=True)
                raise
        except BaseException:
            self._wake.close()
            self._wake_end.close()
            raise

    # ---- the program's threads ------------------------------------------------------------------

    def close(self) -> None:
        """Sends the last results and removes the socket, before the process ends or becomes another program."""
        self._is_closed = True
        try:
            self._send_results()
        finally:
            self._socket.close(with_file=True)
            self._wake_up()

    def forget(self) -> None:
        """In a forked child: closes the parent's socket and connections, which stay the parent's."""
        self._is_closed = True
        for client in self._clients.values():
            client.close(for_both_sides=False)
        self._socket.close(with_file=False)
        self._wake.close()
        self._wake_end.close()

    # ---- the control thread ---------------------------------------------------------------------

    def _run(self) -> None:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            while not self._is_closed and self._is_open():
                try:
                    self._wait()
                except Exception as error:
                    self._log_failure(error)
                    time.sleep(TICK_SECONDS)  # no busy loop if each pass fails
        finally:
            self._end_service()

    def _log_failure(self, error: Exception) -> None:
        """Logs a failure, once if it repeats."""
        why_not = f"{type(error).__name__}: {error}"
        if why_not != self._last_failure:
            self._last_failure = why_not
            self._log(None, "", why_not)

    def _end_service(self) -> None:
        """Sends the last results, closes all connections and removes the socket, if ``close`` has not done so."""
        try:
            self._send_results()
        finally:
            with self._lock:
                clients, self._clients, self._waiting = self._clients, {}, {}
            for client in clients.values():
                client.close()
            if not self._is_closed:
                self._socket.close(with_file=True)

    def _is_open(self) -> bool:
        """Whether the program has closed none of the descriptors."""
        return self._socket.is_open() and self._folder.is_open() and self._wake_end.is_ours()

    def _wait(self) -> None:
        poll = select.poll()
        for descriptor in (self._socket.descriptor, self._wake_end.number, *self._clients):
            poll.register(descriptor, select.POLLIN)
        now = time.monotonic()
        until = min([self._looked_at + TICK_SECONDS, *(client.deadline for client in self._clients.values())])
        ready = poll.poll(max(0.0, until - now) * 1000 + 1)
        if self._is_closed or not self._is_open():
            return
        found = {descriptor for descriptor, _ in ready}
        if self._wake_end.number in found:
            os.read(self._wake_end.number, 4096)
        for client in list(self._clients.values()):
            if client.descriptor in found:
                self._read(client)
        self._send_results()
        now = time.monotonic()
        for client in list(self._clients.values()):
            if now >= client.deadline:
                self._log(client, "", "no message within a second")
                self._drop(client)
        if now >= self._looked_at + TICK_SECONDS:
            self._looked_at = now
            self._look_once_a_second()
        if self._socket.descriptor in found:
            self._accept()  # last, because it fails while the program has no free descriptor

    def _accept(self) -> None:
        try:
            client = self._socket.accept()
        except PermissionError as error:
            self._log(None, "", str(error))
            return
        if client is None:
            return
        if len(self._clients) >= MAX_CLIENTS:
            self._log(client, "", "too many clients")
            refuse(client)
            return
        with self._lock:
            self._clients[client.descriptor] = client

    def _read(self, client: Client) -> None:
        try:
            message = client.read()
            if message is None:
                return
            request = read_request(message)
        except EOFError:
            if client.deadline < float("inf"):
                self._log(client, "", "incomplete message")
            self._drop(client)
            return
        except BadMessage as error:
            self._log(client, "", str(error))
            client.send(answer(error=str(error)))
            self._drop(client)
            return
        try:
            self._serve(request, client)
        except Exception as error:  # without an answer the client would wait forever
            client.send(answer(error=f"{type(error).__name__}: {error}"))
            self._drop(client)
            raise

    def _serve(self, request: Request, client: Client) -> None:
        if request.command == "status":
            client.send(self._status())
            self._log(client, "status", "")
            self._drop(client)
            return
        client.deadline = float("inf")
        self._record(request, client)

    def _drop(self, client: Client) -> None:
        with self._lock:
            self._clients.pop(client.descriptor, None)
            self._waiting = {demand: waiting for demand, waiting in self._waiting.items() if waiting is not client}
        client.close()

    def _look_once_a_second(self) -> None:
        for _, recorder in list(self._recorders.values()):
            recorder.end_late_demand()
        try:
            message = self._folder.new_request()
            if message is None:
                return
            request = read_request(message, is_file=True)
        except (BadMessage, OSError) as error:
            self._log(None, REQUEST, str(error))
            return
        if request.host == self._files.host or not request.is_for(self._rank()):
            return
        if request.command == "record":
            self._record(request, None)
            return
        self._log(None, "status", "")
        self._send(None, self._status(request.number))

    # ---- requests -------------------------------------------------------------------------------

    def _chosen(self) -> tuple[str, Program | None, Recorder | None]:
        """The framework whose steps count: the one with the most steps so far."""
        found = [(name, program, recorder) for name, (program, recorder) in list(self._recorders.items())]
        if found:
            return max(found, key=lambda each: each[2].last_step)
        return next(iter(self._why_not), ""), None, None

    def _rank(self) -> int:
        _, program, _ = self._chosen()
        rank = None if program is None else program.rank()
        return self._files.rank if rank is None else rank

    def _status(self, number: str = "") -> bytes:
        framework, _, recorder = self._chosen()
        state, why_not = ("unavailable", self._why_not.get(framework, "")) if recorder is None else recorder.state()
        return answer(
            **({"request": number} if number else {}),
            rank=self._rank(),
            host=self._files.host,
            pid=self._files.process,
            framework=framework,
            last_step=0 if recorder is None else recorder.last_step,
            step_ns=0 if recorder is None else int(recorder.step_seconds * 1e9),
            state=state,
            why_not=why_not,
        )

    def _record(self, request: Request, client: Client | None) -> None:
        demand = Demand(request.number, request.first_step, request.steps, self._on_end)
        with self._lock:
            self._waiting[demand] = client
        framework, _, recorder = self._chosen()
        if recorder is None:
            demand.end("failed", self._why_not.get(framework, ""))
        else:
            recorder.demand(demand)
        if not demand.status:
            self._send(client, answer(request=request.number, status="waiting", file="", why_not=""))
            text = f"steps {request.first_step} to {request.first_step + request.steps - 1}"
            self._log(client, "record", "", request=request.number, what=text)

    def _on_end(self, demand: Demand) -> None:
        with self._lock:
            self._ended.append(demand)
        self._wake_up()

    def _wake_up(self) -> None:
        try:
            if self._wake.is_ours():
                os.write(self._wake.number, b"\0")
        except OSError:  # the pipe is full: the thread wakes anyway
            pass

    def _send_results(self) -> None:
        with self._lock:
            ended, self._ended = self._ended, []
            for demand in ended:
                is_waited_for = demand in self._waiting
                client = self._waiting.pop(demand, None)
                self._log(client, "record", demand.why_not, request=demand.request, what=demand.status)
                if is_waited_for:
                    result = {"status": demand.status, "file": demand.file, "why_not": demand.why_not}
                    self._send(client, answer(request=demand.request, **result))
                if client is not None:
                    self._drop(client)

    def _send(self, client: Client | None, line: bytes) -> None:
        if client is not None:
            if not client.send(line):
                self._drop(client)
            return
        try:
            self._folder.write(self._name + ".json", line)
        except OSError as error:
            self._log(None, "", str(error))

    def _log(self, client: Client | None, command: str, why_not: str, **more: str) -> None:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "host": self._files.host,
            "pid": self._files.process,
            "from_pid": None if client is None else client.peer_process,
            "command": command,
            **more,
            "why_not": why_not,
        }
        try:
            self._folder.append_to_log(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        except OSError:  # the disk is full, or a link stands in its place
            pass
