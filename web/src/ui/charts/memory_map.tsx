// The blocks of a device's memory over address and time: a picture to zoom, and the details of a block.
//
// The blocks carry the keys of the timeline (w a s d 0 . ,) and the pointer does the same in both directions, because
// the picture has two axes: Ctrl+wheel zooms, dragging pans.
// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawMemoryMap, kAddressScale, kTimeScale } from "../../draw/memory_map_canvas.ts";
import { blockAt, heightOf, largestKeys, type MapView, panMap, placeAddresses, viewWith, wholeView, zoomMap } from "../../layout/memory_map_layout.ts";
import type { BlocksData } from "../../model/document.ts";
import { loadBlocks, type MemoryBlocks } from "../../model/memory_blocks.ts";
import { countText, visibleText } from "../../model/numbers.ts";
import { categoryHue, hueOf } from "../../model/palette.ts";
import { drawSoon } from "../draw_soon.ts";
import { Failure } from "../failure.tsx";
import { Figure } from "../figure.tsx";
import { usePage } from "../page_context.ts";
import { useColours } from "../theme.ts";
import { useLoaded } from "../use_loaded.ts";
import { useView } from "../use_view.ts";
import { BlockDetails } from "./block_details.tsx";
import "./memory_map.css";

// Further names of the legend are left out; the table Memory by operator has all.
const kLegend = 8;

export function MemoryMaps() {
  const { document } = usePage();
  const { blocks, blocks_left_out_devices: left } = document.memory;
  return (
    <>
      {blocks.map((data, at) => (
        <MemoryMap key={at} data={data} />
      ))}
      {left > 0 && (
        <p class="hint">
          The blocks of <Figure value={left} unit="number" /> further devices did not fit into this page.
        </p>
      )}
    </>
  );
}

function MemoryMap({ data }: { data: BlocksData }) {
  const { document } = usePage();
  const { data: blocks, failure } = useLoaded(() => loadBlocks(document, data), [data]);
  if (failure !== "") return <Failure message={failure} />;
  if (blocks === null) return null;
  const title = `Blocks of ${visibleText(blocks.device)} over time and address`;
  return (
    <figure class="memory-map" aria-label={title}>
      <figcaption>{title}</figcaption>
      {blocks.start.length === 0 ? <p class="hint">{emptyText(blocks)}</p> : <BlockPicture blocks={blocks} title={title} />}
    </figure>
  );
}

function emptyText(blocks: MemoryBlocks): string {
  if (blocks.leftOut > 0) return `The ${countText(blocks.leftOut)} blocks did not fit into this page; write it with a larger --max-size.`;
  if (blocks.withoutAddress === 0) return "No allocation of this device was recorded.";
  return "The addresses of the memory are not recorded, so its blocks cannot be drawn. Traces of PyTorch with profile_memory=True, memory snapshots and recordings of opscope have them.";
}

