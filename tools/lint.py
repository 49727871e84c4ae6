#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words and names that the project has replaced, long sources without an opening, lost licence lines, and sources
that outgrow a folder of thin ones.

A stranger must understand a comment on first reading, so it names the actor and uses the field's terms
(docs/reference/glossary.md). The lists hold only what is wrong wherever it stands. `make lint` runs this; it prints one
line per violation, `file:line: what`, and exits 1 if any.

    tools/lint.py [ROOT]            the whole tree
    tools/lint.py --count [ROOT]    how many violations of each rule there are, by folder
"""

import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from check_map import project_files  # noqa: E402  (the folder of tools is no package)

CXX_SUFFIXES = {".h", ".cc", ".c"}
PYTHON_SUFFIXES = {".py", ".pyi"}
WEB_SUFFIXES = {".ts", ".tsx", ".mjs", ".css"}
SETTING_SUFFIXES = {".cmake", ".toml", ".yaml", ".yml"}  # they need no licence line
OWN_FILES = {"tools/lint.py", "tools/lint_test.py"}  # they must spell what they look for
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LONG_SOURCE = 120  # lines; a longer source opens with what it does and why
OPENING_LINES = 2  # at least, beside the licence
THIN = {"python/opscope/integrations/": 150}  # a file there has fewer lines

# Comments: words -> what to write instead.
ACTOR = "name the actor"
WORDS = {
    "nobody": ACTOR,
    "somebody": ACTOR,
    "whoever": ACTOR,
    "(?:is|are|was|were|be|been) told": ACTOR,
    "(?:is|are|was|were|be|been) asked": ACTOR,
    "of none": "none",
    "reckon(?:s|ed|ing)?": "compute, or count",
    "asking places?": "call-site cache",
    "body deaths?": "tensor-free hook",
    "boxed references?": "deferred reference count",
    "callback banks?": "callback pool",
    "drop-in": "hook",
    "late tracks?": "deferred track",
    "own costs?": "overhead",
    "pointed slots?": "GOT entry",
    "remembered blocks?": "live block sizes",
    "side entr(?:y|ies)": "the name of what it holds",
    "stand-ins?": "hook, fallback, or fake",
    "unhurried": "background",
}
# Names, as words in either spelling (own_cost, OwnCost) -> what to use instead.
NAMES = {
    "are told of": "IsWatched",
    "asking place": "call-site cache",
    "body death": "tensor-free hook",
    "boxed reference": "deferred reference count",
    "callback bank": "callback pool",
    "drop in": "hook",
    "duration spread": "quantiles",
    "edge mutex": "close mutex",
    "for people": "ToText",
    "give chrome kinds": "AssignKinds",
    "keep one moment": "TrimToSnapshot",
    "keep records inside": "ClampToSnapshot",
    "late track": "deferred track",
    "of none": "ambiguous",
    "or short memory": "CatchBadAlloc",
    "own cost": "overhead",
    "pointed slot": "GOT entry",
    "remembered block": "live block sizes",
    "side entry": "payload",
    "stand in": "hook, fallback, or fake",
    "surely other": "forced other",
    "unhurried": "background",
}
# Functions and types that begin with a participle or with a verb that says nothing -> what to use instead.
BEGINNINGS = {
    **dict.fromkeys(("Told", "Made", "Kept", "Held", "Shown"), "a noun"),
    "Note": "Record..., or On...",
    "Tell": "Describe..., or Report...",
}

# Names of interfaces that stay: a class of a table.
PUBLIC = {
    "HeldTensors",
}

CXX_TOKENS = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|R"(?P<end>[^()\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
PYTHON_TOKENS = re.compile(
    r'(?P<comment>#[^\n]*|^[ ]*"""(?:\\.|[^\\])*?""")'
    r'|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL | re.MULTILINE,
)
WEB_TOKENS = re.compile(
    r"(?P<comment>(?<!:)//[^\n]*|/\*.*?\*/)"
    r'|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
HASH_TOKENS = re.compile(r"""(?P<comment>(?:^|(?<=\s))#[^\n]*)|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""", re.MULTILINE)
SQL_TOKENS = re.compile(r"(?P<comment>--[^\n]*)|'[^'\n]*'|\"[^\"\n]*\"")
TOKENS = {
    **dict.fromkeys(CXX_SUFFIXES | {".def"}, CXX_TOKENS),
    **dict.fromkeys(PYTHON_SUFFIXES, PYTHON_TOKENS),
    **dict.fromkeys(WEB_SUFFIXES, WEB_TOKENS),
    **dict.fromkeys(SETTING_SUFFIXES | {".sh"}, HASH_TOKENS),
    ".sql": SQL_TOKENS,
}
HASH_FILES = {"CMakeLists.txt", "Dockerfile", "Makefile"}


class Banned(NamedTuple):
    """An entry of the lists. Only a text that has `stem`, in small letters and without _, can match the pattern."""

    stem: str
    pattern: re.Pattern
    advice: str


SPACE = r"[\s/#*]+"  # in a comment, with the mark of its next line
PLURAL_ENDS = "(?!(?!s(?![a-z]))[a-z])"


def banned_words(words, advice):
    """In comments, also where a line ends between two of the words."""
    stem = re.match(r"[a-z-]+?(?=s\?|\(|$)", words.rpartition(" ")[2]).group()
    return Banned(stem, re.compile(rf"\b(?:{words.replace(' ', SPACE)})\b", re.IGNORECASE), advice)


def banned_name(words, advice):
    """In code: own_cost, OWN_COST or OwnCost, in the plural too, and as a part of a name."""
    snake, camel = words.replace(" ", "_"), words.title().replace(" ", "")
    pattern = rf"(?:(?<![A-Za-z])(?:{snake}|{snake.upper()})|{camel}){PLURAL_ENDS}"
    return Banned(words.replace(" ", ""), re.compile(pattern), advice)


def banned_beginning(word, advice):
    return Banned(word.lower(), re.compile(rf"\b{word}(?=[A-Z])"), advice)


IN_COMMENTS = [banned_words(*entry) for entry in WORDS.items()]
IN_CODE = [banned_name(*entry) for entry in NAMES.items()] + [banned_beginning(*each) for each in BEGINNINGS.items()]


class Violation(NamedTuple):
    rule: str
    file: str
    line: int
    what: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.what}"


