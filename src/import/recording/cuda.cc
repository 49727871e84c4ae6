// Equal launches in a chunk share a payload with their details. Two tables save work per record: one by place in the
// chunk, which needs no hash, and one by the bytes of the details across chunks. Tables by place are arrays, cleared by
// a list of the places used, so a chunk with few records costs little.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/cuda.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "opscope/cuda_event.h"
#include "opscope/window_facts.h"

namespace opscope {
namespace {

// The ids of names by their offset in the current chunk.
class NamesOfPart {
 public:
  explicit NamesOfPart(size_t most_bytes) : id_at_(most_bytes / 8 + 1, StringId::kNone) {}

  void Begin(const RecordingPart& part) {
    for (const uint32_t offset : offsets_)
      id_at_[offset / 8] = StringId::kNone;
    offsets_ = part.cuda.name_offsets;
    for (size_t i = 0; i < offsets_.size(); ++i)
      id_at_[offsets_[i] / 8] = part.name_ids[i + 1];
    id_at_[0] = StringId::kEmpty;
  }
  // kNone: the record is damaged, which was counted already.
  StringId Of(const Record& record) const {
    return record.name % 8 == 0 && record.name / 8 < id_at_.size() ? id_at_[record.name / 8] : StringId::kNone;
  }

 private:
  std::vector<StringId> id_at_;  // few entries are used
  std::vector<uint32_t> offsets_;
};

// Data derived from an event type and its details, shared by all records with the same two. Each chunk has its own copy
// of the details of a kernel launch; they are decoded once.
class SharedDetails {
 public:
  void BeginPart(const RecordingPart& part) {
    part_ = &part;
    for (const uint32_t place : used_)
      number_at_[place] = kNone;
    used_.clear();
    number_at_.resize(std::max(number_at_.size(), part.chunk->byte_size() / 8 + 1), kNone);
  }
  // Null: the record is damaged. Valid until the next call.
  CudaShared* Of(const Record& record) {
    const uint32_t place = record.payload / 8;
    if (record.payload % 8 == 0 && place < number_at_.size() && number_at_[place] != kNone) {
      CudaShared& known = shared_[number_at_[place]];
      if (known.event == EventOf(record)) return &known;
    }
    return Find(EventOf(record), record.payload);
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct EventDetails {
    CudaEvent event;
    std::string_view details;
    bool operator==(const EventDetails&) const = default;
  };
  struct HashOfEventDetails {
    size_t operator()(const EventDetails& key) const {
      return std::hash<std::string_view>()(key.details) ^ static_cast<size_t>(key.event);
    }
  };

  __attribute__((noinline)) CudaShared* Find(CudaEvent event, uint32_t payload) {
    const auto extent = payload == 0 ? std::nullopt : part_->chunk->payload_extent(payload);
    if (!extent) return nullptr;
    const uint32_t place = payload / 8;
    const std::span<const std::byte> details = extent->body;
    const std::string_view bytes(reinterpret_cast<const char*>(details.data()), details.size());
    const auto number = static_cast<uint32_t>(shared_.size());
    const auto [found, is_new] = numbers_.try_emplace(EventDetails{event, bytes}, number);
    if (is_new) shared_.push_back({.event = event, .details = details});
    if (number_at_[place] == kNone) used_.push_back(place);
    number_at_[place] = found->second;
    return &shared_[found->second];
  }

  const RecordingPart* part_ = nullptr;
  std::vector<CudaShared> shared_;
  tsl::robin_map<EventDetails, uint32_t, HashOfEventDetails> numbers_;
  std::vector<uint32_t> number_at_;  // by place in the chunk; few entries are used
  std::vector<uint32_t> used_;
};

}  // namespace

uint64_t RecordingCuda::Add(ProcessId process, int64_t pid, std::span<RecordingPart> parts) {
  Window& window = windows_.emplace_back();
  window.process = process, window.pid = pid, window.parts = parts;
  uint64_t readings = 0;
  for (const RecordingPart& part : parts) {
    for (const uint32_t row : part.cuda.notes)
      window.notes.emplace_back(&part, row);
    for (size_t number = 0; number < kCudaEvents; ++number) {
      const auto event = static_cast<CudaEvent>(number);
      const uint32_t count = part.cuda.of_event[number];
      window.calls += IsCall(event) ? count : 0;
      readings += event == CudaEvent::kReading ? count : 0;
    }
    window.most_bytes = std::max(window.most_bytes, part.chunk->byte_size());
  }
  return window.notes.size() + readings;
}

void RecordingCuda::ReadClock(Window& window, CudaClock* clock) {
  for (const auto& [part, row] : window.notes) {
    const Record record = part->chunk->record(row);
    if (EventOf(record) == CudaEvent::kWindow) window.begin = record.start, window.end = record.start + record.value;
    if (EventOf(record) == CudaEvent::kPaused) window.pauses.push_back({record.start, record.start + record.value});
    if (EventOf(record) != CudaEvent::kClock) continue;
    const auto extent = record.payload == 0 ? std::nullopt : part->chunk->payload_extent(record.payload);
    const CudaRecord read{.details = extent ? extent->body : std::span<const std::byte>()};
    const Timestamp time = clock_->At(record.value);
    clock->Add(record.start, time, clock_->At(record.value + read.As<CudaClockDetails>().bound_ticks) - time);
  }
  std::ranges::sort(window.pauses, {}, &Pause::begin);
  clock->Order();
  if (!clock->empty()) builder_->AddMetadata(kCudaClockBoundKey, std::to_string(clock->bound().ns));
}

bool RecordingCuda::Window::IsPausedAt(uint64_t time) const {
  const auto after = std::ranges::upper_bound(pauses, time, {}, &Pause::begin);
  return after != pauses.begin() && time < std::prev(after)->end;
}

// A call belongs to the window in which it begins, device work to the windows in which it runs.
inline bool RecordingCuda::Window::IsOutside(const Record& raw, CudaEvent event) const {
  const bool has_length = !IsCall(event) && event != CudaEvent::kEnvironment && event != CudaEvent::kReading;
  const uint64_t last = raw.start + (has_length ? raw.value : 0);
  return raw.start != 0 && (last < begin || raw.start > end || (!pauses.empty() && IsPausedAt(raw.start)));
}

// The caller sets the name.
inline CudaRecord RecordingCuda::RecordOf(const Window& window, const CudaClock& clock, const Record& raw,
                                          const CudaShared& shared) {
  return {.event = shared.event,
          .is_outside = window.IsOutside(raw, shared.event),
          .correlation = CudaCorrelation(raw),
          .start = clock.At(raw.start),
          .duration = {static_cast<int64_t>(raw.value)},
          .details = shared.details};
}

void RecordingCuda::Read(Window& window, const CudaClock& clock, CudaImport* import) {
  SharedDetails details;
  NamesOfPart names(window.most_bytes);
  const auto for_each = [&](const auto& visit) {
    for (const RecordingPart& part : window.parts) {
      details.BeginPart(part);
      names.Begin(part);
      const bool are_all = part.cuda.count == part.chunk->record_count();
      for (uint32_t row = 0; row < part.chunk->record_count(); ++row) {
        const Record raw = part.chunk->record(row);
        if (are_all || (IsOfCuda(raw) && names.Of(raw) != StringId::kNone)) visit(part, row, raw);
      }
    }
  };
  const auto read = [&](const Record& raw, const CudaShared& of) {
    CudaRecord record = RecordOf(window, clock, raw, of);
    record.name = names.Of(raw);
    return record;
  };
  const auto count_damage = [&](const RecordingPart& part, uint32_t row) {
    builder_->AddProblem("damaged_record", part.chunk->record_offset(row));
  };
  for (const RecordingPart& part : window.parts) {
    for (const PartEvent& event : part.events)
      count_damage(part, event.row);
  }
  for_each([&](const RecordingPart& part, uint32_t row, const Record& raw) {
    CudaShared* shared = details.Of(raw);
    if (shared == nullptr) return count_damage(part, row);
    if (CudaImport::NeedsScan(*shared)) import->Scan(read(raw, *shared), shared);
    if (IsWork(shared->event)) {
      import->Count(CudaCorrelation(raw), window.IsOutside(raw, shared->event), *shared);
    }
  });
  for_each([&](const RecordingPart&, uint32_t, const Record& raw) {
    if (!CudaImport::NeedsAdd(EventOf(raw))) return;
    if (CudaShared* shared = details.Of(raw)) import->Add(read(raw, *shared), shared);
  });
}

std::set<TrackId> RecordingCuda::Finish() {
  if (windows_.empty()) return {};
  CudaImport import(builder_, *naming_);
  for (auto& [node, members] : node_names_)
    import.NameNode(node, std::move(members));
  for (Window& window : windows_) {
    CudaClock clock;
    ReadClock(window, &clock);
    if (clock.empty()) continue;  // its first chunk is missing or empty
    import.Begin(window.process, window.pid, window.calls);
    Read(window, clock, &import);
    import.End();
  }
  import.Finish();
  return import.call_tracks();
}

}  // namespace opscope
