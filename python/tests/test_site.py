# SPDX-License-Identifier: Apache-2.0
"""The documents become a site as `make docs` builds it: every link and anchor of theirs leads to something."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ZENSICAL = Path(sys.executable).with_name("zensical")


def build(folder):
    """Builds the site of `folder`; returns the outcome, with its text plain."""
    assert ZENSICAL.exists(), "zensical is not installed: tools/setup docs"
    command = [ZENSICAL, "build", "--clean", "--strict", "-f", "mkdocs.yml"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, re.sub(r"\x1b\[[\d;]*m", "", done.stdout)


@pytest.fixture
def project(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def test_every_link_leads_somewhere_and_no_page_asks_the_network(project):
    code, printed = build(project)
    assert code == 0, printed
    pages = list((project / "build" / "site").rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        asked = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="?(https?://[^" >]+)', page.read_text())
        assert asked == [], page


def test_dangling_links_fail_the_build(project):
    links = ["reference/no_such_page.md", "reference/cuda.md#no-such-anchor"]
    with open(project / "docs" / "README.md", "a") as page:
        page.writelines(f"[broken]({link})\n" for link in links)
    code, printed = build(project)
    assert code != 0
    assert all(link in printed for link in links)
