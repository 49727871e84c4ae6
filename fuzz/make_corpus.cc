// make_corpus FOLDER: writes the first inputs of opscope_file_fuzz, recording_fuzz and recording_arguments_fuzz.
// They come from valid files and chunks, so that libFuzzer begins behind the checks of types and lengths, which random
// bytes hardly ever pass.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/varint.h"
#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/export.h"
#include "opscope/megengine_event.h"
#include "trace/random_tables_for_test.h"
#include "wire/container.h"

namespace opscope {
namespace {

bool Write(const std::string& path, const std::string& bytes) {
  const Status status = WriteFileAtomically(path, bytes);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok();
}

// The blocks of a file in the form that opscope_file_fuzz takes.
std::string Payloads(const std::string& file) {
  std::string out;
  BlockScanner scanner(std::as_bytes(std::span(file)));
  Block block;
  while (scanner.Next(&block)) {
    AppendFixed(&out, block.type);
    AppendFixed(&out, static_cast<uint16_t>(block.payload.size()));
    out.append(reinterpret_cast<const char*>(block.payload.data()), block.payload.size());
  }
  return out;
}

std::string SmallChunk(uint32_t sequence, uint32_t thread) {
  ChunkBytes chunk({.size = 512, .sequence = sequence, .thread_index = thread, .thread_name = "worker"});
  const std::string payload =
      PayloadBytes().Sequence(3, 1).Argument(ArgKind::kTensor, 2, arg_flags::kContiguous, 6, {2, 3}).Finish();
  chunk.Scope("inner", 1100, 10, 1, payload);
  chunk.Scope("outer", 1000, 500, 0, PayloadBytes().Sequence(4, 1).ArgumentsOf(chunk.Side(payload), 1).Finish());
  chunk.Scope("ProfilerStep#1", 1600, 5, 0, {}, 7, record_flags::kStep);
  return chunk.bytes();
}

// A piece of a window of MegEngine: the first has an operator and its kernel, the second a scope and a tensor.
std::string MegEngineChunk(uint32_t sequence, uint64_t piece, uint64_t time) {
  ChunkBytes chunk({.size = 512, .sequence = sequence, .thread_index = 1, .thread_name = "megengine"});
  const auto add = [&](MegEngineEvent event, bool finish, uint64_t value, uint16_t detail = 0,
                       std::string_view name = {}, const std::string& payload = {}) {
    Record record;
    record.kind = RecordKind::kNative;
    record.source = RecordSource::kMegEngine;
    record.scope = static_cast<uint8_t>(event);
    record.flags = finish ? record_flags::kFinish : uint8_t{0};
    record.start = 1700000000000000000 + (time += 10);
    record.value = value;
    record.reserved = detail;
    if (!name.empty()) record.name = chunk.Name(name);
    if (!payload.empty()) record.payload = chunk.Side(payload);
    chunk.Add(record);
  };
  using Event = MegEngineEvent;
  const std::string kernel = PayloadBytes().Field(payload_fields::kDevice, {0, 77}).Finish();
  add(Event::kStart, false, piece);
  add(Event::kDevice, false, 0, 0, "gpu0:0 x");
  if (piece == 1) {
    add(Event::kOpDispatch, false, 5, 0, "ADD");
    add(Event::kOpExecute, false, 5, 0, "cmd");
    add(Event::kKernelLaunch, false, 5, 0, {}, kernel);
    add(Event::kRecordDevice, false, 100);
    add(Event::kKernelLaunch, true, 5, 0, {}, kernel);
    add(Event::kOpExecute, true, 5, 0, "cmd");
  } else {
    add(Event::kThread, false, 0, 0, "worker");
    add(Event::kScope, false, 0, 1, "fc");
    add(Event::kTensorProduce, false, 9, 0, "Float32",
        PayloadBytes()
            .Field(payload_fields::kAddress, {0x1000, 0})
            .Argument(ArgKind::kTensor, 2, arg_flags::kContiguous | arg_flags::kWide, kUnknownElement, {2, 0, 3, 0})
            .Finish());
    add(Event::kTensorRelease, false, 9);
    add(Event::kScope, true, 0, 1, "fc");
  }
  return chunk.bytes();
}

std::string Recording(const std::string& chunks) {
  std::string info = WindowInfoText("\"metadata\":{\"k\":[1]}");
  while (info.size() % 4 != 0)
    info.push_back(' ');
  return std::string(1, static_cast<char>(info.size() / 4)) + info + chunks;
}

// One payload in the form that recording_arguments_fuzz takes.
std::string ArgumentsInput(uint8_t how, uint8_t which, uint8_t count, const PayloadBytes& payload = {}) {
  const std::string words = payload.Finish().substr(sizeof(PayloadHeader));
  const char head[] = {static_cast<char>(how), static_cast<char>(which), static_cast<char>(count),
                       static_cast<char>(words.size() / 4)};
  return std::string(head, sizeof(head)) + words;
}

std::string SharedArguments() {
  PayloadBytes two, lists;
  two.Argument(ArgKind::kTensor, 2, arg_flags::kContiguous, 6, {2, 3}).Argument(ArgKind::kDouble).Double(0.5);
  lists.Argument(ArgKind::kTensorList, 2).Element(ArgKind::kTensor, 1, arg_flags::kContiguous, 6, {4});
  lists.Element(ArgKind::kTensor, 1, 0, 6, {4, 2}).Argument(ArgKind::kOther);
  return ArgumentsInput(0, 0, 2, two) + ArgumentsInput(1, 0, 0) + ArgumentsInput(0, 0, 2, lists) +
         ArgumentsInput(1, 2, 0) + ArgumentsInput(1, 1, 0) + ArgumentsInput(2, 4, 2, two);
}

bool WriteAll(const std::string& folder) {
  const std::string small = OpscopeBytes(RandomTables(3).Make(12)).value();
  const std::string empty = OpscopeBytes(RandomTables(4).Make(0)).value();
  return Write(folder + "/opscope_file/columns.opscope", small) &&
         Write(folder + "/opscope_file/columns_payloads", Payloads(small)) &&
         Write(folder + "/opscope_file/no_spans_payloads", Payloads(empty)) &&
         Write(folder + "/recording/three_chunks", Recording(SmallChunk(0, 1) + SmallChunk(2, 1) + SmallChunk(0, 2))) &&
         Write(folder + "/recording/megengine", Recording(MegEngineChunk(0, 1, 0) + MegEngineChunk(1, 2, 1000))) &&
         Write(folder + "/recording_arguments/shared", SharedArguments());
}

}  // namespace
}  // namespace opscope

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  return opscope::WriteAll(arguments[1]) ? 0 : 1;
}