function BlockPicture({ blocks, title }: { blocks: MemoryBlocks; title: string }) {
  const { document } = usePage();
  const axis = useMemo(() => placeAddresses(blocks.address, blocks.bytes), [blocks]);
  const placed = useMemo(() => ({ ...blocks, height: blocks.address.map((address) => heightOf(axis, address)) }), [blocks, axis]);
  const whole = useMemo(() => wholeView(placed, axis), [placed, axis]);
  const hasCategories = useMemo(() => blocks.category.some((category) => (document.strings[category] ?? "") !== ""), [blocks]);
  const [asked, setAsked] = useState<MapView | null>(null);
  const [byCategory, setByCategory] = useState(hasCategories);
  const [selected, setSelected] = useState(-1);
  const [hovered, setHovered] = useState(-1);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ x: number; y: number; view: MapView; hasMoved: boolean } | null>(null);
  const size = useView(canvas, canvas);
  const colours = useColours();
  const view = asked ?? whole;
  const keys = byCategory ? blocks.category : blocks.name;
  const text = (key: number) => document.strings[key] ?? "";
  const hueOfKey = (key: number) => (byCategory ? categoryHue(text(key)) : hueOf(text(key)));
  const hues = useMemo(() => Uint8Array.from(keys, hueOfKey), [keys]);
  const legend = useMemo(() => largestKeys(keys, blocks.bytes, kLegend), [keys]);

  useLayoutEffect(() => {
    return drawSoon(() => {
      if (canvas.current === null || size.width === 0) return;
      drawMemoryMap(canvas.current, { blocks, placed, axis, view, colours, strings: document.strings, hues, selected, hovered, width: size.width, height: size.height });
    });
  }, [blocks, placed, axis, view, colours, hues, selected, hovered, size]);

  const inner = { width: Math.max(1, size.width - kAddressScale), height: Math.max(1, size.height - kTimeScale) };
  const pointOf = (event: MouseEvent) => {
    const corner = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - corner.left - kAddressScale, y: event.clientY - corner.top };
  };
  const blockUnder = (event: MouseEvent) => {
    const { x, y } = pointOf(event);
    return x < 0 || y > inner.height ? -1 : blockAt(placed, view, inner.width, inner.height, x, y);
  };
  const zoom = (factor: number, across?: number, up?: number) => setAsked(zoomMap(view, whole, factor, across, up));
  const pan = (across: number, up: number) => setAsked(panMap(view, whole, across, up));
  // Blocks are numbered by begin.
  const select = (block: number) => {
    if (block < 0 || block >= blocks.start.length) return;
    setSelected(block);
    setAsked(viewWith(view, whole, placed, block));
  };
  const actions: Record<string, () => void> = {
    w: () => zoom(2),
    s: () => zoom(0.5),
    a: () => pan(-0.25, 0),
    d: () => pan(0.25, 0),
    ArrowUp: () => pan(0, 0.25),
    ArrowDown: () => pan(0, -0.25),
    0: () => setAsked(null),
    ".": () => select(selected + 1),
    ",": () => select(selected < 0 ? blocks.start.length - 1 : selected - 1),
    Escape: () => setSelected(-1),
  };
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { x, y } = pointOf(event);
    zoom(2 ** (-event.deltaY / 200), Math.max(0, x / inner.width), Math.max(0, 1 - y / inner.height));
  };
  return (
    <>
      <div class="map-bar" role="toolbar" aria-label={`${title}: view`}>
        <button type="button" aria-label="Zoom into blocks" title="Zoom into blocks" onClick={() => zoom(2)}>
          +
        </button>
        <button type="button" aria-label="Zoom out of blocks" title="Zoom out of blocks" onClick={() => zoom(0.5)}>
          −
        </button>
        <button type="button" aria-label="Show all blocks" title="Show all blocks" onClick={() => setAsked(null)}>
          All
        </button>
        {hasCategories && (
          <label>
            Colour{" "}
            <select value={byCategory ? "category" : "operator"} onChange={(event) => setByCategory(event.currentTarget.value === "category")}>
              <option value="category">by category</option>
              <option value="operator">by operator</option>
            </select>
          </label>
        )}
      </div>
      <div
        class="map-picture"
        role="application"
        aria-label={title}
        tabIndex={0}
        onKeyDown={(event) => {
          const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : actions[event.key];
          if (act === undefined) return;
          event.preventDefault();
          act();
        }}
      >
        <canvas
          ref={canvas}
          class={hovered >= 0 ? "over" : ""}
          onWheel={onWheel}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            drag.current = { x: event.clientX, y: event.clientY, view, hasMoved: false };
          }}
          onPointerMove={(event) => {
            const active = drag.current;
            if (active === null) return setHovered(blockUnder(event));
            const [x, y] = [event.clientX - active.x, event.clientY - active.y];
            active.hasMoved ||= Math.abs(x) + Math.abs(y) > 3;
            if (active.hasMoved) setAsked(panMap(active.view, whole, -x / inner.width, y / inner.height));
          }}
          onPointerUp={(event) => {
            const active = drag.current;
            drag.current = null;
            if (active !== null && !active.hasMoved) setSelected(blockUnder(event));
          }}
          onPointerCancel={() => (drag.current = null)}
          onPointerLeave={() => setHovered(-1)}
        />
      </div>
      <ul class="legend" aria-label={byCategory ? "Categories" : "Operators"}>
        {legend.map(({ key, bytes }) => (
          <li key={key}>
            <i class={`hue hue-${hueOfKey(key)}`} aria-hidden="true" />
            <span data-value={text(key)}>{visibleText(text(key)) || (byCategory ? "unknown" : "(none)")}</span> <Figure value={bytes} unit="bytes" />
          </li>
        ))}
      </ul>
      <p class="hint">
        Addresses grow upwards; wide gaps are left out. A jagged edge: the block lives on beyond the recording.{" "}
        <span class="keys">w s zoom, a d ↑ ↓ pan, 0 all, . , next and previous block. Ctrl+wheel zooms, dragging pans.</span>
      </p>
      {blocks.leftOut > 0 && (
        <p class="hint">
          The other <Figure value={blocks.leftOut} unit="number" /> blocks, of <Figure value={blocks.leftOutBytes} unit="bytes" /> together, are left out of this page: those with the
          least bytes × lifetime.
        </p>
      )}
      {blocks.withoutAddress > 0 && (
        <p class="hint">
          <Figure value={blocks.withoutAddress} unit="number" /> allocations have no address and are not shown.
        </p>
      )}
      <BlockDetails blocks={blocks} block={hovered >= 0 && drag.current === null ? hovered : selected} />
    </>
  );
}