def comments_and_code(text, tokens):
    """Two lists of (offset, text). Comments that follow each other are one."""
    comments, code, end = [], [], 0
    for token in tokens.finditer(text):
        between = text[end : token.start()]
        code.append((end, between))
        end = token.end()
        if token.group("comment") is None:
            continue
        if comments and not between.strip() and comments[-1][0] + len(comments[-1][1]) + len(between) == token.start():
            comments[-1] = (comments[-1][0], comments[-1][1] + between + token.group())
        else:
            comments.append((token.start(), token.group()))
    code.append((end, text[end:]))
    return comments, code


def check_text(name, text, tokens):
    letters = text.lower().replace("_", "")
    in_comments = [banned for banned in IN_COMMENTS if banned.stem in letters]
    in_code = [banned for banned in IN_CODE if banned.stem in letters]
    if not in_comments and not in_code:
        return
    comments, code = comments_and_code(text, tokens)

    def line_of(offset):
        return text.count("\n", 0, offset) + 1

    for banned in in_comments:
        for offset, comment in comments:
            for match in banned.pattern.finditer(comment):
                what = f'"{re.sub(SPACE, " ", match.group())}" in a comment; write: {banned.advice}'
                yield Violation("word", name, line_of(offset + match.start()), what)
    for banned in in_code:
        for offset, piece in code:
            for match in banned.pattern.finditer(piece):
                begin = offset + match.start()
                whole = (
                    re.search(r"\w*$", text[max(begin - 80, 0) : begin]).group()
                    + re.match(r"\w*", text[begin:]).group()
                )
                if whole not in PUBLIC:
                    yield Violation("name", name, line_of(begin), f"the name {whole}; use: {banned.advice}")


def opening(lines):
    """How many lines of comment stand before the code, without the licence and empty ones."""
    count = 0
    for line in lines:
        if not line.startswith("//"):
            break
        count += LICENCE not in line and len(line.strip("/ ")) > 0
    return count


def is_test(name):
    return name.startswith(("tests/", "web/tests/")) or Path(name).stem.endswith(("_test", "_for_test"))


def tokens_of(path):
    """How the file's comments are found; None: the file is not read."""
    if path.name in HASH_FILES:
        return HASH_TOKENS
    if path.suffix:
        return TOKENS.get(path.suffix)
    with path.open("rb") as file:
        first = file.readline(100)
    if not first.startswith(b"#!"):
        return None
    return PYTHON_TOKENS if b"python" in first else HASH_TOKENS


def check_head(name, text):
    lines = text.splitlines()
    is_setting = Path(name).suffix in SETTING_SUFFIXES or Path(name).name in HASH_FILES
    if not is_setting and not any(line.strip("/#*- ") == LICENCE for line in lines[:60]):
        yield Violation("licence", name, 1, f"no line of its own says {LICENCE}")
    is_source = Path(name).suffix in {".cc"} | WEB_SUFFIXES - {".css"}
    if is_source and not is_test(name) and len(lines) > LONG_SOURCE and opening(lines) < OPENING_LINES:
        what = f"{len(lines)} lines, and no opening comment that says what the source does and why"
        yield Violation("opening", name, 1, what)
    for folder, limit in THIN.items():
        if name.startswith(folder) and len(lines) >= limit:
            yield Violation("thin", name, limit, f"{len(lines)} lines; a source of {folder} has fewer than {limit}")


def check(root):
    for name in project_files(root):
        tokens = None if name in OWN_FILES else tokens_of(root / name)
        if tokens is None:
            continue
        text = (root / name).read_text(errors="replace")
        yield from check_head(name, text)
        yield from check_text(name, text, tokens)


def folder_of(name):
    parts = Path(name).parts
    return "/".join(parts[: min(len(parts) - 1, 3 if parts[:2] == ("src", "sources") else 2)])


def print_counts(violations):
    rules = ("word", "name", "opening", "licence", "thin")
    counts = Counter((folder_of(v.file), v.rule) for v in violations)
    print(f"{'':32}" + "".join(f"{rule:>9}" for rule in rules))
    for folder in sorted({folder for folder, _ in counts}):
        print(f"{folder:32}" + "".join(f"{counts[folder, rule]:9}" for rule in rules))
    totals = Counter(v.rule for v in violations)
    print(f"{'all':32}" + "".join(f"{totals[rule]:9}" for rule in rules))


def main(arguments):
    counts_only = "--count" in arguments
    roots = [argument for argument in arguments if argument != "--count"]
    violations = list(check(Path(roots[0] if roots else Path(__file__).parent.parent).resolve()))
    if counts_only:
        print_counts(violations)
        return 0
    for violation in violations:
        print(violation)
    print(f"lint: {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
