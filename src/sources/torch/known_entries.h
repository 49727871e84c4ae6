// What a range that begins leaves in its thread's chunk where its arguments are those of a range before: nothing is
// encoded then, the arguments are looked through beside the words of the other's.
//
// Which other: a program that repeats itself calls the same after the same. So it is remembered which arguments came
// with this name after those of the range before, whatever its name; layers take turns, so the last ones of a name are
// those of another layer, mostly. Where that is wrong a key that is made of the arguments finds them. All of it is a
// guess that the words prove.
//
// Thread rule: the stream's own thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sources/torch/range_entries.h"

namespace opscope {

// Name 0: there is no room for it in this chunk.
inline ScopeEntries WriteWithoutArguments(Stream* stream, const at::RecordFunction& range, bool has_sequence) {
  const uint32_t name = OffsetOf(InternName(stream, range));
  if (!has_sequence || name == 0) return {name, 0};
  PayloadHeader header;
  header.bytes = static_cast<uint32_t>(sizeof(header)) + 16u;
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, header.bytes))) return {};
  header.fields = payload_fields::kSequence;
  char* side = ReserveSide(stream, header.bytes);
  FetchSide(stream);
  Store(Store(Store(side, header), range.seqNr()), range.forwardThreadId());
  return {name, OffsetInChunk(stream, side)};
}

// Where it lies which arguments came with a name after those of the range before; by offsets in the chunk. Among the
// stable names, as KeyOf's.
class Turn {
 public:
  Turn(Stream* stream, uint32_t name)
      : before_(ArgumentsSlot(stream, Key(0, 0))),
        knows_before_(before_->text == Text(Key(0, 0))),
        key_(Key(name, knows_before_ ? before_->payload : 0)),
        next_(ArgumentsSlot(stream, key_)) {}

  // The arguments to be expected; `other` where none came so before.
  uint32_t LikelyPayload(uint32_t other) const { return next_->text == Text(key_) ? next_->payload : other; }
  // They were these, as expected.
  void Take(uint32_t payload) const {
    if (knows_before_) {
      before_->payload = payload;
    } else if (before_->text == nullptr) {
      *before_ = {Text(Key(0, 0)), 0, payload};
    }
  }
  void Learn(uint32_t payload) const {
    *next_ = {Text(key_), 0, payload};
    Take(payload);
  }

 private:
  static uint64_t Key(uint32_t name, uint32_t payload) { return uint64_t{1} << 63 | uint64_t{name} << 32 | payload; }
  static const char* Text(uint64_t key) { return reinterpret_cast<const char*>(key); }  // at which no text lies

  NameCacheEntry* before_;
  bool knows_before_;
  uint64_t key_;
  NameCacheEntry* next_;
};

// WriteRepeated before anything is encoded. Runs no code of others. Name 0: the long way has to go.
inline ScopeEntries WriteKnown(Stream* stream, const at::RecordFunction& range) {
  const bool has_more = range.handle() != 0 || !(range.*Reach(torch_layout::KeywordInputs())).empty();
  if (OPSCOPE_UNLIKELY(has_more)) return {};
  const Schema* schema = SchemaOf(range);
  const bool has_sequence = range.seqNr() >= 0 || range.forwardThreadId() != 0;
  const c10::ArrayRef<const c10::IValue> inputs = schema != nullptr ? OwnInputs(range, *schema) : range.inputs();
  if (inputs.empty()) return WriteWithoutArguments(stream, range, has_sequence);
  const auto has_arguments = [&](const PayloadBefore& before) {
    if (before.header.arg_count != inputs.size()) return false;
    const uint32_t begin = before.fields_end();
    if (has_sequence && before.header.bytes - begin < kWorthComparing * sizeof(uint32_t)) return false;
    return AreEncodedAs(inputs, reinterpret_cast<const uint32_t*>(before.place + begin));
  };
  const NameCacheEntry* known = InternName(stream, range);
  if (OPSCOPE_UNLIKELY(known == nullptr || known->payload == 0)) return {};
  const uint16_t fields = has_sequence ? payload_fields::kSequence : 0;
  const Turn turn(stream, known->offset);
  const uint32_t likely = turn.LikelyPayload(known->payload);
  const ScopeEntries expected = WriteRepeated(stream, range, known->offset, likely, 0, fields, has_arguments);
  if (__builtin_expect(expected.name != 0, 1)) {
    turn.Take(likely);
    return expected;
  }
  const uint64_t key = KeyOf(inputs);
  const NameCacheEntry* other = ArgumentsSlot(stream, key);
  if (key == 0 || other->text != reinterpret_cast<const char*>(key)) return {};
  const uint32_t payload = other->payload;
  const ScopeEntries found = WriteRepeated(stream, range, known->offset, payload, 0, fields, has_arguments);
  if (found.name != 0) turn.Learn(payload);
  return found;
}

}  // namespace opscope
