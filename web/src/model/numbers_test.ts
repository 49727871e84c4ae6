// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { format } from "./numbers.ts";

describe("format", () => {
  it("writes a time with the largest unit it reaches and three decimals", () => {
    expect(format(1234567, "time")).toEqual({ exact: "1234567", text: "1.235 ms" });
  });
});
