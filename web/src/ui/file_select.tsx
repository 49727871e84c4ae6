// The choice of a trace, where `opscope view` serves several.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../model/numbers.ts";
import { usePage } from "./page_context.ts";

export function FileSelect() {
  const { files, chosen, open } = usePage();
  if (files.length < 2) return null;
  return (
    <select class="file" aria-label="File" value={chosen} onChange={(event) => open(event.currentTarget.value)}>
      {files.map((file) => (
        <option key={file.id} value={file.id}>
          {visibleText(file.name)}
        </option>
      ))}
    </select>
  );
}
