// Decodes columns of integers: base64, zlib, LEB128 varints, zigzag, and differences where the column says so.
//
// Example: the values 3, 5, 4 with d = 1 are the differences 3, 2, -1, in zigzag 6, 4, 1, which are the bytes 06 04 01
// before compression. Long columns are decoded in turns, between which the page draws and takes keys. Most varints have
// at most seven bytes, so the decoder adds doubles and takes BigInt only for longer ones; that is 20 times faster than
// BigInt for every value, and exact up to 2^53.
// SPDX-License-Identifier: Apache-2.0
import { DocumentError, type PackedColumn } from "./document.ts";

async function inflate(base64: string): Promise<Uint8Array> {
  const letters = atob(base64);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; ++i) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// 2^0, 2^7, ... 2^42: a varint of seven bytes is below 2^49.
const kPowers = [1, 2 ** 7, 2 ** 14, 2 ** 21, 2 ** 28, 2 ** 35, 2 ** 42];

class VarintReader {
  #at = 0;
  readonly #bytes: Uint8Array;
  // The value of the last varint that `next` could not give as a number.
  long = 0n;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  // The next value; undefined: it is in `long`.
  next(): number | undefined {
    const begin = this.#at;
    let zigzag = 0;
    for (let digit = 0; digit < kPowers.length; ++digit) {
      const byte = this.#byte();
      zigzag += (byte & 0x7f) * kPowers[digit]!;
      if (byte < 0x80) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    }
    this.#at = begin;
    this.#readLong();
    return undefined;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw damaged();
    return byte;
  }

  #readLong(): void {
    let zigzag = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (shift > 63n) throw damaged();
      const byte = this.#byte();
      zigzag |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    this.long = zigzag & 1n ? -((zigzag + 1n) >> 1n) : zigzag >> 1n;
  }
}

function damaged(): DocumentError {
  return new DocumentError("A column of the data is damaged. Write the report again.");
}

// A column is decoded for so long at a time, in ms; the clock is read once per so many values.
const kTurn = 4;
const kTurnValues = 4096;

// Waits for the next turn where the present one has been long enough.
class Turns {
  #begin = performance.now();

  isOver(at: number): boolean {
    return at % kTurnValues === kTurnValues - 1 && performance.now() - this.#begin > kTurn;
  }

  async next(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#begin = performance.now();
  }
}

function checkedLength(column: PackedColumn): number {
  if (!Number.isSafeInteger(column.n) || column.n < 0) throw damaged();
  return column.n;
}

// The values less `origin`, for times: `origin` is the begin of the clock (`Origin.start`). Values whose distance to the
// origin exceeds 2^53 are rounded.
export async function decodeColumn(column: PackedColumn, origin = 0n): Promise<Float64Array<ArrayBuffer>> {
  const count = checkedLength(column);
  const values = new Float64Array(count);
  if (count === 0) return values;
  const reader = new VarintReader(await inflate(column.z));
  // The running value is `far` + `near`; `far` is 0 as soon as the sum fits into a double.
  const isNear = Number.isSafeInteger(Number(origin));
  const firstFar = isNear ? 0n : -origin;
  const firstNear = isNear ? 0 - Number(origin) : 0;
  let far = firstFar;
  let near = firstNear;
  const turns = new Turns();
  for (let i = 0; i < count; ++i) {
    if (turns.isOver(i)) await turns.next();
    if (column.d === 0) {
      far = firstFar;
      near = firstNear;
    }
    const value = reader.next();
    if (value === undefined) {
      far += reader.long;
    } else if (Number.isSafeInteger(near + value)) {
      near += value;
    } else {
      far += BigInt(value);
    }
    if (far !== 0n) {
      // Values with the origin, not those less it, wrap around.
      const sum = BigInt.asIntN(64, far + BigInt(near) + origin) - origin;
      if (Number.isSafeInteger(Number(sum))) {
        near = Number(sum);
        far = 0n;
      } else {
        far = sum;
        near = 0;
      }
      values[i] = Number(sum);
    } else {
      values[i] = near;
    }
  }
  if (!reader.atEnd) throw damaged();
  return values;
}

// The values of a column of small integers: depths, and indices into `strings`, tracks or spans.
export async function decodeIndices(column: PackedColumn): Promise<Int32Array<ArrayBuffer>> {
  const count = checkedLength(column);
  const values = new Int32Array(count);
  if (count === 0) return values;
  const reader = new VarintReader(await inflate(column.z));
  let last = 0;
  const turns = new Turns();
  for (let i = 0; i < count; ++i) {
    if (turns.isOver(i)) await turns.next();
    const value = reader.next();
    if (value === undefined) throw damaged();
    last = column.d === 1 ? last + value : value;
    values[i] = last;
  }
  if (!reader.atEnd) throw damaged();
  return values;
}
