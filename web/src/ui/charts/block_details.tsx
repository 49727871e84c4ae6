// The region with the details of a block of memory.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "../../model/document.ts";
import { addressText, kFromBefore, kKept, type MemoryBlocks } from "../../model/memory_blocks.ts";
import { format, type Value, visibleText } from "../../model/numbers.ts";
import { SinceBegin } from "../figure.tsx";
import { usePage } from "../page_context.ts";

export function BlockDetails({ blocks, block }: { blocks: MemoryBlocks; block: number }) {
  const { document, origin } = usePage();
  const text = (index: number) => document.strings[index] ?? "";
  if (block < 0) {
    return (
      <section class="details" role="region" aria-label="Block">
        <p class="hint keys">Select a block to see its details.</p>
      </section>
    );
  }
  const state = blocks.state[block]!;
  const [start, duration] = [blocks.start[block]!, blocks.duration[block]!];
  const isBefore = (state & kFromBefore) !== 0;
  const isKept = (state & kKept) !== 0;
  const stack = text(blocks.stack[block]!);
  const fields: [string, string, Value, Unit, string?][] = [
    ["name", "allocated by", text(blocks.name[block]!), "text", isBefore ? "unknown" : "(none)"],
    ["bytes", "size", blocks.bytes[block]!, "bytes"],
    ["address", "address", addressText(blocks, blocks.address[block]!), "text"],
    ["category", "category", text(blocks.category[block]!), "text", "unknown"],
    ["allocated_ns", "allocated", isBefore ? null : origin.exact(start), "time", "before the recording"],
    ["freed_ns", "freed", isKept ? null : origin.exact(start + duration), "time", "never within the recording"],
    ["lifetime_ns", isBefore || isKept ? "lifetime, at least" : "lifetime", duration, "time"],
    ["stack", "call stack", stack, "text", "not recorded"],
  ];
  return (
    <section class="details" role="region" aria-label="Block">
      <h2>{visibleText(text(blocks.name[block]!)) || "Block"}</h2>
      <dl>
        {fields.map(([field, title, value, unit, missing]) => {
          const isMissing = value === null || value === "";
          const since = typeof value === "bigint" ? origin.sinceBegin(value) : null;
          return (
            <div key={field}>
              <dt>{title}</dt>
              <dd data-field={field} data-value={String(value ?? "")}>
                {isMissing ? `– ${missing ?? ""}` : field === "stack" ? stack.split("\n").map((frame, at) => <span key={at}>{visibleText(frame)}</span>) : format(value, unit).text}
              </dd>
              {since !== null && (
                <dd>
                  <SinceBegin since={since} />
                </dd>
              )}
            </div>
          );
        })}
      </dl>
    </section>
  );
}
