// The foot of the page: what the timeline leaves out, and who wrote the page.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../model/numbers.ts";
import { Figure } from "./figure.tsx";
import { usePage } from "./page_context.ts";

export function Foot() {
  const { document, source } = usePage();
  const { producer, spans } = document;
  const folded = source.leftOut;
  const { left_out_tracks: tracks = 0, left_out_spans: ofTracks = 0 } = document.timeline;
  return (
    <footer>
      <p role="note" aria-label="Folded" data-value={folded}>
        {folded === 0 ? (
          "The timeline has all spans."
        ) : (
          <>
            The timeline leaves out <Figure value={folded} unit="number" /> of <Figure value={Number(spans)} unit="number" />{" "}
            spans; {ofTracks === 0 ? "blocks stand for them." : "blocks stand for those of the tracks that it shows."}
            {ofTracks > 0 && (
              <>
                {" "}
                <Figure value={tracks} unit="number" /> tracks with <Figure value={ofTracks} unit="number" /> spans are not shown.
              </>
            )}
          </>
        )}
      </p>
      <p>{visibleText(producer)}</p>
    </footer>
  );
}
