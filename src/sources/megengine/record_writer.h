// Writes MegEngine's events as records of kind kNative (opscope/megengine_event.h) into one track, in MegEngine's
// order.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opscope/megengine_event.h"
#include "opscope/recorder.h"
#include "sources/megengine/native_layout.h"

namespace opscope::megengine {

// The variable fields of a record.
struct Entries {
  std::string_view name = {};
  std::string_view members = {};         // JSON members: kKeywords
  const TensorLayout* layout = nullptr;  // null: none; else written as one argument
  std::span<const uint64_t> inputs = {}, outputs = {};
  bool has_lists = false;  // inputs and outputs are written as two arguments, even if they are empty
  bool has_address = false, has_device = false, has_totals = false;
  uint64_t address = 0;         // of has_address
  uint32_t device = 0;          // of has_address and of has_device
  uint64_t correlation = 0;     // of has_device
  int64_t used = 0, total = 0;  // of has_totals
};

class RecordWriter {
 public:
  explicit RecordWriter(Stream* stream) : stream_(stream) {}

  // Begins a piece of the window. start: nanoseconds of MegEngine's clock at which its recording began.
  void Begin(int64_t start);
  // REQUIRES: event.depth and event.reserved are numbers of NumberThread and NumberDevice.
  void Write(Record event, const Entries& entries);
  void WriteBare(const Record& event);

  // The number of a thread or a device, which the first call defines with its name. kNoNumber: there are too many.
  static constexpr uint16_t kNoNumber = 0xffff;
  uint16_t NumberThread(uint64_t thread, std::string_view name);
  uint16_t NumberDevice(const void* node, std::string_view names);
  // The number that one of the above has returned; kNoNumber: not numbered yet.
  uint16_t NumberOfThread(uint64_t thread) const { return threads_.NumberOf(thread); }
  uint16_t NumberOfDevice(const void* node) const { return devices_.NumberOf(node); }

  uint64_t written() const { return written_; }  // number of MegEngine's events

 private:
  template <typename Key>
  struct Numbering {
    std::unordered_map<Key, uint16_t> numbers;
    std::vector<std::string> names;  // by number
    uint16_t NumberOf(Key key) const {
      const auto found = numbers.find(key);
      return found == numbers.end() ? kNoNumber : found->second;
    }
  };
  template <typename Key>
  uint16_t Number(Numbering<Key>* numbering, MegEngineEvent event, Key key, std::string_view name);
  void Define();
  void DefineOne(MegEngineEvent event, size_t number, std::string_view name);
  void Append(const Record& event, const Entries& entries);

  Stream* stream_;
  uint64_t written_ = 0;
  int64_t start_ = 0;
  uint64_t piece_ = 0;
  uint32_t defined_in_ = 0;  // the chunk that has the definitions
  Numbering<uint64_t> threads_;
  Numbering<const void*> devices_;
};

// A record of an event.
inline Record RecordOf(MegEngineEvent event, bool finish, int64_t time, uint16_t thread) {
  Record record;
  record.start = static_cast<uint64_t>(time);
  record.kind = RecordKind::kNative;
  record.source = RecordSource::kMegEngine;
  record.scope = static_cast<uint8_t>(event);
  record.flags = finish ? record_flags::kFinish : 0;
  record.depth = thread;
  return record;
}

}  // namespace opscope::megengine
