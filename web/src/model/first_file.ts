// Opens a file of `opscope view`: the wanted one, or the next one in their order that opens. The first file follows the
// last one. The page names the files that do not open, and why. The reader may choose them again.
// SPDX-License-Identifier: Apache-2.0
import { DocumentError } from "./document.ts";
import { visibleText } from "./numbers.ts";
import { ServerEnded, type ServedFile } from "./server.ts";

export interface FailedFile {
  file: ServedFile;
  reason: string;
}

export interface FirstFile<Data> {
  // null: no file opens.
  opened: { file: ServedFile; data: Data } | null;
  failed: FailedFile[];
}

// Failures with a sentence of their own; of the others the page says how many there are.
const kListed = 3;

// `wanted`: id of the file to begin with, if there is one with it.
export async function openFirst<Data>(files: readonly ServedFile[], wanted: string | null, load: (file: ServedFile) => Promise<Data>): Promise<FirstFile<Data>> {
  const begin = Math.max(0, files.findIndex(({ id }) => id === wanted));
  const failed: FailedFile[] = [];
  for (const file of [...files.slice(begin), ...files.slice(0, begin)]) {
    try {
      return { opened: { file, data: await load(file) }, failed };
    } catch (error) {
      if (!(error instanceof DocumentError) || error instanceof ServerEnded) throw error;
      failed.push({ file, reason: error.message });
    }
  }
  return { opened: null, failed };
}

// "b.json cannot be shown: it is cut. The page shows a.json."; "": no file failed.
export function failedText({ opened, failed }: FirstFile<unknown>): string {
  const sentences = failed.slice(0, kListed).map(({ file, reason }) => {
    const own = `${file.name}: `;
    const why = reason.startsWith(own) ? reason.slice(own.length) : reason;
    return `${file.name} cannot be shown: ${why}${/[.!?]$/.test(why) ? "" : "."}`;
  });
  const more = failed.length - sentences.length;
  if (more > 0) sentences.push(`${more} more ${more === 1 ? "file" : "files"} cannot be shown either.`);
  if (failed.length > 0 && opened !== null) sentences.push(`The page shows ${opened.file.name}.`);
  return visibleText(sentences.join(" "));
}
