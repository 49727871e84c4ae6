// Turns the records of a window, as they lie in MegEngine's memory, into records of the recorder: once over the list,
// in place, without a copy and without Python.
//
//   record --> type (an address; named and probed at its first appearance) --> one function of a table --> RecordWriter
//
// The window's list was probed already (bundle.h). The first record of each type is read as memory that may not be
// there, too; those that follow are trusted, which is what makes a record cost tens of nanoseconds.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opscope/result.h"
#include "sources/megengine/bundle.h"
#include "sources/megengine/record_writer.h"

namespace opscope::megengine {

// What is known of one type of event.
struct EventLayout {
  std::string_view name;  // MegEngine's, without "Event" and "Finish"
  MegEngineEvent event;
  size_t bytes;  // of the struct, which can be read whole
  // Writes one. `body`: the struct.
  void (*write)(class Walk* walk, Record record, const char* body);
  // Whether what the struct points to is there and looks right. Null: it points to nothing.
  bool (*probe)(class Walk* walk, const char* body);
};

class Walk {
 public:
  Walk(RecordWriter* writer, OwnMemory* memory) : writer_(writer), memory_(memory) {}

  // Writes all records of the bundle. kUnsupported: one is not laid out as known; those before it were written.
  [[nodiscard]] Status Take(const FoundBundle& bundle);

  RecordWriter& writer() { return *writer_; }
  OwnMemory& memory() { return *memory_; }
  uint16_t DeviceNumber(const void* node);
  // The parameters as JSON members in the order of their names; valid until the next call.
  std::string_view Members(const NativeFunction& parameters);
  // Since the first event of that device in this piece. False: it is unknown.
  bool DeviceTime(void* event, uint16_t* device, int64_t* nanoseconds);

  uint64_t unknown() const { return unknown_; }  // records of types that this version does not read
  uint64_t failed() const { return failed_; }    // parameters and device times that MegEngine raised an error over
  void CountFailed() { ++failed_; }

 private:
  struct Type {
    const void* native = nullptr;
    const EventLayout* layout = nullptr;  // null: unknown
    bool finish = false;
  };
  [[nodiscard]] Result<Type> LearnType(const NativeRecord& record);
  [[nodiscard]] Status NumberThreads(const FoundBundle& bundle);

  RecordWriter* writer_;
  OwnMemory* memory_;
  std::unordered_map<const void*, Type> types_;
  std::unordered_map<const void*, void*> first_events_;  // by device
  std::vector<std::pair<std::string, std::string>> parameters_;
  std::string members_;
  uint64_t unknown_ = 0, failed_ = 0;
};

// Of event_layouts.cc. Null: a type that is not read.
[[nodiscard]] const EventLayout* FindEventLayout(std::string_view name);

}  // namespace opscope::megengine
