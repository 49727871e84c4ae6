// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { kAllRows, rowWindow } from "./row_window.ts";

describe("rowWindow", () => {
  it("has all rows of a short table", () => {
    expect(rowWindow(kAllRows, 30, 999, 100)).toEqual({ first: 0, end: kAllRows });
  });

  it("has the rows in view and some around them", () => {
    expect(rowWindow(10_000, 30, 3000, 600)).toEqual({ first: 85, end: 135 });
  });

  it("stays within the table at both ends", () => {
    expect(rowWindow(1000, 30, -50, 600)).toEqual({ first: 0, end: 35 });
    expect(rowWindow(1000, 30, 1_000_000, 600)).toEqual({ first: 984, end: 1000 });
  });
});
