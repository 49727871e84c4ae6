// A third-party library that only annotates: it links the recorder alone and uses scopes and counters. Arguments of
// scopes would need opscope::opscope.
// SPDX-License-Identifier: Apache-2.0
#include <opscope/scope.h>

int main() {
  OPSCOPE_SCOPE("work");
  opscope::Counter("loss", 0.5);
  return opscope_recorder_abi() == opscope::kRecorderAbi ? 0 : 1;
}
