// The buttons that copy a table as CSV and as text.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { tableCsv, tableText } from "../model/table_text.ts";
import type { Table } from "../model/tables.ts";

// Frames without the permission to write the clipboard still may copy a selection while the user presses a button.
function copySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.className = "clipboard";
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}

// Chromium reports an error to the console when a frame without permission tries.
function mayWriteClipboard(): boolean {
  const { featurePolicy } = document as Document & { featurePolicy?: { allowsFeature(feature: string): boolean } };
  return featurePolicy?.allowsFeature("clipboard-write") ?? true;
}

async function copy(text: string): Promise<boolean> {
  if (!mayWriteClipboard()) return copySelection(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

export function CopyButtons(props: { name: string; table: Table; rows: Int32Array }) {
  const [message, setMessage] = useState("");
  useEffect(() => {
    if (message === "") return;
    const timer = setTimeout(() => setMessage(""), 3000);
    return () => clearTimeout(timer);
  }, [message]);

  const run = async (write: typeof tableCsv) => {
    const isCopied = await copy(write(props.table, props.rows));
    setMessage(isCopied ? "Copied" : "The browser does not allow copying here");
  };
  return (
    <div class="copy">
      <span aria-live="polite">{message}</span>
      <button type="button" aria-label={`Copy ${props.name} as CSV`} title="Copy all rows as CSV" onClick={() => void run(tableCsv)}>
        CSV
      </button>
      <button type="button" aria-label={`Copy ${props.name} as text`} title="Copy all rows as text" onClick={() => void run(tableText)}>
        Text
      </button>
    </div>
  );
}
