// What every component of the page can reach: the document, and the state of the page.
// SPDX-License-Identifier: Apache-2.0
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { AddressStore, PageState } from "../model/address.ts";
import type { Origin, WebDocument } from "../model/document.ts";
import type { ServedFile } from "../model/server.ts";
import type { SpanSource } from "../model/span_source.ts";

export interface Page {
  document: WebDocument;
  // What the tabs say that a partial document lacks; "": the document is whole.
  pending: string;
  // Converts between times of the document and relative times.
  origin: Origin;
  store: AddressStore;
  // Where the page finds spans: the document, or the server.
  source: SpanSource;
  // Of `opscope view`; empty in a report.
  files: ServedFile[];
  // Identifier of the file that is shown.
  chosen: string;
  // Which files cannot be shown, and why; "": no such file is known.
  notice: string;
  // Shows another file.
  open: (id: string) => void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("A component of the page is outside of the page.");
  return page;
}

// A part of the page's state; the component renders again only when that part changes. `select` gives the part:
// `useAddress((state) => state.query)`.
export function useAddress<Part>(select: (state: Readonly<PageState>) => Part): Part {
  const { store } = usePage();
  const [part, setPart] = useState(() => select(store.state));
  useEffect(() => {
    const update = () => setPart(() => select(store.state));
    update();
    return store.subscribe(update);
  }, [store]);
  return part;
}
