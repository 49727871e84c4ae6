# SPDX-License-Identifier: Apache-2.0
"""`opscope view`: whom the server answers and what, driven over raw sockets."""

import json
import os
import random
import re
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest
from built import built
from waiting import wait_for

PROGRAM = str(built("src/cli/opscope-native"))
SPANS = [("outer", 0, 100), ("inner", 40, 20), ("Mark ReLU", 70, 10)]


def write_trace(path, spans=SPANS):
    events = [
        {"ph": "X", "pid": 1, "tid": 2, "name": name, "cat": category, "ts": start / 1000, "dur": duration / 1000}
        for name, start, duration in spans
        for category in ["user_annotation" if name.startswith("ProfilerStep#") else "cpu_op"]
    ]
    path.write_text(json.dumps({"traceEvents": events}))
    return str(path)


class Server:
    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen(
            [PROGRAM, "view", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Shells start programs in the background with SIGINT ignored, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            **options,
        )
        self.address = self.process.stdout.readline().strip()
        head, _, self.token = self.address.partition("/#token=")
        assert head.startswith("http://127.0.0.1:"), self.process.communicate()
        self.port = int(head.rpartition(":")[2])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def raw(self, data):
        """All that the server answers to these bytes, until it closes."""
        with self.connect() as client:
            try:
                client.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            received = b""
            try:
                while more := client.recv(1 << 16):
                    received += more
            except ConnectionResetError:
                pass
            return received

    def head(self, method="GET", target="/", token=True, host=None, **headers):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}"]
        if token:
            lines.append(f"Authorization: Bearer {self.token if token is True else token}")
        headers.setdefault("Connection", "close")
        return (
            "\r\n".join([*lines, *(f"{name.replace('_', '-')}: {text}" for name, text in headers.items())]) + "\r\n\r\n"
        ).encode()

    def ask(self, method="GET", target="/", body=None, **options):
        if body is not None:
            options["Content_Length"] = len(body)
        return parsed(self.raw(self.head(method, target, **options) + (body or b"")))

    def post(self, target, **members):
        status, _, body = self.ask("POST", target, json.dumps(members).encode())
        return status, json.loads(body)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=30)
        return self.process.returncode, output, errors


def parsed(received):
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    check_headers(headers)
    return int(status.split()[1]), headers, body


def check_headers(headers):
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    started = Server(write_trace(tmp_path_factory.mktemp("view") / "secret_name.json"))
    yield started
    started.process.kill()
    started.process.communicate()


def test_page_needs_no_token_and_says_nothing_of_the_trace(server):
    status, headers, page = server.ask(token=False)
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    assert b"secret_name" not in page and server.token.encode() not in page
    status, of_head, nothing = server.ask("HEAD", token=False)
    assert (status, nothing, of_head["Content-Length"]) == (200, b"", headers["Content-Length"])
    assert server.ask(token=False, host=f"localhost:{server.port}")[0] == 200


def test_checks_come_in_their_order(server):
    large = {"Content_Length": 2 << 20}
    wrong = {"host": "evil.example", "Origin": "http://evil.example", "token": "0" * 32}
    for method, target, options, status in [
        ("PUT", "/nowhere", wrong | large, 403),
        ("PUT", "/nowhere", {"Origin": "http://evil.example", "token": False} | large, 403),
        ("PUT", "/nowhere", {"token": False} | large, 405),
        ("BREW", "/", {"token": False}, 405),
        ("POST", "/nowhere", {"token": "0" * 32} | large, 403),
        ("POST", "/nowhere", large, 404),
        ("POST", "/api/search", large, 413),
        ("GET", "/api/files", {}, 200),
    ]:
        answered, _, body = server.ask(method, target, **options)
        assert answered == status, (method, target, options)
        assert status == 200 or json.loads(body)["error"].endswith(".")


