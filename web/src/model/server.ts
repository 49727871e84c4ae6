// What the page asks of `opscope view`: the list of its traces, and the data of one. docs/reference/view_server.md
// defines the requests. Every request carries the token of the address; the server ends when none comes for long.
// SPDX-License-Identifier: Apache-2.0
import { DocumentError } from "./document.ts";

export interface ServedFile {
  id: string;
  name: string;
}

export const kServerEnded = "opscope view has ended. Start it again, and open the address that it prints.";

export class TraceServer {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async files(): Promise<ServedFile[]> {
    const answer = JSON.parse(await this.#get("/api/files")) as { files: { id: string | number; name: string }[] };
    return answer.files.map(({ id, name }) => ({ id: String(id), name }));
  }

  // The text of the data document.
  data(id: string): Promise<string> {
    return this.#get(`/api/data?file=${encodeURIComponent(id)}`);
  }

  async ping(): Promise<void> {
    await this.#get("/api/ping");
  }

  async #get(path: string): Promise<string> {
    let answer: Response;
    try {
      answer = await fetch(path, { headers: { Authorization: `Bearer ${this.#token}` } });
    } catch {
      throw new DocumentError(kServerEnded);
    }
    const text = await answer.text();
    if (answer.ok) return text;
    if (answer.status === 403) throw new DocumentError("This address is not the one that opscope view printed last. Open that one.");
    throw new DocumentError(sentenceOf(text) || `opscope view answered with status ${answer.status}.`);
  }
}

function sentenceOf(text: string): string {
  try {
    return String((JSON.parse(text) as { error?: unknown }).error ?? "");
  } catch {
    return "";
  }
}

// The token of a fragment: "" without one.
export function tokenOf(fragment: string): string {
  return /(?:^#?|&)token=([^&]*)/.exec(fragment)?.[1] ?? "";
}
