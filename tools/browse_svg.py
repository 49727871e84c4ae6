#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens a picture in a browser without a window, and tells how long that takes and what a pointer shows there.

    tools/browse_svg.py FILE.svg [--over CSS_SELECTOR] [--shot FILE.png]

It needs Chromium or Chrome (apt-get install chromium), which $BROWSER may name; exit status 3 where there is none.
Prints a JSON object: `seconds`, what opening takes longer than opening an empty picture; `elements`, how many the
selector finds; `shown`, the text that the pointer over the one in the middle of them shows.
"""

import argparse
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="100%"/>'
# Looks up the element under the middle of another as the browser does for its pointer.
ASK = """
const found = [...document.querySelectorAll(SELECTOR)].filter(one => one.getBoundingClientRect().width >= 1);
const one = found[Math.floor(found.length / 2)], box = one && one.getBoundingClientRect();
const hit = one && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
const title = hit && hit.querySelector(":scope > title");
document.body.innerHTML = "";
document.body.dataset.answer = JSON.stringify({elements: found.length, shown: title ? title.textContent : null});
"""


def find_browser():
    """Its path, None: there is none."""
    return shutil.which(os.environ.get("BROWSER", "")) or next(filter(None, map(shutil.which, NAMES)), None)


def run_browser(browser, page, *options):
    with tempfile.TemporaryDirectory() as profile:
        command = [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--window-size=1400,900",
        ]
        command += [f"--user-data-dir={profile}", *options, pathlib.Path(page).resolve().as_uri()]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return time.perf_counter() - begin, done.stdout


def seconds_to_open(browser, picture, shot):
    """The least of three, without what an empty picture takes."""
    empty = shot.with_suffix(".empty.svg")
    empty.write_text(EMPTY)
    pages = {"picture": picture, "empty": empty}
    least = dict.fromkeys(pages, float("inf"))
    for _ in range(3):
        for key, page in pages.items():
            place = shot if key == "picture" else shot.with_suffix(".empty.png")
            least[key] = min(least[key], run_browser(browser, page, f"--screenshot={place}")[0])
    return max(least["picture"] - least["empty"], 0)


def ask_pointer(browser, picture, selector, folder):
    """What the elements show, in a page that has the picture in it."""
    text = pathlib.Path(picture).read_text(encoding="utf-8")
    page = folder / "page.html"
    script = ASK.replace("SELECTOR", json.dumps(selector).replace("<", "\\u003c"))
    body = re.sub(r"^<\?xml.*?\?>\s*(<!DOCTYPE[^>]*>)?", "", text, count=1, flags=re.DOTALL)
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}<script>{script}</script>", encoding="utf-8")
    _, dom = run_browser(browser, page, "--dump-dom")
    return json.loads(html.unescape(re.search(r'data-answer="([^"]*)"', dom).group(1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture")
    parser.add_argument("--over", default="rect", help="default: rect")
    parser.add_argument("--shot", help="what it looks like")
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        print("browse_svg: no browser: apt-get install chromium", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shot = pathlib.Path(options.shot) if options.shot else folder / "shot.png"
        answer = {"seconds": round(seconds_to_open(browser, options.picture, shot), 3)}
        print(json.dumps(answer | ask_pointer(browser, options.picture, options.over, folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
