// What belongs to single spans: flows to other spans, arguments, call stacks.
// SPDX-License-Identifier: Apache-2.0
import { decodeColumn, decodeIndices } from "./columns.ts";
import type { WebDocument } from "./document.ts";
import { getOrMake } from "./memo.ts";
import { partitionPoint } from "./search.ts";
import { type FlowKind, kFlowKinds, type SpanArgument } from "./span_source.ts";

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

interface ArgumentColumns {
  span: Int32Array;
  key: Int32Array;
  value: Int32Array;
  lists: { span: Int32Array; list: Int32Array; rowList: Int32Array; rowKey: Int32Array; rowValue: Int32Array };
  integers: { key: number; span: Int32Array; value: Float64Array }[];
  stacks: { span: Int32Array; stack: Int32Array };
}

const kLoaded = new WeakMap<WebDocument, Promise<ArgumentColumns>>();

async function decodeArguments({ timeline }: WebDocument): Promise<ArgumentColumns> {
  const { arguments: packed, stacks } = timeline;
  const [span, key, value, listSpan, list, rowList, rowKey, rowValue] = await Promise.all(
    [
      packed.span,
      packed.key,
      packed.value,
      packed.lists.span,
      packed.lists.list,
      packed.lists.row_list,
      packed.lists.row_key,
      packed.lists.row_value,
    ].map(decodeIndices),
  );
  const integers = packed.integers.map(async (each) => ({
    key: each.key,
    span: await decodeIndices(each.span),
    value: await decodeColumn(each.value),
  }));
  return {
    span: span!,
    key: key!,
    value: value!,
    lists: { span: listSpan!, list: list!, rowList: rowList!, rowKey: rowKey!, rowValue: rowValue! },
    integers: await Promise.all(integers),
    stacks: {
      span: stacks === undefined ? new Int32Array(0) : await decodeIndices(stacks.span),
      stack: stacks === undefined ? new Int32Array(0) : await decodeIndices(stacks.stack),
    },
  };
}

// The arguments of a span (first those of its list, then texts, then integers) and its call stack, "" where the document
// has none. The columns are decoded once for each document.
export async function loadArguments(document: WebDocument, span: number): Promise<{ arguments: SpanArgument[]; stack: string }> {
  const columns = await getOrMake(kLoaded, document, () => decodeArguments(document));
  const text = (index: number | undefined) => document.strings[index ?? -1] ?? "";
  const found: SpanArgument[] = [];
  const { lists, stacks } = columns;
  for (let at = firstOf(lists.span, span); lists.span[at] === span; ++at) {
    const list = lists.list[at]!;
    for (let row = firstOf(lists.rowList, list); lists.rowList[row] === list; ++row) {
      found.push({ key: text(lists.rowKey[row]), value: plainText(text(lists.rowValue[row])) });
    }
  }
  for (let at = firstOf(columns.span, span); columns.span[at] === span; ++at) {
    found.push({ key: text(columns.key[at]), value: plainText(text(columns.value[at])) });
  }
  for (const integers of columns.integers) {
    for (let at = firstOf(integers.span, span); integers.span[at] === span; ++at) {
      found.push({ key: text(integers.key), value: String(integers.value[at]) });
    }
  }
  const at = firstOf(stacks.span, span);
  return { arguments: found, stack: stacks.span[at] === span ? text(stacks.stack[at]) : "" };
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
