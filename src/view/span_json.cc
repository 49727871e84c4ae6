// Writes the members that identify a span.
// SPDX-License-Identifier: Apache-2.0
#include "view/span_json.h"

#include "base/text.h"

namespace opscope {

void AppendExactInteger(std::string* out, int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const bool is_text = value > kExact || value < -kExact;
  if (is_text) *out += '"';
  AppendInt(out, value);
  if (is_text) *out += '"';
}

void AppendSpanMembers(const Trace& trace, uint32_t row, JsonObject* object) {
  const SpanColumns& spans = trace.spans();
  object->Uint("row", row).Uint("track", Row(spans.track[row]));
  AppendExactInteger(&object->Key("start"), spans.start[row].ns);
  AppendExactInteger(&object->Key("duration"), spans.duration[row].ns);
  object->Text("name", trace.text(spans.name[row]));
}

void AppendSpanJson(const Trace& trace, uint32_t row, std::string* out) {
  JsonObject object(out);
  AppendSpanMembers(trace, row, &object);
  object.Close();
}

}  // namespace opscope
