# SPDX-License-Identifier: Apache-2.0
"""Plants each kind of violation in a small tree and demands that check_map finds it, and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_map  # noqa: E402  (the folder of tools is no package)

TREE = {
    "ARCHITECTURE.md": (
        "Bytes come from `ReadBlock` (`src/wire/block.cc`). Others: `docs/`, `examples/`.\n\n"
        "| folder | may include | public headers | third party |\n| --- | --- | --- | --- |\n"
        "| `include/opscope` | - | - | - |\n| `include/opscope/torch` | include/opscope | - | - |\n"
        "| `src/base` | - | - | zlib |\n| `src/wire` | base, wire/codec | trace | zstd |\n"
        "| `src/wire/codec` | - | - | - |\n| `src/sources/torch` | base, wire | torch | torch |\n"
        "| `python/opscope` | python/opscope/adapters | - | - |\n"
        "| `python/opscope/adapters` | python/opscope | - | torch |\n"
        "| `python/opscope/torch` | python/opscope, python/opscope/adapters | - | torch |\n"
        "| `python/bindings` | - | all | nanobind |\n"
        "| `web/src/model` | - | - | - |\n| `web/src/ui` | web/src/model | - | preact |\n"
    ),
    "README.md": "<!-- from examples/a.py -->\n```python\nx = 1\nif x:\n    y = 2\nprint(y)\n```\n",
    "docs/index.md": "Pages.\n",
    "examples/a.py": "def main():\n    x = 1\n    if x:\n        y = 2\n    print(y)\n",
    "include/opscope/trace.h": "#include <span>\n#include <time.h>\n",
    "include/opscope/record.h": "#include <cstdint>\n",
    "include/opscope/torch/events.h": '#include "opscope/trace.h"\nint x;\n',
    "src/base/text.h": "#include <zlib.h>\n#include <sys/mman.h>\n",
    "src/wire/block.cc": '#include "wire/block.h"\n#include "base/text.h"\n#include "opscope/trace.h"\nReadBlock\n',
    "src/wire/block.h": '#include <zstd.h>\n#include "wire/codec/zigzag.h"\n',
    "src/wire/codec/zigzag.h": "#include <cstdint>\n",
    "src/wire/block_test.cc": '#include "wire/block_for_test.h"\n#include <gtest/gtest.h>\n',
    "src/wire/block_for_test.h": "#include <gtest/gtest.h>\n",
    "src/sources/torch/ops.cc": (
        '#include <ATen/record_function.h>\n#include "wire/block.h"\n#include "opscope/torch/events.h"\n'
    ),
    "python/opscope/log.py": "import os\n\nfrom .adapters import build\n",
    "python/opscope/adapters/build.py": "import torch\n\nfrom .. import log\nfrom .cache import place\n",
    "python/opscope/adapters/cache.py": "def place():\n    from opscope.log import os\n",
    "python/opscope/torch/profile.py": "import torch\n\nfrom ..adapters.build import log\nfrom . import events\n",
    "python/opscope/torch/events.py": "",
    "web/src/model/names.ts": '// Not an import: from "preact".\nimport type { Name } from "./name.ts";\n',
    "web/src/model/name.ts": "export type Name = string;\n",
    "web/src/model/names_test.ts": 'import { expect } from "vitest";\nimport { some } from "./names_for_test.ts";\n',
    "web/src/model/names_for_test.ts": "export const some = 1;\n",
    "web/src/ui/app.tsx": (
        'import { useState } from "preact/hooks";\nimport {\n  n,\n} from "../model/names.ts";\nimport "./app.css";\n'
    ),
    "web/src/ui/app.css": "body {\n  margin: 0;\n}\n",
    "python/bindings/module.cc": '#include <nanobind/nanobind.h>\n#include "opscope/trace.h"\n',
}


class CheckMap(unittest.TestCase):
    def violations(self, **planted):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TREE, **{name.replace("__", "/"): text for name, text in planted.items()}}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check_map.check(Path(folder)))

    def expect_one(self, words, changes):
        found = self.violations(**changes)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_a_true_map_has_no_violation(self):
        self.assertEqual(self.violations(), [])

    def test_a_named_path_that_is_missing_is_found(self):
        text = TREE["ARCHITECTURE.md"].replace("block.cc", "blocks.cc")
        self.expect_one(["`src/wire/blocks.cc`"], {"ARCHITECTURE.md": text})

    def test_a_named_function_that_moved_away_is_found(self):
        text = TREE["ARCHITECTURE.md"].replace("ReadBlock", "ParseBlock")
        self.expect_one(["`ParseBlock` is in src/wire/block.cc"], {"ARCHITECTURE.md": text})

    def test_a_folder_without_a_row_is_found(self):
        self.expect_one(["no row for src/query"], {"src/query/sql.cc": "int x;\n"})

    def test_a_source_without_a_row_is_found(self):
        self.expect_one(["no row for src/sources/paddle"], {"src/sources/paddle/hook.cc": "int x;\n"})

    def test_a_subfolder_without_a_row_is_found(self):
        self.expect_one(["no row for src/base/memory"], {"src/base/memory/arena.cc": "int x;\n"})

    def test_a_subfolder_may_not_include_what_the_folder_may(self):
        zigzag = {"src/wire/codec/zigzag.h": '#include "base/text.h"\n'}
        self.expect_one(["row of src/wire/codec does not allow src/base"], zigzag)

    def test_a_subfolder_may_not_include_the_folder_that_it_is_in(self):
        zigzag = {"src/wire/codec/zigzag.h": '#include "wire/block.h"\n'}
        self.expect_one(["row of src/wire/codec does not allow src/wire"], zigzag)

    def test_an_include_down_the_list_is_found(self):
        self.expect_one(["src/base/text.h", "wire/block.h"], {"src/base/text.h": '#include "wire/block.h"\n'})

    def test_an_internal_header_in_the_bindings_is_found(self):
        self.expect_one(["python/bindings", "wire/block.h"], {"python/bindings/module.cc": '#include "wire/block.h"\n'})

    def test_an_internal_header_in_a_public_one_is_found(self):
        self.expect_one(["base/text.h"], {"include/opscope/trace.h": '#include "base/text.h"\n'})

    def test_a_vendor_header_in_a_public_one_is_found(self):
        self.expect_one(["<zstd.h>"], {"include/opscope/trace.h": "#include <zstd.h>\n"})

    def test_a_vendor_header_in_the_wrong_layer_is_found(self):
        self.expect_one(["allows no torch"], {"src/wire/block.h": "#include <ATen/ATen.h>\n"})

    def test_a_library_that_nobody_declared_is_found(self):
        self.expect_one(["boost/any.hpp"], {"src/wire/block.h": "#include <boost/any.hpp>\n"})

    def test_a_header_that_is_not_only_for_tests_may_not_include_googletest(self):
        self.expect_one(["block_for_test.h", "GoogleTest"], {"src/wire/block.h": '#include "wire/block_for_test.h"\n'})

    def test_a_test_may_include_a_header_for_tests_of_another_layer(self):
        test = {"src/base/text_test.cc": '#include "wire/block_for_test.h"\n'}
        self.assertEqual(self.violations(**test), [])

    def test_a_public_header_that_does_not_exist_is_found(self):
        self.expect_one(["opscope/nothing.h"], {"src/wire/block.h": '#include "opscope/nothing.h"\n'})

    def test_a_public_header_that_the_row_does_not_take_is_found(self):
        self.expect_one(
            ["src/base/text.h", "opscope/trace.h", "not take"], {"src/base/text.h": '#include "opscope/trace.h"\n'}
        )

    def test_a_header_of_one_framework_is_not_taken_with_the_others(self):
        block = {"src/wire/block.h": '#include "opscope/torch/events.h"\n'}
        self.expect_one(["row of src/wire does not take"], block)

    def test_a_test_may_take_any_public_header(self):
        self.assertEqual(self.violations(**{"src/base/text_test.cc": '#include "opscope/torch/events.h"\n'}), [])

    def test_a_header_of_one_framework_in_a_public_one_is_found(self):
        trace = {"include/opscope/trace.h": '#include "opscope/torch/events.h"\nint x;\n'}
        self.expect_one(["row of include/opscope does not allow include/opscope/torch"], trace)

    def test_a_public_header_of_nothing_but_headers_may_gather_any(self):
        report = '// All of it.\n#pragma once\n\n#include "opscope/torch/events.h"\n'
        self.assertEqual(self.violations(**{"include/opscope/report.h": report}), [])

    def test_an_import_of_a_skin_by_what_serves_all_skins_is_found(self):
        for text in ("from ..torch import events\n", "from .. import torch\n", "import opscope.torch.events\n"):
            self.expect_one(["adapters/cache.py", "python/opscope/torch"], {"python/opscope/adapters/cache.py": text})

    def test_an_import_within_a_function_is_found(self):
        log = {"python/opscope/log.py": "def say():\n    from opscope.torch.events import x\n"}
        self.expect_one(["imports opscope/torch/events"], log)

    def test_a_package_that_the_row_does_not_name_is_found(self):
        self.expect_one(["allows no torch"], {"python/opscope/log.py": "import torch.nn\n"})

    def test_an_import_of_typescript_to_the_right_is_found(self):
        for statement in (
            'import { App } from "../ui/app.tsx";\n',
            'import type {\n  App,\n} from "../ui/app.tsx";\n',
            'export * from "../ui/app.tsx";\n',
            'import "../ui/app.css";\n',
            'const app = await import("../ui/app.tsx");\n',
        ):
            self.expect_one(["model/name.ts", "does not allow web/src/ui"], {"web/src/model/name.ts": statement})

    def test_a_package_of_typescript_that_the_row_does_not_name_is_found(self):
        for package, name in (
            ("preact", "preact/hooks"),
            ("vitest", "vitest"),
            ("node", "node:fs"),
            ("@a/b", "@a/b/c"),
        ):
            self.expect_one([f"allows no {package}"], {"web/src/model/name.ts": f'import {{ x }} from "{name}";\n'})

    def test_a_file_of_typescript_that_does_not_exist_is_found(self):
        self.expect_one(["./nothing.ts", "not exist"], {"web/src/model/name.ts": 'import "./nothing.ts";\n'})

    def test_an_import_of_what_is_for_tests_is_found(self):
        name = {"web/src/model/name.ts": 'import { some } from "./names_for_test.ts";\n'}
        self.expect_one(["only tests may"], name)

    def test_a_folder_of_typescript_without_a_row_is_found(self):
        self.expect_one(["no row for web/src/draw"], {"web/src/draw/canvas.ts": "export {};\n"})

    def test_a_long_file_of_the_page_is_found(self):
        for name in ("web/src/model/name.ts", "web/src/ui/app.css", "web/tests/tabs.mjs"):
            self.expect_one([name, "over 400"], {name: "\n" * 401})

    def test_a_folder_of_python_without_a_row_is_found(self):
        self.expect_one(["no row for python/opscope/paddle"], {"python/opscope/paddle/profile.py": "import os\n"})

    def test_a_short_include_is_found(self):
        self.expect_one(["short name"], {"src/wire/block.cc": '#include "block.h"\nReadBlock\n'})

    def test_a_long_file_is_found(self):
        self.expect_one(["401 lines"], {"src/wire/block.h": "int x;\n" * 401})

    def test_a_large_file_is_found(self):
        self.expect_one(["web/trace.json: 513 KiB"], {"web/trace.json": "x" * (513 << 10)})

    def test_a_folder_of_the_root_that_the_map_does_not_name_is_found(self):
        self.expect_one(["what the folder a is"], {"a/1.chrome_timeline.json": "{}"})

    def test_a_folder_of_the_root_without_layers_may_be_named(self):
        text = TREE["ARCHITECTURE.md"] + "\nThe folder `a/` has traces.\n"
        self.assertEqual(self.violations(**{"ARCHITECTURE.md": text, "a/trace.json": "{}"}), [])

    def test_a_generated_file_may_be_long(self):
        text = "// What it is.\nGenerated from a.def\n" + "int x;\n" * 401
        self.assertEqual(self.violations(**{"src/wire/block.h": text}), [])

    def test_a_quote_that_no_longer_stands_in_its_source_is_found(self):
        self.expect_one(["does not occur in examples/a.py"], {"examples/a.py": "x = 2\n"})

    def test_a_quote_from_a_missing_file_is_found(self):
        text = TREE["README.md"].replace("a.py", "b.py")
        self.expect_one(["examples/b.py, which does not exist"], {"README.md": text})

    def test_long_code_without_a_source_is_found(self):
        self.expect_one(["names no source"], {"docs/x.md": "```python\na\nb\nc\nd\n```\n"})

    def test_a_picture_needs_no_source(self):
        self.assertEqual(self.violations(**{"docs/x.md": "```text\na\nb\nc\nd\n```\n"}), [])


if __name__ == "__main__":
    unittest.main()
