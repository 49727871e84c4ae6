// Any bytes through the importer of MegEngine's static graph profiles.
// SPDX-License-Identifier: Apache-2.0
#include "importer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  opscope::FuzzImporter(opscope::ImportMegEngineGraph, {data, size});
  return 0;
}
