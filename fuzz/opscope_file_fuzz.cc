// `.opscope` files. Checksums would stop a fuzzer at the door, so the input is a list of payloads that
// get sound headers: u16 type, u16 size, payload, ... An input that begins with the magic is a file as it is.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/varint.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"
#include "wire/container.h"

namespace {

std::string Assemble(std::span<const std::byte> input) {
  std::string file;
  opscope::AppendFileHeader(&file);
  opscope::ByteReader reader(input);
  while (!reader.at_end()) {
    const auto type = reader.Fixed<uint16_t>();
    const auto size = reader.Fixed<uint16_t>();
    const std::string_view payload = reader.Text(std::min<size_t>(size, reader.remaining()));
    opscope::AppendBlock(&file, type % 64, payload);
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const std::string file =
      opscope::LooksLikeOpscope(input) ? std::string(reinterpret_cast<const char*>(data), size) : Assemble(input);
  opscope::ImportOptions options;
  options.max_memory = uint64_t{256} << 20;
  const auto trace = opscope::ImportBytes(std::as_bytes(std::span(file)), "fuzz", options);
  if (!trace.ok()) return 0;
  // Whatever was accepted can be written and read again.
  const auto bytes = opscope::OpscopeBytes(trace.value());
  if (!bytes.ok()) std::abort();
  const auto back = opscope::ImportBytes(std::as_bytes(std::span(bytes.value())), "fuzz again");
  if (!back.ok()) std::abort();
  const opscope::DebugTextOptions content{.info = false};
  if (trace.value().spans().size() < 2000 &&
      opscope::ToDebugText(trace.value(), content) != opscope::ToDebugText(back.value(), content)) {
    std::abort();
  }
  return 0;
}
