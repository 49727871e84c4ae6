// SPDX-License-Identifier: Apache-2.0
#include "wire/trace_info.h"

#include "base/varint.h"

namespace opscope {
namespace {

void AppendText(std::string* out, const std::string& text) {
  AppendVarint(out, text.size());
  out->append(text);
}

std::string ReadText(ByteReader* reader) {
  const uint64_t size = reader->Varint();
  return std::string(reader->Text(size));
}

}  // namespace

std::string EncodeTraceInfo(const WireTraceInfo& info) {
  std::string payload;
  AppendVarint(&payload, info.recorded);
  AppendVarint(&payload, info.dropped);
  AppendVarint(&payload, ZigZag(info.epoch_ns));
  AppendText(&payload, info.options_json);
  AppendText(&payload, info.source_format);
  AppendText(&payload, info.source_version);
  AppendVarint(&payload, info.texts);
  return payload;
}

bool DecodeTraceInfo(std::span<const std::byte> payload, WireTraceInfo* info) {
  ByteReader reader(payload);
  info->recorded = reader.Varint();
  info->dropped = reader.Varint();
  info->epoch_ns = UnZigZag(reader.Varint());
  info->options_json = ReadText(&reader);
  info->source_format = ReadText(&reader);
  info->source_version = ReadText(&reader);
  if (!reader.ok()) return false;
  info->texts = reader.at_end() ? 0 : reader.Varint();
  return reader.ok();
}

}  // namespace opscope
