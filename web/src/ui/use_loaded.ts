// Data that a component asks for when it is first shown, and anew when what it depends on has changed. An answer for
// inputs that have changed since is dropped.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { Latest } from "../model/latest.ts";
import { partFailureText } from "./failure.tsx";

export interface Loaded<Data> {
  // null: not there yet, or it failed.
  data: Data | null;
  // A sentence for the reader; "": it did not fail.
  failure: string;
}

// Calls `load` anew whenever one of `inputs` changes, after `delay` ms without a further change; the last data stays until
// the new one is there. null, or a promise of null: nothing is to be loaded, and an earlier failure is over.
export function useLoaded<Data>(load: (signal: AbortSignal) => Promise<Data | null> | null, inputs: readonly unknown[], delay = 0): Loaded<Data> {
  const [loaded, setLoaded] = useState<Loaded<Data>>({ data: null, failure: "" });
  useEffect(() => {
    const latest = new Latest();
    const ask = () =>
      latest.ask(
        async (signal) => load(signal),
        (data) => setLoaded((old) => (data !== null ? { data, failure: "" } : old.failure === "" ? old : { ...old, failure: "" })),
        (error) => setLoaded({ data: null, failure: partFailureText(error) }),
      );
    const timer = delay > 0 ? setTimeout(ask, delay) : undefined;
    if (delay === 0) ask();
    return () => {
      clearTimeout(timer);
      latest.cancel();
    };
  }, inputs);
  return loaded;
}
