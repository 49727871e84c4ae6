// Asks questions and takes the answer to the last one only. While a reader types or moves on, answers to earlier
// questions arrive late and are dropped, failures too.
//
//   const latest = new Latest();
//   latest.ask((signal) => source.count(text, signal), show, showFailure);
// SPDX-License-Identifier: Apache-2.0

export class Latest {
  #generation = 0;
  #controller: AbortController | null = null;

  // Cancels the question before, whose `signal` is then aborted.
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

  // Drops the answers to all questions so far.
  cancel(): void {
    ++this.#generation;
    this.#controller?.abort();
    this.#controller = null;
  }
}
