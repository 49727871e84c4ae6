// Converts the records of a window in MegEngine's memory into records of the recorder: one pass over the list, without
// a copy and without Python.
//
//   record --> type (an address; named and probed at its first appearance) --> one function of a table --> RecordWriter
//
// FindBundle (bundle.h) has probed the list. The walk also reads the first record of each type as memory that may be
// unmapped. It trusts the following records of the type, so a record costs only tens of nanoseconds.
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

// One known type of event.
struct EventLayout {
  std::string_view name;  // MegEngine's, without "Event" and "Finish"
  MegEngineEvent event;
  size_t bytes;  // size of the struct; the walk has read all of it
  // Writes one event. body: the struct.
  void (*write)(class Walk* walk, Record record, const char* body);
  // True if the pointers of the struct can be read and look right. Null: the struct has no pointers.
  bool (*probe)(class Walk* walk, const char* body);
};

class Walk {
 public:
  Walk(RecordWriter* writer, OwnMemory* memory) : writer_(writer), memory_(memory) {}

  // Writes all records of the bundle. kUnsupported: a record has an unknown layout; the records before it were written.
  [[nodiscard]] Status Take(const FoundBundle& bundle);

  RecordWriter& writer() { return *writer_; }
  OwnMemory& memory() { return *memory_; }
  uint16_t DeviceNumber(const void* node);
  // The parameters as JSON members in the order of their names; valid until the next call.
  std::string_view Members(const NativeFunction& parameters);
  // Time since the first event of the device in this piece. False: unknown.
  bool DeviceTime(void* event, uint16_t* device, int64_t* nanoseconds);

  uint64_t unknown() const { return unknown_; }  // records of types that this version does not read
  uint64_t failed() const { return failed_; }    // parameters and device times for which MegEngine threw
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

// Null: opscope does not read the type.
[[nodiscard]] const EventLayout* FindEventLayout(std::string_view name);

}  // namespace opscope::megengine
