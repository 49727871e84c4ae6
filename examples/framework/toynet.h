// A framework as small as can be: operators that call operators, and observers of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

extern "C" {

// Both may be called on any thread; `begin` returns what `end` gets.
struct toynet_observer {
  void* (*begin)(void* context, const char* op, int depth);
  void (*end)(void* token);
  void* context;
};

// 0 when there is no room; the observer stays where it is until it is removed.
int toynet_add_observer(const toynet_observer* observer);
void toynet_remove_observer(int number);

// Runs an operator: "conv" runs "pad" and "matmul", everything else is a leaf. Returns a checksum.
double toynet_run(const char* op, int size);
const char* toynet_version();
}
