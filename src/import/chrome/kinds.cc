// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/kinds.h"

#include <string>
#include <string_view>

namespace opscope {
namespace {

bool Has(std::string_view members, std::string_view key) {
  for (size_t at = members.find(key); at != std::string_view::npos; at = members.find(key, at + 1)) {
    if (at > 0 && members[at - 1] == '"' && members.substr(at + key.size()).starts_with("\":")) return true;
  }
  return false;
}

SpanKind KindOfXla(TrackKind track, std::string_view name, std::string_view members) {
  if (track == TrackKind::kDeviceStream) {
    if (Has(members, "memcpy_details")) return SpanKind::kCopy;
    return Has(members, "memset_details") ? SpanKind::kSet : SpanKind::kKernel;
  }
  if (track != TrackKind::kThread) return kKindOfCategory;
  if (name.starts_with('$')) return KindOfPythonCall(name);
  return Has(members, "hlo_op") ? SpanKind::kOperator : kKindOfCategory;
}

SpanKind KindOfMegEngine(TrackKind track, std::string_view name, std::string_view members) {
  const bool is_operator = track == TrackKind::kThread &&
                           members.find("\"__name__\": \"" + std::string(name) + '"') != std::string_view::npos;
  return is_operator ? SpanKind::kOperator : kKindOfCategory;
}

}  // namespace

void GiveChromeKinds(TraceBuilder* builder) {
  const bool is_xla = builder->info().format == "xla-json";
  if (!is_xla && builder->info().format != "megengine-json") return;
  const SpanColumns spans = builder->added_spans();
  for (uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.category[row] != StringId::kEmpty || (spans.flags[row] & span_flags::kStep) != 0) continue;
    const TrackKind track = builder->track(spans.track[row]).kind;
    const std::string_view name = builder->text(spans.name[row]);
    const StringId extra = spans.extra[row];
    const std::string_view members = extra == StringId::kNone ? std::string_view() : builder->text(extra);
    builder->SetKind(AddedSpan{row}, is_xla ? KindOfXla(track, name, members) : KindOfMegEngine(track, name, members));
  }
}

}  // namespace opscope
