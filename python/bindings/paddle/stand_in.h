// Python objects as the PaddleStandIns of the loaded source.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/paddle_source.h"
#include "python/bindings/bindings.h"

namespace opscope::python {

// From here on this object records where the source cannot, as this part (kNative, kWrappers); once per process.
//
//   start(shapes, memory)   "" when it records for one more recording, else why not
//   stop()                  ends that; a descriptor of Paddle's protobuf with what it has recorded, which is closed
//                           here, or None
//   enter(name, type)       a range of Paddle's, which ends by its end(); only of kNative
void SetStandIn(const PaddleSource* source, PaddlePart part, nb::object object);

}  // namespace opscope::python
