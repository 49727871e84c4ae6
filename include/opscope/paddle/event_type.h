// Which of Paddle's types of events a span is.
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

// Of each span: what its category says where that is a name of Paddle's, else what its kind comes nearest to.
class PaddleEventTypes {
 public:
  explicit PaddleEventTypes(const Trace& trace);
  PaddleEventType Of(size_t span) const {
    const uint32_t category = Row(spans_.category[span]);
    const uint8_t type = category < of_category_.size() ? of_category_[category] : kNotNamed;
    return type == kNotNamed ? OfKind(spans_.kind[span]) : static_cast<PaddleEventType>(type);
  }

 private:
  static constexpr uint8_t kNotNamed = 255;
  static PaddleEventType OfKind(SpanKind kind);

  SpanColumns spans_;
  std::vector<uint8_t> of_category_;  // by StringId, up to the last that is a name
};

}  // namespace opscope
