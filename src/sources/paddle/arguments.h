// An operator's arguments as the payload of its scope: what each is called and the shapes of its tensors.
//
//   keywords   "x,y*2;axis,format=NCHW"   names, of more or fewer than one tensor with their number; behind the ';'
//                                         attributes, those that are texts with their value
//   arguments  tensor tensor tensor int other   in this order; of element type kUnknownElement: Paddle does not tell
//
// Import writes them out (src/import/recording/paddle_members.h), so that nothing is formatted here.
//
// Thread rule: the stream is the calling thread's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "opscope/paddle_source.h"
#include "opscope/recorder.h"
#include "sources/paddle/paddle_layout.h"

namespace opscope {

// Becomes the payload of the innermost operator that is open; of several the last one stays. attributes: null, they
// are not recorded.
void RecordArguments(Stream* stream, const paddle_layout::Shapes& shapes,
                     const paddle_layout::AttributeMap* attributes);

// The same of shapes that Python tells.
void RecordTensorShapes(Stream* stream, std::span<const PaddleTensorShape> tensors);

}  // namespace opscope
