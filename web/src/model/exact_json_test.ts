// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { parseExactJson, plainValue } from "./exact_json.ts";

it("numbers keep the digits that a double cannot hold", () => {
  const read = parseExactJson('{"id": 9007199254740993, "list": [1.0, -9223372036854775808, 1e400], "text": "1.0", "flag": true}');
  const shown = Object.entries(read as object).map(([key, value]) => [key, plainValue(value)]);
  expect(shown).toEqual([["id", "9007199254740993"], ["list", "[1.0,-9223372036854775808,1e400]"], ["text", "1.0"], ["flag", "true"]]);
});
