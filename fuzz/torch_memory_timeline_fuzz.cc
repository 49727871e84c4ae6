// Any bytes through the importer of memory timelines.
// SPDX-License-Identifier: Apache-2.0
#include "importer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  opscope::FuzzImporter(opscope::ImportMemoryTimeline, {data, size});
  return 0;
}
