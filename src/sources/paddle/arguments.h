// An operator's arguments as the payload of its scope: the names, and the shapes of the tensors.
//
//   keywords   "x,y*2;axis,format=NCHW"   names of tensors, with *N for a list of N; after the ';' names of attributes,
//                                         with the value if it is a text
//   arguments  tensor tensor tensor int other   in this order; Paddle gives no element types: kUnknownElement
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

// Sets the payload of the innermost open operator; a second call replaces it. attributes: null if they are not
// recorded.
void RecordArguments(Stream* stream, const paddle_layout::Shapes& shapes,
                     const paddle_layout::AttributeMap* attributes);

// The same with shapes that Python passes.
void RecordTensorShapes(Stream* stream, std::span<const PaddleTensorShape> tensors);

}  // namespace opscope
