// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { exactText, format, parseExact, parseNumber, splitNumber, visibleText } from "./numbers.ts";

describe("format", () => {
  it("writes a time with the largest unit it reaches and three decimals", () => {
    expect(format(1234567, "time")).toEqual({ exact: "1234567", text: "1.235 ms" });
    expect(format(999, "time").text).toBe("999 ns");
    expect(format(1000, "time").text).toBe("1.000 us");
    expect(format(12_345_678_901, "time").text).toBe("12.346 s");
    expect(format(-1500, "time")).toEqual({ exact: "-1500", text: "-1.500 us" });
    expect(format(12.5, "time").text).toBe("12.500 ns");
  });

  it("takes the next unit when rounding reaches it", () => {
    expect(format(999_999_999, "time").text).toBe("1.000 s");
    expect(format(2 ** 20 - 1, "bytes").text).toBe("1.00 MiB");
    expect(format(999_999_600, "amount").text).toBe("1.000 G");
  });

  it("writes sizes in powers of 1024 and amounts in powers of 1000", () => {
    expect(format(1023, "bytes").text).toBe("1023 B");
    expect(format(1536, "bytes").text).toBe("1.50 KiB");
    expect(format(5 * 2 ** 30, "bytes").text).toBe("5.00 GiB");
    expect(format(12_345, "amount").text).toBe("12.345 k");
    expect(format(999, "amount").text).toBe("999");
  });

  it("shows at least three digits of a share", () => {
    expect(format(0.123456, "share")).toEqual({ exact: "0.123456", text: "12.35 %" });
    expect(format(0.00123, "share").text).toBe("0.1230 %");
    expect(format(0.0000123, "share").text).toBe("0.00123 %");
    expect(format(1, "share").text).toBe("100.00 %");
    expect(format(0, "share").text).toBe("0.00 %");
  });

  it("puts commas at the thousands of counts and keeps all digits of large ones", () => {
    expect(format(1234567, "number").text).toBe("1,234,567");
    expect(format(12345678901234567890n, "number")).toEqual({
      exact: "12345678901234567890",
      text: "12,345,678,901,234,567,890",
    });
  });

  it("writes doubles with at least three digits", () => {
    expect(format(2, "double").text).toBe("2");
    expect(format(1234.5678, "double").text).toBe("1,234.57");
    expect(format(0.052, "double").text).toBe("0.0520");
    expect(format(1e-9, "double").text).toBe("1.00e-9");
  });

  it("writes an unknown value as a dash with an empty exact value", () => {
    for (const unit of ["time", "bytes", "share", "number", "text", "truth"] as const) {
      expect(format(null, unit)).toEqual({ exact: "", text: "–" });
    }
    expect(format(Number.NaN, "double")).toEqual({ exact: "", text: "–" });
    expect(format(Number.POSITIVE_INFINITY, "time")).toEqual({ exact: "", text: "–" });
  });

  it("keeps an empty name apart from an unknown one", () => {
    expect(format("", "text")).toEqual({ exact: "", text: "" });
  });
});

describe("exact values", () => {
  it("have no minus before zero and no exponent", () => {
    expect(exactText(-0)).toBe("0");
    expect(exactText(Number.MAX_SAFE_INTEGER)).toBe("9007199254740991");
  });

  it("of the document are numbers or digits", () => {
    expect(parseExact("1661203462584767001")).toBe(1661203462584767001n);
    expect(parseExact(1.5)).toBeNull();
    expect(parseExact("12x")).toBeNull();
    expect(parseNumber(1.5)).toBe(1.5);
    expect(parseNumber(null)).toBeNull();
  });
});

describe("splitNumber", () => {
  it("splits before the decimal point, or before the unit", () => {
    expect(splitNumber("1,234.57 ms")).toEqual(["1,234", ".57 ms"]);
    expect(splitNumber("818 ns")).toEqual(["818", " ns"]);
    expect(splitNumber("–")).toEqual(["–", ""]);
  });
});

describe("visibleText", () => {
  it("shows control characters, direction marks and lone surrogates as escapes", () => {
    expect(visibleText("a\u202eb\u0000\nc\u200f\u2066")).toBe("a\\u{202E}b\\u{0}\\u{A}c\\u{200F}\\u{2066}");
    expect(visibleText("\ud800x")).toBe("\\u{D800}x");
  });

  it("leaves other texts as they are", () => {
    expect(visibleText("<b>Größe</b> 😀 שלום")).toBe("<b>Größe</b> 😀 שלום");
  });
});
