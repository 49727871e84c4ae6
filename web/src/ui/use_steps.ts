// Steps from one span to the next, whose answers may take a moment: they go one after the other, so that a key that is
// pressed three times goes three spans on.
// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import type { PageState, SpanKey } from "../model/address.ts";
import { partFailureText } from "./failure.tsx";
import { usePage } from "./page_context.ts";

// The other span; null: there is none.
type Step = (from: SpanKey | null) => Promise<SpanKey | null>;

// Goes a step from the selected span. The answer is dropped if the reader has selected another one meanwhile. `changes`:
// what else of the page's state changes with it.
export function useSteps(changes: Partial<PageState> = {}): { go: (step: Step) => void; failure: string } {
  const { store } = usePage();
  const [failure, setFailure] = useState("");
  const go = useMemo(() => {
    let last: Promise<void> = Promise.resolve();
    const take = async (step: Step) => {
      const from = store.state.span;
      try {
        const to = await step(from);
        if (to !== null && store.state.span === from) store.set({ ...changes, span: to });
        setFailure("");
      } catch (error) {
        setFailure(partFailureText(error));
      }
    };
    return (step: Step) => void (last = last.then(() => take(step)));
  }, [store]);
  return { go, failure };
}
