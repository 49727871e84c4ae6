# SPDX-License-Identifier: Apache-2.0
"""``opscope view`` of a folder: which of its files it serves, and when it opens them."""

import json
import os

from test_view import Server, write_trace


def test_folder_follows_no_links_and_opens_many_files_later(tmp_path):
    folder, outside = tmp_path / "runs", tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    outside.mkdir()
    secret = write_trace(outside / "secret.json")
    for i in range(6):
        write_trace(folder / "deep" / f"rank{i}.json")
    (folder / "notes.bin").write_bytes(bytes(range(256)))
    (folder / "link.json").symlink_to(secret)
    (folder / "outside").symlink_to(outside)
    os.mkfifo(folder / "fifo.json")
    server = Server("--max-memory", "100M", str(folder))
    files = json.loads(server.ask(target="/api/files")[2])["files"]
    assert [entry["name"] for entry in files] == [f"deep/rank{i}.json" for i in range(6)]
    assert not any(entry["open"] for entry in files)
    (folder / "deep" / "rank1.json").unlink()
    (folder / "deep" / "rank1.json").symlink_to(secret)
    (folder / "deep" / "rank2.json").write_text("damaged")
    assert server.post("/api/search", file=0, text="inner")[1]["count"] == 1
    assert server.post("/api/search", file=1, text="inner")[0] == 422
    assert server.post("/api/search", file=2, text="inner")[0] == 422
    assert [entry["open"] for entry in json.loads(server.ask(target="/api/files")[2])["files"]][:2] == [True, False]
    assert server.end()[0] == 0


def test_json_of_other_programs_is_no_trace_of_a_folder(tmp_path):
    write_trace(tmp_path / "run.json")
    metadata = ", ".join(f'"key{i}": "{"x" * 100}"' for i in range(2000))  # beyond the first bytes
    spans = (tmp_path / "run.json").read_text().removeprefix("{")
    (tmp_path / "metadata_first.json").write_text("{" + metadata + ", " + spans)
    for name, text in {
        "a.json": "{}",
        "config.json": '{"model": "resnet", "layers": [1, 2]}',
        "list.json": "[1, 2]",
        "words.json": '["a"]',
        "lock.json": "{" + metadata + "}",
        "log.jsonl": '{"step": 1}\n{"step": 2}\n',
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "cut.json").write_text((tmp_path / "run.json").read_text()[:-30])
    server = Server(str(tmp_path))
    files = json.loads(server.ask(target="/api/files")[2])["files"]
    assert [entry["name"] for entry in files] == ["cut.json", "metadata_first.json", "run.json"]
    assert server.end()[0] == 0
