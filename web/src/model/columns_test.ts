// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { decodeColumn, decodeIndices } from "./columns.ts";
import { packColumn } from "./document_for_test.ts";

const kValues = [0, 1, -1, 63, 64, -64, -65, 2 ** 31, -(2 ** 31), 2 ** 48 - 1, 2 ** 48, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 5];

describe("decodeColumn", () => {
  it("reads back every safe integer, with and without differences", async () => {
    for (const d of [0, 1] as const) {
      expect(Array.from(await decodeColumn(packColumn(kValues, d)))).toEqual(kValues);
    }
  });

  it("reads the bytes of the contract", async () => {
    // 3, 5, 4 as differences 3, 2, -1: the varints 06 04 01.
    expect(Array.from(await decodeColumn({ n: 3, d: 1, z: "eJxjY2EEAAAeAAw=" }))).toEqual([3, 5, 4]);
  });

  it("gives times relative to a begin that no double can hold", async () => {
    const start = 1661203462584767001n;
    const times = [start, start + 1n, start + 10n ** 12n, start + 7n];
    for (const d of [0, 1] as const) {
      expect(Array.from(await decodeColumn(packColumn(times, d), start))).toEqual([0, 1, 1e12, 7]);
    }
  });

  it("adds differences modulo 2^64, as the writer takes them", async () => {
    const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];
    // From the least to the most value it is one step back.
    const column = packColumn([least, -1n, 5n - most]);
    expect(Array.from(await decodeColumn({ ...column, d: 1 }))).toEqual([Number(least), Number(most), 5]);
    expect(Array.from(await decodeColumn(packColumn([least, least + 5n]), least))).toEqual([0, 5]);
  });

  it("does not add up what it rounds", async () => {
    const step = 2 ** 48 - 1;
    const up = Array.from({ length: 100 }, () => step);
    const column = packColumn([...up, ...up.map((each) => -each), 7]);
    expect((await decodeColumn({ ...column, d: 1 })).slice(-2)).toEqual(Float64Array.from([0, 7]));
  });

  it("reads an empty column", async () => {
    expect((await decodeColumn({ n: 0, d: 0, z: "" })).length).toBe(0);
  });

  it("refuses a column that is shorter or longer than it says", async () => {
    const column = packColumn([1, 2, 3]);
    await expect(decodeColumn({ ...column, n: 4 })).rejects.toThrow("damaged");
    await expect(decodeColumn({ ...column, n: 2 })).rejects.toThrow("damaged");
    await expect(decodeColumn({ ...column, n: -1 })).rejects.toThrow("damaged");
  });
});

describe("decodeIndices", () => {
  it("reads back small integers, with and without differences", async () => {
    for (const d of [0, 1] as const) {
      expect(Array.from(await decodeIndices(packColumn([5, 3, 1000, -1], d)))).toEqual([5, 3, 1000, -1]);
    }
  });
});
