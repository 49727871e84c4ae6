// Binary search.
// SPDX-License-Identifier: Apache-2.0

// The first position in [low, high) at which `isBefore` is false; `high` if it is true everywhere. `isBefore` must be
// true up to some position and false from there on.
export function partitionPoint(low: number, high: number, isBefore: (position: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
