// Connects the AddressStore with the browser's address.
//
// Browsers refuse or delay more than 100 (Safari) or 200 changes of the address in ten seconds. Panning changes it in
// every frame, so writes take from a budget that refills; with an empty budget, or after a refusal, the last state is
// written later.
// SPDX-License-Identifier: Apache-2.0
import type { AddressStore } from "../model/address.ts";

const kBurst = 50;
const kRefillMilliseconds = 220;
const kRefusedMilliseconds = 2000;

export function connectLocation(store: AddressStore): void {
  let budget = kBurst;
  let refilled = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const write = (push: boolean) => {
    clearTimeout(timer);
    timer = undefined;
    const now = performance.now();
    budget = Math.min(kBurst, budget + (now - refilled) / kRefillMilliseconds);
    refilled = now;
    if (budget < 1 && !push) {
      timer = setTimeout(() => write(false), kRefillMilliseconds);
      return;
    }
    const fragment = store.link();
    if (fragment === location.hash) return;
    budget -= 1;
    // The absolute address: in a frame with srcdoc a relative one would be resolved against the page around it.
    const address = location.href.replace(/#.*$/s, "") + fragment;
    // A frame shares its history with the page around it, so it adds nothing there.
    try {
      if (push && window.top === window) {
        history.pushState(null, "", address);
      } else {
        history.replaceState(null, "", address);
      }
    } catch {
      timer = setTimeout(() => write(false), kRefusedMilliseconds);
    }
  };

  store.subscribe((change) => write(change === "push"));
  window.addEventListener("hashchange", () => {
    if (location.hash !== store.link()) store.follow(location.hash);
  });
}
