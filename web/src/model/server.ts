// Asks `opscope view`. docs/reference/view_server.md defines the requests. Every request carries the token of the
// address; the server ends when it gets no request for long.
// SPDX-License-Identifier: Apache-2.0
import { DocumentError } from "./document.ts";

export interface ServedFile {
  id: string;
  name: string;
}

export interface ServedFiles {
  files: ServedFile[];
  // The server ends after so many seconds without a request; 0: never.
  idleSeconds: number;
}

const kMaxPingMs = 5000;

// How often a visible page sends a request: so the server does not end, and the page notices soon if it has ended.
export function pingInterval(idleSeconds: number): number {
  return idleSeconds > 0 ? Math.min(kMaxPingMs, (idleSeconds * 1000) / 3) : kMaxPingMs;
}

export const kServerEnded = "opscope view has ended. Start it again, and open the address that it prints.";
export const kWrongAnswer = "opscope view gave an answer that this page cannot read. Load the page again.";

// Nothing answers any more. The page says so once, at its top.
export class ServerEnded extends DocumentError {
  constructor() {
    super(kServerEnded);
  }
}

// The server refuses the question, with a sentence.
export class RefusedQuestion extends DocumentError {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

export class TraceServer {
  readonly #token: string;
  // Called when a request finds no server.
  onEnd: () => void = () => {};

  constructor(token: string) {
    this.#token = token;
  }

  async files(): Promise<ServedFiles> {
    const answer = parseAnswer(await this.#request("/api/files")) as { files?: { id: string | number; name: string }[]; idle_s?: number };
    if (!Array.isArray(answer?.files) || typeof answer.idle_s !== "number") throw new DocumentError(kWrongAnswer);
    return { files: answer.files.map(({ id, name }) => ({ id: String(id), name: String(name) })), idleSeconds: answer.idle_s };
  }

  // The text of the data document; "overview": of a large trace the part of it that takes little time.
  data(id: string, part: "whole" | "overview"): Promise<string> {
    return this.#request(`/api/data?file=${encodeURIComponent(id)}${part === "whole" ? "" : `&part=${part}`}`);
  }

  async ping(): Promise<void> {
    await this.#request("/api/ping");
  }

  // What `read` makes of the JSON of an answer; if it throws, the answer is wrong. With `body` it is a POST.
  async ask<Answer>(path: string, body: object | null, read: (answer: unknown) => Answer | Promise<Answer>, signal?: AbortSignal, parse = JSON.parse as (text: string) => unknown): Promise<Answer> {
    const options = body === null ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = parseAnswer(await this.#request(path, { ...options, ...(signal === undefined ? {} : { signal }) }), parse);
    try {
      return await read(answer);
    } catch {
      throw new DocumentError(kWrongAnswer);
    }
  }

  async #request(path: string, options: RequestInit = {}): Promise<string> {
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(path, { ...options, headers: { Authorization: `Bearer ${this.#token}` } });
      text = await answer.text();
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      this.onEnd();
      throw new ServerEnded();
    }
    if (answer.ok) return text;
    if (answer.status === 403) throw new DocumentError("This address is not the one that opscope view printed last. Open that one.");
    throw new RefusedQuestion(answer.status, sentenceOf(text) || `opscope view answered with status ${answer.status}.`);
  }
}

function parseAnswer(text: string, parse = JSON.parse as (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    throw new DocumentError(kWrongAnswer);
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
