#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the map is true: ARCHITECTURE.md, the layers of C++ and Python, the sizes and the quotes in documents.

The rules are not written here but read from the layer table of ARCHITECTURE.md, so that there is one place
to read and to change them. A CTest case runs this; it prints one line per violation and exits 1 if any.

    tools/check_map.py [ROOT]
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

MAX_LINES = 400
MAX_BYTES = 512 << 10  # a recording or a trace that was left in the tree is larger
# Documents that name files and what is in them.
CODE_PAGES = ("ARCHITECTURE.md", "docs/explanation/how_recording_works.md", "docs/how-to/extend_opscope.md")
SOURCE_SUFFIXES = {".h", ".def", ".cc", ".c", ".py", ".pyi", ".ts", ".tsx", ".mjs", ".css"}
TYPESCRIPT_SUFFIXES = {".ts", ".tsx"}
CXX_SUFFIXES = {".h", ".def", ".cc", ".c"}

# Third-party name as the table spells it -> how its headers are included.
VENDOR_HEADERS = {
    "zstd": r"zstd\.h|zdict\.h|zstd_errors\.h",
    "xxHash": r"xxhash\.h|xxh3\.h",
    "robin-map": r"tsl/",
    "simdjson": r"simdjson\.h",
    "zlib": r"zlib\.h",
    "libdeflate": r"libdeflate\.h",
    "protozero": r"protozero/",
    "CLI11": r"CLI/",
    "libmd": r"sha2\.h",
    "Boost.Math": r"boost/math/",
    "nanobind": r"nanobind/",
    "Python": r"Python\.h|frameobject\.h|structmember\.h|internal/pycore_",
    "torch": r"torch/|ATen/|c10/|caffe2/",
    "GoogleTest": r"gtest/|gmock/",
    "Google Benchmark": r"benchmark/",
    "valgrind": r"valgrind/",
}
TEST_VENDORS = {"GoogleTest", "simdjson"}  # every test may use them
# Headers of the language, the compiler and the system; they need no row.
STANDARD_HEADER = re.compile(r"[a-z_0-9]+$")
SYSTEM_HEADERS = re.compile(
    r"(sys|linux|asm|arpa|netinet)/[a-z_0-9]+\.h$"
    r"|(assert|cpuid|ctype|dirent|dlfcn|elf|errno|execinfo|fcntl|inttypes|limits|link|malloc|math|poll|pthread|sched"
    r"|semaphore|setjmp|signal|spawn|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|syscall|termios|time"
    r"|unistd|x86intrin|emmintrin|immintrin|cxxabi)\.h$"
)
PUBLIC_SYSTEM_HEADERS = {"x86intrin.h", "time.h", "stdint.h", "stddef.h", "stdbool.h"}
TYPESCRIPT_TEST_VENDORS = {"vitest", "happy-dom", "node"}  # node: Node's own modules
# import ... from "x", export ... from "x", import "x", import("x")
TYPESCRIPT_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']""")
TYPESCRIPT_COMMENT = re.compile(r"^\s*//[^\n]*|/\*.*?\*/", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def project_files(root):
    """Files that belong to the project: what git knows or would add; without git, what is no build output."""
    git = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=False
    )
    if git.returncode == 0:
        names = [name for name in git.stdout.decode().split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    skipped = {".git", ".venv", "build", "dist", "demo-out", "__pycache__", "node_modules"}
    return sorted(name for name in set(names) if not skipped & set(Path(name).parts) and (root / name).is_file())


class Layer(NamedTuple):
    """A row of the layer table. `public`: headers of include/opscope, or folders of them, without the ending; `all`."""

    may_include: set[str]
    public: set[str]
    vendors: set[str]

    def takes(self, header):
        """Whether it may include the public header opscope/..."""
        name = header.removeprefix("opscope/").removesuffix(".h").removesuffix(".def")
        return not self.public.isdisjoint({"all", name, name.rpartition("/")[0]})


def read_layers(text):
    """The layer table: folder -> Layer."""
    layers = {}
    for row in re.findall(r"^\|(.+)\|\s*$", text, re.MULTILINE):
        cells = [cell.strip() for cell in row.split("|")]
        folders = re.findall(r"`((?:src|include|python|examples|tests|bench|fuzz|tools|web)[\w/]*)`", cells[0])
        if len(cells) < 4 or not folders:
            continue
        names = [[name.strip(" `") for name in cell.split(",")] for cell in cells[1:4]]
        layer = Layer(*({name for name in cell if name not in ("", "-")} for cell in names))
        layers |= dict.fromkeys(folders, layer)
    return layers


def layer_of(name, layers):
    """The most specific row for a file, or None."""
    folders = [folder for folder in layers if name.startswith(folder + "/")]
    return max(folders, key=len) if folders else None


def check_paths(root, page, text):
    for token in sorted(set(re.findall(r"`([\w.\-/]+)`", text))):
        is_path = "/" in token or re.search(r"\.(md|h|cc|py|txt|json|toml)$", token)
        if is_path and not any((root / base / token).exists() for base in ("", "include", "src")):
            yield f"{page}: names `{token}`, which does not exist"


def check_names(root, page, text):
    """`Name` (`path`): the file must still have that name."""
    for name, path in re.findall(r"`(?:\w+::)*(\w+)(?:\(\))?`\s\(`([\w.\-/]+)`\)", text):
        if (root / path).is_file() and not re.search(rf"\b{name}\b", (root / path).read_text(errors="replace")):
            yield f"{page}: says that `{name}` is in {path}, which does not have it"


def check_mentions(root, files):
    """A page of docs/ that a file names must be there."""
    for name in files:
        if name.endswith("_test.py"):
            continue
        if Path(name).suffix in SOURCE_SUFFIXES | {".md", ""} and (root / name).stat().st_size < 1 << 20:
            for page in sorted(set(re.findall(r"\bdocs/[\w/-]+\.md\b", (root / name).read_text(errors="replace")))):
                if not (root / page).exists() and f"/{page}" not in (root / name).read_text(errors="replace"):
                    yield f"{name}: names {page}, which does not exist"


def check_rows(files, layers):
    folders = {
        str(Path(name).parent) for name in files if name.startswith("src/") and Path(name).suffix in CXX_SUFFIXES
    }
    for folder in sorted(folders - set(layers)):
        yield f"ARCHITECTURE.md: the layer table has no row for {folder}"


def check_folders(files, layers, text):
    """Each folder of the root is the beginning of a layer or is named: what a program left there is no source."""
    known = {layer.split("/")[0] for layer in layers} | set(re.findall(r"`([\w.-]+)/`", text))
    for folder in sorted({name.split("/")[0] for name in files if "/" in name} - known):
        yield f"ARCHITECTURE.md: does not say what the folder {folder} is"


def check_vendor(name, header, vendors, is_test):
    for vendor, pattern in VENDOR_HEADERS.items():
        if re.match(pattern, header):
            if vendor in vendors or (is_test and vendor in TEST_VENDORS):
                return None
            return f"{name}: includes <{header}>, but its row allows no {vendor}"
    if STANDARD_HEADER.match(header) or SYSTEM_HEADERS.match(header):
        return None
    return f"{name}: includes <{header}>, a library that tools/check_map.py does not know"


def test_files(root, files):
    """The tests, and the headers of `src` that only tests include."""
    tests = {name for name in files if name.endswith("_test.cc")}
    users = {}
    for name in files:
        if Path(name).suffix in CXX_SUFFIXES:
            for _, header in INCLUDE.findall((root / name).read_text(errors="replace")):
                users.setdefault(f"src/{header}", set()).add(name)
    headers = {name for name in files if name in users and Path(name).suffix == ".h"}
    while True:
        more = {name for name in headers - tests if users[name] <= tests}
        if not more:
            return tests
        tests |= more


def check_public(root, name, layer, layers, header, is_test):
    """An include of opscope/...: of a header that is there and that the row takes; a test may take any."""
    if not (root / "include" / header).exists():
        return f'{name}: includes "{header}", which does not exist'
    target = layer_of(f"include/{header}", layers)
    if not layer.startswith("include/"):
        if not is_test and not layers[layer].takes(header):
            return f'{name}: includes "{header}", which the row of {layer} does not take'
    elif target not in layers[layer].may_include | {layer} and not is_umbrella(root / name):
        return f'{name}: includes "{header}", but the row of {layer} does not allow {target}'
    return None


def is_umbrella(path):
    """A public header of nothing but other headers: it may gather any of them."""
    return all(re.match(r"//|#pragma once|#include|$", line) for line in path.read_text().splitlines())


def check_includes(root, files, layers):
    tests = test_files(root, files)
    modules = {folder.removeprefix("src/"): folder for folder in layers if folder.startswith("src/")}
    for name in files:
        layer = layer_of(name, layers)
        if layer is None or Path(name).suffix not in CXX_SUFFIXES:
            continue
        may_include, _, vendors = layers[layer]
        is_public = layer.startswith("include/")
        is_test = name in tests
        for bracket, header in INCLUDE.findall((root / name).read_text(errors="replace")):
            if header.startswith("opscope/"):
                violation = check_public(root, name, layer, layers, header, is_test)
                if violation:
                    yield violation
                continue
            target = layer_of(f"src/{header}", layers) or layer_of(header, layers)
            if is_test and (f"src/{header}" in tests or (header.startswith("tests/") and (root / header).exists())):
                continue
            if bracket == '"' and target is not None:
                allowed = {modules.get(module, module) for module in may_include} | {layer}
                if is_test:
                    allowed.add("src/trace")  # a test may build its Trace by hand
                if is_public or target not in allowed:
                    yield f'{name}: includes "{header}", but the row of {layer} does not allow {target}'
            elif bracket == '"' and (root / name).parent.joinpath(header).exists():
                if not name.startswith(("src/", "include/")):
                    continue
                yield f'{name}: includes "{header}" by its short name; write the path from src/ or the root'
            elif is_public and not (STANDARD_HEADER.match(header) or header in PUBLIC_SYSTEM_HEADERS):
                yield f"{name}: a public header includes <{header}>; only std and opscope are allowed"
            elif not is_public:
                violation = check_vendor(name, header, vendors, is_test)
                if violation:
                    yield violation


def python_imports(root, name):
    """What a file of python/opscope imports: paths below python/ without their ending, or names of other packages."""
    package = Path(name).relative_to("python").parent
    for node in ast.walk(ast.parse((root / name).read_text())):
        if isinstance(node, ast.Import):
            yield from ("/".join(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "/".join(package.parts[: len(package.parts) + 1 - node.level]) if node.level else ""
            module = "/".join(filter(None, [base, *(node.module or "").split(".")]))
            for alias in node.names:
                inner = root / "python" / module / alias.name
                is_module = inner.is_dir() or any(inner.with_suffix(ending).exists() for ending in (".py", ".pyi"))
                yield f"{module}/{alias.name}" if is_module else module


def check_python(root, files, layers):
    for name in files:
        if not name.startswith("python/opscope/") or not name.endswith(".py"):
            continue
        layer = str(Path(name).parent)
        if layer not in layers:
            yield f"ARCHITECTURE.md: the layer table has no row for {layer}, where {name} is"
            continue
        for module in sorted(set(python_imports(root, name))):
            package = module.split("/")[0]
            path = f"python/{module}"
            # A folder of stubs alone is those of an extension.
            target = path if any((root / path).glob("*.py")) else str(Path(path).parent)
            if package == "opscope":
                if target not in layers[layer].may_include | {layer}:
                    yield f"{name}: imports {module}, but the row of {layer} does not allow {target}"
            elif package not in sys.stdlib_module_names | layers[layer].vendors:
                yield f"{name}: imports {module}, but the row of {layer} allows no {package}"


def is_typescript_test(name):
    return Path(name).stem.endswith(("_test", "_for_test"))


def check_typescript(root, files, layers):
    """The page of reports: a folder of web/src imports from itself and from those that its row names."""
    for name in files:
        if not name.startswith("web/src/") or Path(name).suffix not in TYPESCRIPT_SUFFIXES:
            continue
        layer = str(Path(name).parent)
        if layer not in layers:
            yield f"ARCHITECTURE.md: the layer table has no row for {layer}, where {name} is"
            continue
        is_test = is_typescript_test(name)
        text = TYPESCRIPT_COMMENT.sub("", (root / name).read_text())
        for module in sorted(set(TYPESCRIPT_IMPORT.findall(text))):
            if module.startswith("."):
                path = os.path.normpath(f"{layer}/{module}")
                target = str(Path(path).parent)
                if not (root / path).is_file():
                    yield f"{name}: imports {module}, which does not exist; write the whole name"
                elif is_typescript_test(path) and not is_test:
                    yield f"{name}: imports {module}, which only tests may"
                elif target not in layers[layer].may_include | {layer}:
                    yield f"{name}: imports {module}, but the row of {layer} does not allow {target}"
                continue
            package = re.match(r"@[^/]+/[^/]+|[^/:]+", module)[0]
            if package not in layers[layer].vendors and not (is_test and package in TYPESCRIPT_TEST_VENDORS):
                yield f"{name}: imports {module}, but the row of {layer} allows no {package}"


def check_sizes(root, files):
    for name in files:
        size = (root / name).stat().st_size
        if size > MAX_BYTES:
            yield f"{name}: {size >> 10} KiB; a committed file has at most {MAX_BYTES >> 10}"
        if Path(name).suffix in SOURCE_SUFFIXES:
            text = (root / name).read_bytes()
            lines = text.count(b"\n")
            if lines > MAX_LINES and b"\nGenerated from " not in text[:400]:
                yield f"{name}: {lines} lines; over {MAX_LINES} a file has more than one idea"


def dedent(lines):
    lines = [line.rstrip() for line in lines]
    indents = [len(line) - len(line.lstrip()) for line in lines if line]
    return [line[min(indents, default=0) :] for line in lines]


def occurs(block, text):
    """True when the lines of `block` stand together in `text`, at any one indentation."""
    lines = text.splitlines()
    return any(dedent(lines[i : i + len(block)]) == block for i in range(len(lines) - len(block) + 1))


def check_quotes(root, files):
    """Code of more than three lines in a document is quoted from a file that the tests run."""
    fence = re.compile(r"(?:<!-- from ([^ ]+) -->\n)?^[ ]*```(\w*)[^\n]*\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)
    for name in files:
        if not (name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md") or re.match(r"docs/.*\.md$", name)):
            continue
        if name.startswith("docs/tutorials/"):  # a test runs what stands there (python/tests/tutorial.py)
            continue
        text = (root / name).read_text()
        if "\n<!-- Generated from " in text:
            continue
        for source, language, body in fence.findall(text):
            block = dedent(body.splitlines())
            where = f'{name}: the block "{block[0] if block else ""}..."'
            if source:
                path = root / source
                if not path.exists():
                    yield f"{where} is quoted from {source}, which does not exist"
                elif not occurs(block, path.read_text()):
                    yield f"{where} does not occur in {source}"
            elif len(block) > 3 and language != "text":
                yield f"{where} is longer than three lines and names no source (<!-- from FILE -->)"


def check(root):
    files = project_files(root)
    text = (root / "ARCHITECTURE.md").read_text()
    layers = read_layers(text)
    for page in CODE_PAGES:
        if (root / page).exists():
            said = (root / page).read_text()
            yield from check_paths(root, page, said)
            yield from check_names(root, page, said)
    yield from check_mentions(root, files)
    yield from check_rows(files, layers)
    yield from check_folders(files, layers, text)
    yield from check_includes(root, files, layers)
    yield from check_python(root, files, layers)
    yield from check_typescript(root, files, layers)
    yield from check_sizes(root, files)
    yield from check_quotes(root, files)


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    violations = list(check(root))
    for violation in violations:
        print(violation)
    print(f"check_map: {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
