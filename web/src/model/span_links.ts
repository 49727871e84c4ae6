// What belongs to single spans: flows to other spans, arguments, call stacks.
// SPDX-License-Identifier: Apache-2.0
import { decodeIndices } from "./columns.ts";
import type { WebDocument } from "./document.ts";
import { partitionPoint } from "./search.ts";
import type { FlowKind, SpanArgument } from "./span_source.ts";

const kFlowKinds: readonly FlowKind[] = ["launch", "fwdbwd", "async", "other"];

export interface Flow {
  kind: FlowKind;
  // Numbers of spans.
  from: number;
  to: number;
}

export async function loadFlows(document: WebDocument): Promise<Flow[]> {
  const { kind, from, to } = document.timeline.flows;
  const [kinds, froms, tos] = await Promise.all([decodeIndices(kind), decodeIndices(from), decodeIndices(to)]);
  return Array.from(kinds, (each, at) => ({ kind: kFlowKinds[each] ?? "other", from: froms[at]!, to: tos[at]! }));
}

// The arguments of a span, and its call stack where the document has one.
export async function loadArguments(document: WebDocument, span: number): Promise<{ arguments: SpanArgument[]; stack: string }> {
  const { strings, timeline } = document;
  const text = (index: number | undefined) => strings[index ?? -1] ?? "";
  const [owners, keys, values] = await Promise.all([
    decodeIndices(timeline.arguments.span),
    decodeIndices(timeline.arguments.key),
    decodeIndices(timeline.arguments.value),
  ]);
  const found: SpanArgument[] = [];
  for (let at = firstOf(owners, span); owners[at] === span; ++at) found.push({ key: text(keys[at]), value: plainText(text(values[at])) });
  let stack = "";
  if (timeline.stacks !== undefined) {
    const [stackOwners, stacks] = await Promise.all([decodeIndices(timeline.stacks.span), decodeIndices(timeline.stacks.stack)]);
    const at = firstOf(stackOwners, span);
    if (stackOwners[at] === span) stack = text(stacks[at]);
  }
  return { arguments: found, stack };
}

// Position of the first owner that is `span` or more; owners ascend.
function firstOf(owners: Int32Array, span: number): number {
  return partitionPoint(0, owners.length, (at) => owners[at]! < span);
}

function plainText(json: string): string {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
