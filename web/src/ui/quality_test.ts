// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { packTable, StringTable } from "../model/document_for_test.ts";
import { readTable } from "../model/tables.ts";
import { reasonsText } from "./quality.tsx";

const strings = new StringTable();
const kProblems = readTable(packTable(strings, ["kind:text", "message:text"], [["rank_missing", "ranks have no file (2 to 127)"]]), strings.texts);

test("reasons are kept apart", () => {
  expect(reasonsText(["614 works have no launch", "24 spans cross others"], [kProblems, null])).toBe("614 works have no launch; 24 spans cross others");
});

test("reasons of one kind are one", () => {
  const reasons = ["problem rank_missing (2 times)", "a", "problem rank_missing of rank 1, 3", "a", "problem truncated of rank 1"];
  expect(reasonsText(reasons, [kProblems])).toBe("problem rank_missing (2 times), of rank 1, 3: ranks have no file (2 to 127); a; problem truncated of rank 1");
});

test("a kind of problem is followed by its sentence", () => {
  expect(reasonsText(["problem rank_missing (126 times)"], [null, kProblems])).toBe("problem rank_missing (126 times): ranks have no file (2 to 127)");
  expect(reasonsText(["problem truncated"], [kProblems])).toBe("problem truncated");
});
