// A library that calls a function of its own through a slot, as libraries do where others may stand in front of it.
// Built twice for got_entries_test.cc: with slots that may be written, and with slots that the linker protects.
// SPDX-License-Identifier: Apache-2.0
extern "C" __attribute__((visibility("default"), noinline)) int OpscopeGotAnswer() {
  __asm__ volatile("");
  return 1;
}

extern "C" __attribute__((visibility("default"))) int OpscopeAskThroughGot() {
  return OpscopeGotAnswer();
}
