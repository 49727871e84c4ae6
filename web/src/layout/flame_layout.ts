// Rectangles of a flame graph: a frame lies below its caller and is as wide as its part of the caller's value.
//
// Example: a width of 100 px, a(10) > b(6), c(3): a covers [0, 100), b [0, 60), c [60, 90); the last 10 px below a are
// its self value. With a focus, the focus and its callers cover the whole width. Frames narrower than `narrowest` have
// no rectangle, and nothing below them has one; neighbours that are too narrow share one block with node -1.
// SPDX-License-Identifier: Apache-2.0
import { type CallTree, type Children, pathTo } from "../model/call_tree.ts";
import { partitionPoint } from "../model/search.ts";

export interface FlameFrame {
  // -1: a block of frames that are too narrow.
  node: number;
  // The root has row 0.
  row: number;
  left: number;
  width: number;
}

export interface FlameLayout {
  // By row, from left to right.
  frames: FlameFrame[][];
  // Row of the focus.
  focusRow: number;
}

export function layoutFlame(tree: CallTree, children: Children, focus: number, width: number, narrowest: number): FlameLayout {
  const frames: FlameFrame[][] = [];
  const add = (node: number, row: number, left: number, size: number) => {
    (frames[row] ??= []).push({ node, row, left, width: size });
  };
  const callers = [0, ...pathTo(tree, focus)];
  callers.forEach((node, row) => add(node, row, 0, width));
  const focusRow = callers.length - 1;
  const scale = tree.total[focus]! > 0 ? width / tree.total[focus]! : 0;
  let level: FlameFrame[] = frames[focusRow] ?? [];
  for (let row = focusRow + 1; level.length > 0; ++row) {
    for (const { node, left } of level) {
      if (node >= 0) layoutChildren(tree, children, node, left, scale, narrowest, (child, at, size) => add(child, row, at, size));
    }
    level = frames[row] ?? [];
  }
  return { frames, focusRow };
}

function layoutChildren(
  tree: CallTree,
  children: Children,
  node: number,
  left: number,
  scale: number,
  narrowest: number,
  add: (node: number, left: number, width: number) => void,
): void {
  let before = 0;
  let block = -1;
  const closeBlock = () => {
    if (block >= 0 && (before - block) * scale >= narrowest) add(-1, left + block * scale, (before - block) * scale);
    block = -1;
  };
  for (let i = children.first[node]!; i < children.first[node + 1]!; ++i) {
    const child = children.list[i]!;
    const value = Math.max(0, tree.total[child]!);
    if (value === 0) continue;
    if (value * scale < narrowest) {
      if (block < 0) block = before;
    } else {
      closeBlock();
      add(child, left + before * scale, value * scale);
    }
    before += value;
  }
  closeBlock();
}

// The frame at a point; null where the graph has no frame.
export function frameAt(layout: FlameLayout, row: number, x: number): FlameFrame | null {
  const frames = layout.frames[row] ?? [];
  const frame = frames[partitionPoint(0, frames.length, (at) => frames[at]!.left + frames[at]!.width <= x)];
  return frame !== undefined && frame.left <= x ? frame : null;
}

export type Direction = "up" | "down" | "left" | "right";

// The frame to which an arrow key leads: the caller, the first frame below, or the neighbour in the row.
export function adjacentFrame(layout: FlameLayout, tree: CallTree, node: number, direction: Direction): number {
  const row = pathTo(tree, node).length;
  if (direction === "up") return Math.max(0, tree.parent[node]!);
  const named = (layout.frames[direction === "down" ? row + 1 : row] ?? []).filter((frame) => frame.node >= 0);
  if (direction === "down") return named.find((frame) => tree.parent[frame.node] === node)?.node ?? node;
  const at = named.findIndex((frame) => frame.node === node);
  return named[at + (direction === "left" ? -1 : 1)]?.node ?? node;
}
