// The foot of the page: what the timeline leaves out, and who wrote the page.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../model/numbers.ts";
import { Figure } from "./figure.tsx";
import { usePage } from "./page_context.ts";

export function Foot() {
  const { document, source } = usePage();
  const { producer, spans } = document;
  const folded = source.leftOut;
  return (
    <footer>
      <p role="note" aria-label="Folded" data-value={folded}>
        {folded === 0 ? (
          "The timeline has all spans."
        ) : (
          <>
            The timeline leaves out <Figure value={folded} unit="number" /> of <Figure value={Number(spans)} unit="number" />{" "}
            spans; blocks stand for them.
          </>
        )}
      </p>
      <p>{visibleText(producer)}</p>
    </footer>
  );
}
