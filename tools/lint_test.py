# SPDX-License-Identifier: Apache-2.0
"""Plants each kind of violation in a small tree and demands that lint finds it, on its line, and nothing else."""

import io
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import lint  # noqa: E402  (the folder of tools is no package)

CXX = "// SPDX-License-Identifier: Apache-2.0\n"
PYTHON = "# SPDX-License-Identifier: Apache-2.0\n"
OPENING = "// Merges two sorted lists.\n// Copying both would double the peak of memory.\n"
TREE = {
    "src/base/text.h": f"// The text of a message.\n{CXX}#pragma once\nint Length();\n",
    "src/base/text.cc": CXX + '#include "base/text.h"\nint Length() {\n  return 1;\n}\n',
    "src/merge/merge.cc": OPENING + CXX + "int x;\n" * 121,
    "python/opscope/log.py": PYTHON + '"""Prints a message."""\n\n\ndef say():\n    pass\n',
    "web/src/model/text.ts": f'// The text of a message.\n{CXX}const s = `nobody\\n`; // "//"\nconst url = "a://b";\n',
    "web/src/ui/page.css": "/* The page.\n   SPDX-License-Identifier: Apache-2.0 */\nbody {}\n",
    "docs/words.md": "nobody\n",
}


class Lint(unittest.TestCase):
    def violations(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TREE, **changes}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(lint.check(Path(folder)))

    def expect(self, beginning, words, changes):
        """One violation, whose text begins with a file and a line and has these words."""
        found = [str(violation) for violation in self.violations(changes)]
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(beginning + ": "), found)
        self.assertIn(words, found[0])

    def expect_none(self, changes):
        self.assertEqual(self.violations(changes), [])

    def test_a_clean_tree_has_no_violation(self):
        self.expect_none({})

    def expect_each(self, found_of, lines):
        """A violation on each line, which names what `found_of` makes of it."""
        found = [str(each) for each in self.violations({"src/a.h": CXX + "".join(f"{line}\n" for line in lines)})]
        self.assertEqual(len(found), len(lines), found)
        for number, line in enumerate(lines, 2):
            self.assertTrue(any(e.startswith(f"src/a.h:{number}: ") and found_of(line) in e for e in found), line)

    def test_words_names_and_heads_of_the_page_are_found(self):
        text = "web/src/model/text.ts"
        self.expect(f"{text}:2", '"nobody" in a comment', {text: CXX + "const x = `//`; // nobody\n"})
        self.expect(f"{text}:2", "the name OwnCost", {text: CXX + "const OwnCost = 1;\n"})
        self.expect("web/src/ui/page.css:1", "SPDX", {"web/src/ui/page.css": "body {}\n"})
        self.expect(f"{text}:1", "opening", {text: CXX + "const x = 1;\n" * 121})

    def test_each_word_is_found_in_a_comment(self):
        examples = (
            *("nobody", "somebody", "Whoever", "is told", "were asked", "of none", "reckoned", "asking place"),
            *("body deaths", "boxed references", "callback bank", "drop-in", "late track", "own cost", "pointed slots"),
            *("remembered blocks", "side entries", "stand-in", "unhurried"),
        )
        self.expect_each(lambda line: f'"{line.removeprefix("// So ")}"', [f"// So {words}" for words in examples])
        for banned in lint.IN_COMMENTS:
            self.assertTrue(any(banned.pattern.fullmatch(words) for words in examples), banned)

    def test_words_that_a_line_end_parts_are_found_where_they_begin(self):
        text = CXX + "int x;\n// It is of\n// none of them, and it is\n// told so.\n"
        found = [str(violation) for violation in self.violations({"src/base/text.cc": text})]
        self.assertEqual(
            [each[: len("src/base/text.cc:3")] for each in found], ["src/base/text.cc:4", "src/base/text.cc:3"]
        )

    def test_comments_that_code_parts_are_not_one_text(self):
        self.expect_none({"src/base/text.cc": CXX + "int x;  // of\nint y;  // none\n"})

    def test_comments_of_every_kind_are_read(self):
        self.expect("src/a.c:3", '"nobody"', {"src/a.c": CXX + "/* one\n   nobody */\n"})
        self.expect("src/a.cc:2", '"nobody"', {"src/a.cc": CXX + "int x = 'a';  // nobody\n"})
        self.expect("a.py:2", '"nobody"', {"a.py": PYTHON + "x = 1  # nobody\n"})
        self.expect("a.py:4", '"nobody"', {"a.py": PYTHON + 'def f():\n    """One.\n    nobody"""\n'})

    def test_comments_of_build_files_settings_queries_and_scripts_are_read(self):
        for name in ("CMakeLists.txt", "Makefile", "cmake/a.cmake", ".github/workflows/a.yml", "a.toml"):
            self.expect(f"{name}:2", '"nobody"', {name: "x = 1\ny = 2  # nobody\n"})
            self.expect_none({name: "x = \"# nobody\"\ny = 'a # nobody'\nz#nobody\n"})
        self.expect("a.sql:2", '"nobody"', {"a.sql": f"-- {lint.LICENCE}\nSELECT 1  -- nobody\n"})
        self.expect_none({"a.sql": f"-- {lint.LICENCE}\nSELECT '-- nobody'\n"})
        self.expect("a.def:2", '"nobody"', {"a.def": CXX + "X(1)  // nobody\n"})
        shell, python = f"#!/usr/bin/env bash\n{PYTHON}", f"#!/usr/bin/env python3\n{PYTHON}"
        self.expect("tools/a:3", '"nobody"', {"tools/a": shell + 'x="$#"  # nobody\n'})
        self.expect("tools/a:4", '"nobody"', {"tools/a": python + 'def f():\n    """nobody"""\n'})
        self.expect("tools/a:1", "SPDX", {"tools/a": "#!/bin/sh\n"})
        self.expect_none({"corpus/a": "# nobody\n"})

    def test_texts_of_a_program_are_not_comments(self):
        self.expect_none({"src/a.cc": CXX + 'auto x = "// nobody", y = R"(\n// nobody OwnCost\n)";\n'})
        self.expect_none({"src/a.cc": CXX + "int x = 1'000; auto y = '\"'; auto z = \"nobody\";\n"})
        self.expect_none({"a.py": PYTHON + 'x = """\n# nobody own_cost\n"""\ny = "# nobody"\n'})

    def test_a_word_within_another_is_no_violation(self):
        self.expect_none({"src/a.cc": CXX + "// told of an antibody and somebodys\n"})

    def test_each_name_is_found_in_every_spelling(self):
        names = []
        for words in lint.NAMES:
            snake, camel = words.replace(" ", "_"), words.title().replace(" ", "")
            names += [snake, f"the_{snake}s", snake.upper(), f"k{camel}", f"Add{camel}s", f"{camel}Of"]
        self.expect_each(lambda line: f"the name {line[4:]}", [f"int {name};" for name in names])

    def test_each_beginning_of_a_name_is_found(self):
        self.expect_each(lambda line: f"the name {line[4:]}", [f"int {begins}Rows;" for begins in lint.BEGINNINGS])

    def test_a_name_that_only_has_the_same_letters_is_no_violation(self):
        self.expect_none({"src/a.cc": CXX + "int StandInside, Notes, brown_cost, Telling, drop_inner, kMadeUp;\n"})

    def test_a_name_in_a_comment_is_left_to_the_code(self):
        self.expect_none({"src/a.cc": CXX + "// TellRows\n"})

    def test_a_name_in_python_is_found(self):
        self.expect("a.py:2", "own_cost", {"a.py": PYTHON + "own_cost = 1\n"})

    def test_a_long_source_without_an_opening_is_found(self):
        self.expect("src/merge/merge.cc:1", "no opening", {"src/merge/merge.cc": CXX + "int x;\n" * 120})

    def test_an_opening_of_one_line_is_too_short(self):
        self.expect(
            "src/merge/merge.cc:1", "no opening", {"src/merge/merge.cc": "// Merges.\n//\n" + CXX + "int x;\n" * 120}
        )

    def test_a_comment_behind_the_first_code_is_no_opening(self):
        text = CXX + "#include <span>\n" + OPENING + "int x;\n" * 120
        self.expect("src/merge/merge.cc:1", "no opening", {"src/merge/merge.cc": text})

    def test_a_source_of_120_lines_and_a_test_need_no_opening(self):
        self.expect_none({"src/merge/merge.cc": CXX + "int x;\n" * 119})
        for name in ("src/merge/merge_test.cc", "src/merge/merge_for_test.cc", "tests/merge.cc", "src/merge/merge.h"):
            self.expect_none({name: CXX + "int x;\n" * 150})

    def test_a_source_that_is_no_longer_thin_is_found(self):
        for folder, limit in lint.THIN.items():
            for name in (f"{folder}a.py", f"{folder}b/a.py"):
                self.expect(f"{name}:{limit}", f"{limit} lines", {name: PYTHON + "x = 1\n" * (limit - 1)})
                self.expect_none({name: PYTHON + "x = 1\n" * (limit - 2)})
        self.expect_none({"python/opscope/a.py": PYTHON + "x = 1\n" * 200})

    def test_a_lost_licence_line_is_found(self):
        swallowed = "// The text of a message. SPDX-License-Identifier: Apache-2.0\nint x;\n"
        self.expect("src/base/text.h:1", "SPDX", {"src/base/text.h": swallowed})
        self.expect("a.py:1", "SPDX", {"a.py": "x = 1\n"})

    def test_the_exit_status_tells_whether_there_was_a_violation(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.py")
            for text, status in ((PYTHON, 0), (PYTHON + "# nobody\n", 1)):
                path.write_text(text)
                with redirect_stdout(io.StringIO()) as printed:
                    self.assertEqual(lint.main([folder]), status)
                self.assertIn(f"lint: {status} violations", printed.getvalue())

    def test_counts_are_by_folder_and_rule(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "src/sources/torch/hooks").mkdir(parents=True)
            Path(folder, "src/sources/torch/hooks/a.cc").write_text(CXX + "// nobody, nobody\nint own_cost;\n")
            with redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(lint.main(["--count", folder]), 0)
        rows = [line.split() for line in printed.getvalue().splitlines()]
        self.assertEqual(rows[1:], [["src/sources/torch", "2", "1", "0", "0", "0"], ["all", "2", "1", "0", "0", "0"]])


if __name__ == "__main__":
    unittest.main()
