// Maps spans to Paddle's event types: by category if the file has Paddle's category names, else by span kind. Each of
// Paddle's type names is looked up once, so that a span costs one array access.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/event_type.h"

namespace opscope {

PaddleEventTypes::PaddleEventTypes(const Trace& trace) : spans_(trace.spans()) {
  for (size_t type = 0; type < kPaddleEventTypes; ++type) {
    const auto name = trace.FindString(kPaddleEventTypeNames[type]);
    if (!name) continue;
    if (Row(*name) >= of_category_.size()) of_category_.resize(size_t{Row(*name)} + 1, kNotNamed);
    of_category_[Row(*name)] = static_cast<uint8_t>(type);
  }
}

PaddleEventType PaddleEventTypes::OfKind(SpanKind kind) {
  switch (kind) {
    case SpanKind::kOperator:
      return PaddleEventType::kOperator;
    case SpanKind::kKernel:
      return PaddleEventType::kKernel;
    case SpanKind::kCopy:
      return PaddleEventType::kMemcpy;
    case SpanKind::kSet:
      return PaddleEventType::kMemset;
    case SpanKind::kCommunication:
      return PaddleEventType::kCommunication;
    case SpanKind::kSynchronization:
    case SpanKind::kRuntimeCall:
    case SpanKind::kDriverCall:
      return PaddleEventType::kCudaRuntime;
    case SpanKind::kUserRange:
      return PaddleEventType::kPythonUserDefined;
    case SpanKind::kStep:
      return PaddleEventType::kProfileStep;
    case SpanKind::kModule:
    case SpanKind::kForward:
      return PaddleEventType::kForward;
    case SpanKind::kPythonFunction:
    case SpanKind::kCFunction:
      return PaddleEventType::kPythonOp;
    case SpanKind::kDataLoading:
      return PaddleEventType::kDataloader;
    case SpanKind::kOptimizer:
      return PaddleEventType::kOptimization;
    case SpanKind::kBackward:
      return PaddleEventType::kBackward;
    case SpanKind::kOther:
    case SpanKind::kDeviceAnnotation:
    case SpanKind::kOverhead:
      break;
  }
  return PaddleEventType::kUserDefined;
}

}  // namespace opscope
