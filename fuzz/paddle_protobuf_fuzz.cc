// Any bytes through the importer of Paddle's protobuf: a Trace that can be written and read again, or an error that
// names the place.
// SPDX-License-Identifier: Apache-2.0
#include "importer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  opscope::FuzzImporter(opscope::ImportPaddleProtobuf, {data, size});
  return 0;
}
