// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { emptyDocument, packColumn } from "./document_for_test.ts";
import { countMatches, decodeNames } from "./names.ts";

describe("countMatches", () => {
  it("counts the spans of all names that contain the text and ignores case", async () => {
    const document = emptyDocument();
    document.strings = ["", "aten::MM", "mm_out", "relu"];
    document.timeline.names = { name: packColumn([1, 2, 3], 1), count: packColumn([10, 5, 1]) };
    const names = await decodeNames(document);
    expect(countMatches(names, "mm")).toBe(15);
    expect(countMatches(names, "Aten")).toBe(10);
    expect(countMatches(names, "nothing")).toBe(0);
    expect(countMatches(names, "")).toBe(0);
  });
});
