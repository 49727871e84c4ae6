// Data that a component decodes when it is first shown. An answer for inputs that have changed since is dropped.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { failureText } from "./failure.tsx";

export interface Loaded<Data> {
  // null: not there yet, or it failed.
  data: Data | null;
  // A sentence for the reader; "": it did not fail.
  failure: string;
}

// Calls `load` anew whenever one of `inputs` changes; the last data stays until the new one is there. null in place of a
// promise: nothing is to be loaded.
export function useLoaded<Data>(load: () => Promise<Data> | null, inputs: readonly unknown[]): Loaded<Data> {
  const [loaded, setLoaded] = useState<Loaded<Data>>({ data: null, failure: "" });
  useEffect(() => {
    let isCurrent = true;
    load()?.then(
      (data) => isCurrent && setLoaded({ data, failure: "" }),
      (error: unknown) => isCurrent && setLoaded({ data: null, failure: failureText(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, inputs);
  return loaded;
}
