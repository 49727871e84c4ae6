// The kept spans whose name contains the text of Search, ordered by begin, track and order in the file.
// SPDX-License-Identifier: Apache-2.0
import type { SpanKey } from "./address.ts";
import type { WebDocument } from "./document.ts";

// The match after (`step` 1) or before (`step` -1) the span `from`, which wraps around at the ends; without `from` the
// first or the last match. null: nothing matches.
export async function adjacentMatch(
  _document: WebDocument,
  _query: string,
  _from: SpanKey | null,
  _step: 1 | -1,
): Promise<SpanKey | null> {
  return null;
}
