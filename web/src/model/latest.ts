// Questions of which only the last one counts: while a reader types or moves on, the answers to earlier questions are
// late, and are dropped. An answer that is a failure counts as any other.
//
//   const latest = new Latest();
//   latest.ask((signal) => source.count(text, signal), show, showFailure);
// SPDX-License-Identifier: Apache-2.0

export class Latest {
  #generation = 0;
  #controller: AbortController | null = null;

  // Takes the place of the question before, which `signal` ends.
  ask<Answer>(question: (signal: AbortSignal) => Promise<Answer>, take: (answer: Answer) => void, fail: (error: unknown) => void): void {
    this.cancel();
    const generation = this.#generation;
    const isCurrent = () => generation === this.#generation;
    this.#controller = new AbortController();
    question(this.#controller.signal).then(
      (answer) => isCurrent() && take(answer),
      (error: unknown) => isCurrent() && fail(error),
    );
  }

  // No question so far counts any more.
  cancel(): void {
    ++this.#generation;
    this.#controller?.abort();
    this.#controller = null;
  }
}
