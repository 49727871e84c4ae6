// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { partitionPoint } from "./search.ts";

it("finds the first position that is not before, in every part of every list", () => {
  for (let size = 0; size < 9; ++size) {
    for (let cut = 0; cut <= size; ++cut) {
      for (let low = 0; low <= size; ++low) {
        expect(partitionPoint(low, size, (at) => at < cut)).toBe(Math.max(low, cut));
      }
    }
  }
});
