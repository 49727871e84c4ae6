// The spans of a report: those of its document, which may lack short ones. Figures say by how much they may be wrong.
// SPDX-License-Identifier: Apache-2.0
import type { SpanKey } from "./address.ts";
import type { WebDocument } from "./document.ts";
import { type HiddenSpans, readHiddenSpans } from "./hidden_spans.ts";
import { adjacentMatch } from "./matches.ts";
import { countMatches, decodeNames, type NameCounts } from "./names.ts";
import { selectRange } from "./selection.ts";
import { type Flow, loadArguments, loadFlows } from "./span_links.ts";
import type { FoundSpan, SpanDetails, SpanLink, SpanSource } from "./span_source.ts";
import { findSpan, firstChildOf, foundSpan, keyOf, loadSpans, neighbourOf, parentOf, type Spans } from "./spans.ts";

// Loads once, when it is first needed.
function once<Data>(load: () => Promise<Data>): () => Promise<Data> {
  let loaded: Promise<Data> | undefined;
  return () => (loaded ??= load());
}

export function documentSource(document: WebDocument): SpanSource {
  const load = () => loadSpans(document);
  const hidden = once<HiddenSpans>(async () => readHiddenSpans(document, await load()));
  const names = once<NameCounts>(() => decodeNames(document));
  const flows = once<Flow[]>(() => loadFlows(document));
  const at = async <Answer>(key: SpanKey, answer: (spans: Spans, span: number) => Answer): Promise<Answer | null> => {
    const spans = await load();
    const span = findSpan(spans, key);
    return span < 0 ? null : answer(spans, span);
  };
  const timeline = document.timeline;
  return {
    load,
    find: (key) => at<FoundSpan>(key, foundSpan),

    details: async (key) => {
      const place = await at(key, (spans, span) => ({ spans, span }));
      if (place === null) return null;
      const { spans, span } = place;
      const [list, all] = await Promise.all([loadArguments(document, span), flows()]);
      const links = all
        .filter((flow) => flow.from === span || flow.to === span)
        .map((flow): SpanLink => ({ kind: flow.kind, isOut: flow.from === span, span: foundSpan(spans, flow.from === span ? flow.to : flow.from) }));
      const details: SpanDetails = {
        ...foundSpan(spans, span),
        category: spans.strings[spans.category[span]!] ?? "",
        selfTime: spans.duration[span]! - spans.covered[span]!,
        ...list,
        links,
        mayLackArguments: list.arguments.length === 0 && timeline.arguments.left_out > 0,
      };
      return details;
    },

    relative: (key, relative) =>
      at(key, (spans, span) => {
        const other =
          relative === "parent" ? parentOf(spans, span) : relative === "firstChild" ? firstChildOf(spans, span) : neighbourOf(spans, span, relative === "next" ? 1 : -1);
        return other < 0 ? null : keyOf(spans, other);
      }),

    count: async (text) => (text === "" ? { value: 0, error: 0 } : { value: countMatches(await names(), text), error: timeline.names.left_out_spans ?? 0 }),
    adjacent: (text, from, step) => adjacentMatch(document, text, from, step),
    select: async (range) => selectRange(await load(), range, await hidden()),
    leftOut: timeline.folded.spans + (timeline.left_out_spans ?? 0),
    detail: null,
  };
}
