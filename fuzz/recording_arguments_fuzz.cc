// Argument lists of a recording: a sound chunk whose payloads are the input's, with arguments of their own or those of
// another payload. Each: u8 how, u8 which other payload, u8 number of arguments, u8 number of words, the words.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "import/recording/recorded_bytes_for_test.h"
#include "importer_fuzz.h"
#include "opscope/import.h"

namespace opscope {
namespace {

struct Made {
  uint32_t at = 0;  // its payload in the chunk
  uint16_t count = 0;
  bool has_arguments = false;  // of its own, and nothing else
  size_t same_as = 0;          // the one whose arguments it has; itself where it has its own
};

std::string PayloadOf(uint16_t fields, uint16_t count, std::string body) {
  body.resize((body.size() + 7) / 8 * 8);
  std::string bytes;
  AppendFixed(&bytes, static_cast<uint32_t>(body.size() + sizeof(PayloadHeader)));
  AppendFixed(&bytes, fields);
  AppendFixed(&bytes, count);
  return bytes + body;
}

class Chunk {
 public:
  bool HasRoom() const { return made_.size() < 255 && chunk_.HasRoomFor(kMaxBytes); }

  void Add(uint8_t how, uint8_t which, uint8_t count, std::string_view words) {
    Made made{.at = 0, .count = count, .has_arguments = how % 4 == 0, .same_as = made_.size()};
    std::string payload;
    if (how % 4 == 0 || made_.empty()) {
      payload = PayloadOf(0, count, std::string(words));
      made.has_arguments = true;
    } else if (how % 4 == 1) {  // as a recorder does it
      const size_t other = which % made_.size();
      payload = PayloadBytes().Sequence(which, 0).ArgumentsOf(made_[other].at, made_[other].count).Finish();
      made.count = made_[other].count;
      if (made_[other].has_arguments) made.same_as = other;
    } else {  // as no recorder does it: any fields, any offset
      payload = PayloadOf(static_cast<uint16_t>(which << 8 | (how & 0xfc)), count, std::string(words));
    }
    made.at = chunk_.Side(payload);
    Record record;
    record.start = 2000 + 10 * made_.size(), record.value = 5;
    record.kind = RecordKind::kScope, record.source = RecordSource::kTorch;
    record.name = chunk_.Name(std::to_string(made_.size())), record.payload = made.at;
    chunk_.Add(record);
    made_.push_back(made);
  }

  void Check() const {
    RecordingBytes recording;
    recording.Add(block_types::kWindowInfo, WindowInfoText());
    recording.Add(block_types::kRawChunk, chunk_.bytes());
    const Trace trace = ImportRecording(recording.blocks).value();
    std::map<size_t, ArgsId> kept;
    for (size_t i = 0; i < trace.spans().size(); ++i)
      kept[std::stoul(std::string(trace.text(trace.spans().name[i])))] = trace.spans().args[i];
    OPSCOPE_CHECK(kept.size() == trace.spans().size());
    size_t damaged = 0;
    for (size_t i = 0; i < trace.problems().size(); ++i)
      damaged += trace.text(trace.problems().kind[i]) == "damaged_record" ? trace.problems().count[i] : 0;
    OPSCOPE_CHECK(kept.size() + damaged == made_.size());
    for (size_t i = 0; i < made_.size(); ++i) {
      const size_t other = made_[i].same_as;
      OPSCOPE_CHECK(kept.count(i) == kept.count(other));
      OPSCOPE_CHECK(!kept.count(i) || kept.at(i) == kept.at(other));
    }
    CheckStored(trace);
    const std::string text = ChromeTraceText(trace).value();
    const Result<Trace> chrome = ImportBytes(std::as_bytes(std::span(text)), "export");
    OPSCOPE_CHECK(chrome.ok() && !chrome.value().is_partial());
  }

 private:
  static constexpr size_t kMaxBytes = 4 * 255 + 64;

  ChunkBytes chunk_{{.size = 16384}};
  std::vector<Made> made_;
};

}  // namespace
}  // namespace opscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  opscope::Chunk chunk;
  while (rest.size() >= 4 && chunk.HasRoom()) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(rest[i]); };
    const uint8_t how = byte(0), which = byte(1), count = byte(2);
    const size_t words = std::min<size_t>(size_t{byte(3)} * 4, rest.size() - 4);
    chunk.Add(how, which, count, rest.substr(4, words));
    rest.remove_prefix(4 + words);
  }
  chunk.Check();
  return 0;
}