def test_hosts_and_origins_of_others_are_refused(server):
    for host in [
        "evil.example",
        f"evil.example:{server.port}",
        "127.0.0.1",
        "localhost",
        f"[::1]:{server.port}",
        "127.0.0.1:1",
        f"127.0.0.1:{server.port}0",
        f"localhost.:{server.port}",
        f"127.1:{server.port}",
        f"2130706433:{server.port}",
        "x",
    ]:
        assert server.ask(host=host)[0] == 403, host
    assert parsed(server.raw(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"))[0] == 403
    assert parsed(server.raw(b"GET / HTTP/1.0\r\n\r\n"))[0] == 403
    twice = (
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n"
    )
    assert parsed(server.raw(twice.encode()))[0] == 403
    for origin in [
        "null",
        "http://evil.example",
        f"https://127.0.0.1:{server.port}",
        f"http://localhost:{server.port}",
        "http://127.0.0.1",
    ]:
        assert server.ask(Origin=origin)[0] == 403, origin
    assert server.ask(Origin=f"http://127.0.0.1:{server.port}")[0] == 200


def test_every_other_request_needs_the_token(server):
    for target in ["/api/files", "/api/data?file=0", "/nowhere", "/../etc/passwd", "//"]:
        for token in [False, "", "0" * 32, server.token[:-1], server.token + "0", server.token.upper() + "X"]:
            assert server.ask(target=target, token=token)[0] == 403
    assert server.ask(target=f"/api/files?token={server.token}", token=False)[0] == 403
    for target in ["/etc/passwd", "/../../etc/passwd", "/%2e%2e/etc/passwd", "/api/files/", "/API/files", "*"]:
        assert server.ask(target=target)[0] == 404
    assert server.ask(target="/api/files", Upgrade="websocket", Connection="Upgrade, close")[0] == 200


def test_bodies_are_bounded(server):
    assert server.ask("POST", "/api/search", b"{" + b" " * (1 << 20))[0] == 413
    assert server.ask("POST", "/api/search", b" " * (1 << 20))[0] == 400
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    chunked = server.head("POST", "/api/search", Transfer_Encoding="chunked")
    assert parsed(server.raw(chunked + 17 * chunk + b"0\r\n\r\n"))[0] == 413
    assert parsed(server.raw(chunked + b"zz\r\n"))[0] == 400
    assert parsed(server.raw(server.head("POST", "/api/search") + b" " * (2 << 20)))[0] == 411
    both = server.head("POST", "/api/search", Transfer_Encoding="chunked", Content_Length=3)
    assert parsed(server.raw(both + b"0\r\n\r\n"))[0] == 400
    body = json.dumps({"file": 0, "text": "inner"}).encode()
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    assert json.loads(parsed(server.raw(chunked + pieces))[2])["count"] == 1


def test_pipelined_requests_are_answered_in_order(server):
    alive = server.head(target="/api/ping", Connection="keep-alive")
    refused = server.head(target="/nowhere", Connection="keep-alive")
    received = server.raw(alive + refused + alive + server.head(target="/api/files"))
    assert re.findall(rb"HTTP/1\.1 (\d+) ", received) == [b"200", b"404", b"200", b"200"]


def test_silent_and_slow_clients_block_nobody(server):
    silent = [server.connect() for _ in range(50)]
    for client in silent[::2]:
        client.sendall(b"GET / HT")
    began = time.monotonic()
    assert server.ask(target="/api/files")[0] == 200
    assert time.monotonic() - began < 2
    threads = len(os.listdir(f"/proc/{server.process.pid}/task"))
    assert threads <= 4
    many = [server.connect() for _ in range(400)]
    assert server.ask(target="/api/files")[0] == 200
    for client in silent + many:
        client.close()


def test_fuzzed_requests_do_no_harm(server):
    generator = random.Random(7)
    whole = server.head(target="/api/span?file=0&row=1", Origin=f"http://127.0.0.1:{server.port}")
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(generator.randrange(1, 6)):
            at = generator.randrange(len(data))
            data[at : at + generator.randrange(3)] = generator.randbytes(generator.randrange(3))
        with server.connect() as client:
            client.sendall(bytes(data))
            client.shutdown(socket.SHUT_WR)
            received = client.recv(1 << 16)
            assert not received or received.startswith(b"HTTP/1.1 "), data
    assert server.ask(target="/api/files")[0] == 200


def test_answers(server):
    files = json.loads(server.ask(target="/api/files")[2])["files"]
    assert [entry["id"] for entry in files] == [0] and files[0]["name"].endswith("secret_name.json")
    document = json.loads(server.ask(target="/api/data?file=0")[2])
    assert document["schema"] == "opscope.web/1" and document["spans"] == 3
    base = document["clock"]["start_ns"]
    status, selection = server.post("/api/selection", file=0, range=[base + 50, base + 80])
    rows = {row["name"]: row for row in selection["rows"]}
    assert status == 200 and rows["inner"] == {
        "name": "inner",
        "count": 1,
        "total_with_recursion_ns": 10,
        "self_ns": 10,
    }
    assert (rows["outer"]["total_with_recursion_ns"], rows["outer"]["self_ns"]) == (30, 10)
    found = server.post("/api/search", file=0, text="relu", start=base, row=0)[1]
    assert found["count"] == 1 and found["next"]["start"] == base + 70 and found["previous"] == found["next"]
    assert server.post("/api/search", file=0, text="")[1]["count"] == 0
    window = server.post("/api/spans", file=0, range=[base, base + 100], width=1000)[1]
    assert window["timeline"]["kept"]["row"]["n"] == 3 and window["timeline"]["folded"]["spans"] == 0
    tracks = json.loads(server.ask(target="/api/tracks?file=0")[2])["tracks"]
    listed = {
        key: value
        for key, value in document["timeline"]["tracks"][0].items()
        if key not in ("kept", "async", "mark_rows")
    }
    assert tracks == [listed] and (listed["id"], listed["track"], listed["rows"]) == ("1/2", 0, 2)
    details = json.loads(server.ask(target="/api/span?file=0&row=1")[2])
    assert (details["depth"], details["arguments"], details["flows"]) == (1, {}, [])
    assert (details["name"], details["self"], details["parent"], details["next"]) == ("inner", 20, 0, 2)
    same = f"/api/span?file=0&track={details['track']}&start={details['start']}&duration=20"
    assert json.loads(server.ask(target=same)[2]) == details


def test_wrong_questions_get_a_sentence(server):
    for target, members, status in [
        ("/api/spans", {"file": 0}, 400),
        ("/api/spans", {"file": 9, "range": [0, 1], "width": 5}, 400),
        ("/api/spans", {"file": 0, "range": [5, 1], "width": 5}, 400),
        ("/api/spans", {"file": 0, "range": [0, 1], "width": 0}, 400),
        ("/api/spans", {"file": 0, "range": [0, 1], "width": 9, "tracks": [99]}, 400),
        ("/api/search", {"file": 0, "text": 7}, 400),
        ("/api/selection", {"file": "x", "range": [0, 1]}, 400),
        ("/api/files", {}, 405),
    ]:
        answered, body = server.post(target, **members)
        assert answered == status and body["error"].endswith("."), (target, members)
    for target, status in [
        ("/api/span?file=0&row=9", 404),
        ("/api/data", 400),
        ("/api/data?file=9", 400),
        ("/api/data?file=0&part=overviews", 400),
        ("/api/search", 405),
    ]:
        assert server.ask(target=target)[0] == status
    for body in [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000]:
        assert server.ask("POST", "/api/search", body)[0] == 400


def test_token_is_in_no_argument_and_printed_once(tmp_path):
    server = Server("--idle", "60", write_trace(tmp_path / "run.json"))
    assert len(server.token) == 32 and set(server.token) <= set("0123456789abcdef")
    assert server.token not in Path(f"/proc/{server.process.pid}/cmdline").read_text()
    server.ask(target="/api/files")
    assert server.end(signal.SIGTERM) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(tmp_path, number):
    assert Server(write_trace(tmp_path / "run.json")).end(number) == (0, "", "")


def test_idle_ends_it(tmp_path):
    server = Server("--idle", "1", write_trace(tmp_path / "run.json"))
    for _ in range(4):
        time.sleep(0.5)
        assert server.ask(target="/api/ping")[0] == 200
    began = time.monotonic()
    assert server.process.wait(timeout=20) == 0
    assert 0.5 < time.monotonic() - began < 5


def test_taken_port_and_unreadable_files_fail_before_it_listens(tmp_path):
    trace = write_trace(tmp_path / "run.json")
    bad = tmp_path / "bad.json"
    bad.write_text("no trace")
    (tmp_path / "empty").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for arguments in [
            ["--port", str(taken.getsockname()[1]), trace],
            ["missing.json"],
            [str(bad)],
            [str(tmp_path / "empty")],
            [trace, str(bad)],
            [trace] * 5 + [str(bad)],
        ]:
            ended = subprocess.run(
                [PROGRAM, "view", *arguments], capture_output=True, text=True, timeout=60, check=False
            )
            assert (ended.returncode, ended.stdout) == (1, "") and ended.stderr.count("\n") == 1
    for arguments in [["--port", "70000", trace], ["--idle", "-1", trace], []]:
        assert (
            subprocess.run([PROGRAM, "view", *arguments], capture_output=True, timeout=60, check=False).returncode == 2
        )


def test_open_gives_the_browser_a_private_file(tmp_path):
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    lines = [
        "#!/bin/sh",
        f'printf "%s\\n" "$@" > {seen}.new',
        'path="${2#file://}"',
        f'stat -c %a "$path" >> {seen}.new',
        f'cat "$path" >> {seen}.new',
        f"mv {seen}.new {seen}",
    ]
    browser.write_text("\n".join(lines) + "\n")
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    environment = os.environ | {"BROWSER": f"{browser} --new", "TMPDIR": str(tmp_path), "XDG_RUNTIME_DIR": ""}
    server = Server("--open", write_trace(tmp_path / "run.json"), env=environment)
    wait_for(seen.exists, "the browser was not started")
    option, address, mode, text = seen.read_text().split("\n", 3)
    assert option == "--new" and address.startswith("file:///") and server.token not in address
    assert mode == "600" and f"url={server.address}" in text
    left = Path(address.removeprefix("file://"))
    assert left.exists()
    assert server.end() == (0, "", "")
    assert not left.exists()
