// The blocks of a device's memory: when each was allocated and freed, where it lies, and who allocated it.
// SPDX-License-Identifier: Apache-2.0
import { decodeColumn, decodeIndices } from "./columns.ts";
import { type BlocksData, Origin, type WebDocument } from "./document.ts";

// Bits of `state`.
export const kKept = 1;
export const kFromBefore = 2;

export interface MemoryBlocks {
  device: string;
  // Lowest address of all blocks.
  base: bigint;
  // Less `base`.
  address: Float64Array;
  bytes: Float64Array;
  // Relative ns. The end of a block that was never freed is that of the recording.
  start: Float64Array;
  duration: Float64Array;
  state: Int32Array;
  // Indices of texts.
  name: Int32Array;
  category: Int32Array;
  stack: Int32Array;
  leftOut: number;
  leftOutBytes: number;
  withoutAddress: number;
}

export async function loadBlocks(document: WebDocument, data: BlocksData): Promise<MemoryBlocks> {
  const origin = new Origin(document.clock).start;
  const [address, bytes, start, duration] = await Promise.all([decodeColumn(data.address), decodeColumn(data.bytes), decodeColumn(data.start, origin), decodeColumn(data.duration)]);
  const [state, name, category, stack] = await Promise.all([decodeIndices(data.state), decodeIndices(data.name), decodeIndices(data.category), decodeIndices(data.stack)]);
  return {
    device: document.strings[data.device] ?? "",
    base: BigInt(data.base),
    ...{ address, bytes, start, duration, state, name, category, stack },
    leftOut: data.left_out,
    leftOutBytes: Number(data.left_out_bytes),
    withoutAddress: data.without_address,
  };
}

export function addressText(blocks: MemoryBlocks, offset: number): string {
  return `0x${BigInt.asUintN(64, blocks.base + BigInt(Math.round(offset))).toString(16)}`;
}
