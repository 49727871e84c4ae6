// Several threads decode parts, so decoding must not use the builder. A chunk has each name once and refers to it by
// offset: an array indexed by offset / 8 gives the number of a name without hashing, and the list of used offsets
// clears it for the next chunk. Argument lists are numbered by hash. Depths link scopes to their parents (tree.h). A
// damaged record is counted and gets no row.
//
// Entries of a chunk do not overlap, so their sizes add up to at most the chunk's size. If a forged chunk refers to the
// same bytes many times, the records beyond that sum are damaged.
//
//   records   name@64 name@96 name@64   ->   numbers 1 2 1, names {"", "aten::mm", "aten::add"}
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/part.h"

#include <algorithm>
#include <optional>

#include "import/cuda/cuda_record.h"

namespace opscope {
namespace {

bool Nests(const Record& record) {
  return record.kind == RecordKind::kScope && (record.flags & record_flags::kOtherThread) == 0;
}

}  // namespace

void ScopeRoom::Reserve(size_t records) {
  const size_t scope_bytes = records * sizeof(PartScope), begin_bytes = records * sizeof(uint32_t);
  const size_t bytes = scope_bytes + begin_bytes + records * sizeof(uint16_t);
  if (bytes >= HugeBlock::kBreakEvenBytes) {
    block_ = HugeBlock(bytes);
    scopes_.Borrow(block_.data(), records);
    begins_.Borrow(block_.data() + scope_bytes, records);
    depths_.Borrow(block_.data() + scope_bytes + begin_bytes, records);
  }
  scopes_.resize_unset(records), begins_.resize_unset(records), depths_.resize_unset(records);
}

PartRoom ScopeRoom::Part(size_t first, size_t records) {
  return {std::span(scopes_.data() + first, records), std::span(depths_.data() + first, records),
          std::span(begins_.data() + first, records)};
}

void RecordingPart::Link(size_t count) {
  scopes = room.scopes.first(count);
  tree.depth = room.depths.first(count);
  tree.begin = room.begins.first(count);
  // The depth alone is wrong behind a missing chunk, and where another thread ended a scope that its owner still
  // counted. So a record adopts only records that began after it.
  LinkWithin(&tree, [this](uint32_t parent, uint32_t child) { return start(child) >= start(parent); });
}

void RecordingPart::DropScopes(std::span<const uint8_t> bad_arguments) {
  const auto is_bad = [&](const PartScope& scope) {
    const bool bad = scope.args != kNoArguments && bad_arguments[scope.args] != 0;
    if (bad) CountDamage(scope.row);
    return bad;
  };
  std::erase_if(async, is_bad);
  size_t kept = 0;
  for (size_t i = 0; i < scopes.size(); ++i) {
    if (is_bad(scopes[i])) continue;
    room.scopes[kept] = scopes[i];
    room.depths[kept++] = room.depths[i];
  }
  Link(kept);
}

inline bool PartDecoder::DecodeScope(uint32_t row, const Record& record, uint32_t name) {
  PartScope scope;
  scope.row = row & 0x7fffffffu;
  scope.name = name;
  scope.args = RecordingPart::kNoArguments;
  part_->has_paddle |= record.source == RecordSource::kPaddle;
  if (record.payload != 0) {
    const std::optional<PayloadExtent> extent = part_->chunk->payload_extent(record.payload);
    if (!extent) return false;
    std::span<const std::byte> arguments = extent->body;
    if (extent->fields != 0) {
      const std::optional<Payload> payload = part_->chunk->payload(record.payload);
      if (!payload || !TakeEntry(payload->tensors.size())) return false;
      scope.has_fields = 1;
      arguments = payload->arguments;
      // A damaged offset loses only the name; the span is valid.
      const uint32_t overload = NameAt(payload->overload);
      scope.overload = overload == kUnknown ? 0 : overload;
    }
    if (extent->argument_count > 0) scope.args = ArgumentListIndex({arguments, extent->argument_count, 0});
  }
  if (!Nests(record)) {
    part_->async.push_back(scope);
    return true;
  }
  part_->room.scopes[scopes_] = scope;
  part_->room.depths[scopes_] = record.depth;
  ++scopes_;
  return true;
}

inline void PartDecoder::CountOfCuda(uint32_t row, CudaEvent event) {
  CudaRows& cuda = part_->cuda;
  if (cuda.count++ == 0) cuda.first = row;
  ++cuda.of_event[static_cast<size_t>(event)];
  if (IsOwnNote(event)) cuda.notes.push_back(row);
}

inline bool PartDecoder::DecodeRecord(uint32_t row) {
  const Record record = part_->chunk->record(row);
  if (!HasEntries(record)) {
    part_->events.push_back({row, 0});
    return true;
  }
  const uint32_t name = NameAt(record.name);
  if (name == kUnknown) return false;
  if (IsScope(record)) return DecodeScope(row, record, name);
  if (IsOfCuda(record)) {
    CountOfCuda(row, EventOf(record));
    return true;
  }
  if (record.kind == RecordKind::kHeld && record.payload != 0) {
    const std::optional<Payload> payload = part_->chunk->payload(record.payload);
    if (payload && !TakeEntry(payload->held.size())) return false;
  }
  part_->events.push_back({row, name});
  if (record.kind == RecordKind::kNative) {
    // All records of a track are from the track's source.
    if (part_->events.size() == 1) part_->events.reserve(part_->chunk->record_count());
    part_->has_native = true;
  }
  if (record.kind == RecordKind::kEnter || record.kind == RecordKind::kDeviceSpan) ++part_->event_spans;
  return true;
}

// Reads the records of a track from one source, up to the first damaged one.
uint32_t PartDecoder::CountFirstOfCuda() {
  const uint32_t count = part_->chunk->record_count();
  uint32_t row = 0;
  for (; row < count; ++row) {
    const Record record = part_->chunk->record(row);
    if (!IsOfCuda(record) || NameAt(record.name) == kUnknown) break;
    CountOfCuda(row, EventOf(record));
  }
  return row;
}

void PartDecoder::Decode(RecordingPart* part) {
  part_ = part;
  scopes_ = entry_bytes_ = 0;
  const RecordingChunk& chunk = *part->chunk;
  name_at_.resize(std::max(name_at_.size(), chunk.byte_size() / 8 + 1), kUnknown);
  part->names.assign(1, {});
  part->damaged = chunk.claimed_record_count() - chunk.record_count();
  part->first_damaged = chunk.record_count();
  for (uint32_t row = CountFirstOfCuda(); row < chunk.record_count(); ++row) {
    if (!DecodeRecord(row)) part->CountDamage(row);
  }
  part->Link(scopes_);
  for (const uint32_t index : seen_) {
    name_at_[index] = kUnknown;
    if (part->cuda.count > 0) part->cuda.name_offsets.push_back(index * 8);
  }
  seen_.clear();
  argument_index_by_hash_.clear();
}

uint32_t PartDecoder::NewNameAt(uint32_t offset) {
  if (offset == 0) return 0;
  const uint32_t index = offset / 8;
  if (offset % 8 != 0 || index >= name_at_.size()) return kUnknown;
  const std::optional<std::string_view> text = part_->chunk->name(offset);
  if (!text || !TakeEntry(text->size())) return kUnknown;
  seen_.push_back(index);
  part_->names.push_back(*text);
  return name_at_[index] = static_cast<uint32_t>(part_->names.size() - 1);
}

uint32_t PartDecoder::ArgumentListIndex(const EncodedArguments& arguments) {
  const uint64_t hash = arguments.Hash();
  const auto index = static_cast<uint32_t>(part_->arguments.size());
  const auto [known, is_new] = argument_index_by_hash_.try_emplace(hash, index);
  if (!is_new && part_->arguments[known->second].Same(arguments)) return known->second;
  // New, or two contents with one hash: the second gets an index for each of its records.
  part_->arguments.push_back({arguments.bytes, arguments.count, hash});
  return index;
}

}  // namespace opscope
