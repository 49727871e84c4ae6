// Maps spans of any Trace to Paddle's event types, so that Paddle's summary and
// files can be made of recordings of other frameworks. An operator of torch, for
// example, counts as PaddleEventType::kOperator.
//
//   const PaddleEventTypes types(trace);
//   if (types.Of(row) == PaddleEventType::kKernel) ...
//
// Thread rule: PaddleEventTypes is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opscope/paddle_event_type.h"
#include "opscope/trace.h"

namespace opscope {

// The type of every span: the one its category names in Paddle's spelling, else the
// nearest one to its kind.
class PaddleEventTypes {
 public:
  // O(strings of the Trace) at most; usually the few that precede its last category.
  explicit PaddleEventTypes(const Trace& trace);
  // O(1). REQUIRES: span is a row of the Trace.
  PaddleEventType Of(size_t span) const {
    const uint32_t category = Row(spans_.category[span]);
    const uint8_t type = category < of_category_.size() ? of_category_[category] : kNotNamed;
    return type == kNotNamed ? OfKind(spans_.kind[span]) : static_cast<PaddleEventType>(type);
  }

 private:
  static constexpr uint8_t kNotNamed = 255;
  static PaddleEventType OfKind(SpanKind kind);

  SpanColumns spans_;
  // A type, or kNotNamed. By StringId, up to the last category that names a type.
  std::vector<uint8_t> of_category_;
};

}  // namespace opscope
