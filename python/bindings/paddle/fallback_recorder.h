// Python objects as the PaddleFallbackRecorders of the loaded source.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/paddle_source.h"
#include "python/bindings/bindings.h"

namespace opscope::python {

// Makes `object` the recorder of a part of Paddle that the source cannot record itself. Once per process and part;
// ValueError unless `part` is kNative or kWrappers. Methods of `object`:
//
//   start(shapes, memory)   begins one more recording; returns "", or the reason why it cannot record
//   stop()                  ends it; returns None, or a file descriptor of Paddle's protobuf, which is closed here
//   enter(name, type)       opens a range of Paddle and returns an object with an end(); kNative only
void SetFallbackRecorder(const PaddleSource* source, PaddlePart part, nb::object object);

}  // namespace opscope::python
