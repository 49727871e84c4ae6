// An interval for each pair of range and stream grows with each kernel that was launched in the range. Kernels of one
// range follow each other on one stream, so the pair of the last kernel is compared before the lookup in the hash
// table.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_annotations.h"

#include <algorithm>

namespace opscope {
namespace {

// Kineto extends the spans in the same way, so that they enclose their kernels.
constexpr int64_t kBeforeNs = 1, kLongerNs = 2;

}  // namespace

void CudaAnnotations::Extend(AddedSpan range, TrackId stream, Timestamp start, Timestamp end) {
  const uint64_t key = uint64_t{static_cast<uint32_t>(range)} << 32 | Row(stream);
  if (key != last_key_) {
    const auto [found, is_new] = number_of_.try_emplace(key, static_cast<uint32_t>(annotations_.size()));
    if (is_new) annotations_.push_back({range, stream, start, end});
    last_key_ = key;
    last_ = found->second;
  }
  Annotation& annotation = annotations_[last_];
  annotation.start = std::min(annotation.start, start);
  annotation.end = std::max(annotation.end, end);
}

void CudaAnnotations::Finish(CudaDevices* devices) {
  const StringId category = builder_->Intern("gpu_user_annotation");
  for (const Annotation& annotation : annotations_) {
    const auto range = static_cast<uint32_t>(annotation.range);
    const StringId name = builder_->added_spans().name[range];
    const auto ids = builder_->external_ids();
    builder_->AddSpan({.start = {annotation.start.ns - kBeforeNs},
                       .duration = {(annotation.end - annotation.start).ns + kLongerNs},
                       .name = name,
                       .category = category,
                       .track = devices->OfAnnotations(annotation.stream),
                       .kind = SpanKind::kDeviceAnnotation,
                       .external_id = range < ids.size() ? ids[range] : 0});
  }
  annotations_.clear();
  number_of_.clear();
  last_key_ = ~uint64_t{0};
}

}  // namespace opscope
