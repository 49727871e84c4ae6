// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { Origin, parseDocument } from "./document.ts";
import { emptyDocument } from "./document_for_test.ts";

describe("parseDocument", () => {
  const text = JSON.stringify(emptyDocument());

  it("reads its own major version and later minor versions", () => {
    expect(parseDocument(text, "opscope.web/1").title).toBe("empty.json");
    expect(parseDocument(text, "opscope.web/1.4").title).toBe("empty.json");
  });

  it("refuses another major version in the element or in the data with a sentence", () => {
    expect(() => parseDocument(text, "opscope.web/2")).toThrow("opscope.web/2");
    expect(() => parseDocument(text, null)).toThrow("schema");
    expect(() => parseDocument(text.replace("opscope.web/1", "opscope.web/10"), "opscope.web/1")).toThrow("opscope.web/10");
  });

  it("refuses data that is missing or damaged with a sentence", () => {
    expect(() => parseDocument("", "opscope.web/1")).toThrow("no data");
    expect(() => parseDocument("{", "opscope.web/1")).toThrow("not JSON");
    expect(() => parseDocument("[]", "opscope.web/1")).toThrow("not an object");
    expect(() => parseDocument('{"schema":"opscope.web/1"}', "opscope.web/1")).toThrow('no "clock"');
  });
});

describe("Origin", () => {
  it("has a range of at least 1 ns", () => {
    expect(new Origin({ start_ns: 5, end_ns: 5, epoch_ns: null }).length).toBe(1);
  });

  it("converts times beyond 2^53 without loss", () => {
    const origin = new Origin({ start_ns: "1661203462584767001", end_ns: "1661203463064022000", epoch_ns: null });
    expect(origin.length).toBe(479254999);
    expect(origin.relative("1661203462584767003")).toBe(2);
    expect(origin.exact(2)).toBe(1661203462584767003n);
  });
});
