// Any bytes through the importer of PyTorch execution traces.
// SPDX-License-Identifier: Apache-2.0
#include "importer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  opscope::FuzzImporter(opscope::ImportExecutionTrace, {data, size});
  return 0;
}
