// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { kAddressScale } from "../../draw/memory_map_canvas.ts";
import { type BlocksData, Origin } from "../../model/document.ts";
import { emptyDocument, packColumn } from "../../model/document_for_test.ts";
import { type Page, PageContext } from "../page_context.ts";
import { MemoryMaps } from "./memory_map.tsx";

const kBlock: BlocksData = {
  device: 0,
  base: "4096",
  address: packColumn([0]),
  bytes: packColumn([512]),
  start: packColumn([0]),
  duration: packColumn([1000]),
  state: packColumn([1]),
  name: packColumn([0]),
  category: packColumn([0]),
  stack: packColumn([0]),
  left_out: 0,
  left_out_bytes: 0,
  without_address: 0,
};

test("a pointer that the browser takes away ends its drag", async () => {
  const made = emptyDocument();
  made.memory.blocks = [kBlock];
  await act(() => render(h(PageContext.Provider, { value: { document: made, origin: new Origin(made.clock) } as unknown as Page }, h(MemoryMaps, {})), document.body));
  const canvas = await vi.waitFor(async () => {
    await act(() => new Promise<void>((done) => setTimeout(done)));
    return document.querySelector("canvas") ?? Promise.reject(new Error("The blocks are not there yet."));
  });
  canvas.setPointerCapture = () => {};
  // The canvas has no size here, so the block covers the first pixel of the picture.
  const send = (type: string) =>
    act(() => void canvas.dispatchEvent(new PointerEvent(type, { button: 0, pointerId: 1, clientX: kAddressScale + 0.5, clientY: 0.5, bubbles: true })));
  await send("pointerdown");
  await send("pointermove");
  expect(canvas.className).toBe("");
  await send("pointercancel");
  await send("pointermove");
  expect(canvas.className).toBe("over");
});
