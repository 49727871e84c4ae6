// A library that calls a function of its own through its GOT entry, as libraries do for functions that others may
// replace. Built twice for got_entries_test.cc: with a writable GOT, and with one that the linker protects (RELRO).
// SPDX-License-Identifier: Apache-2.0
extern "C" __attribute__((visibility("default"), noinline)) int OpscopeGotAnswer() {
  __asm__ volatile("");
  return 1;
}

extern "C" __attribute__((visibility("default"))) int OpscopeAskThroughGot() {
  return OpscopeGotAnswer();
}
