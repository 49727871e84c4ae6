// The events of a Perfetto trace as packets: begins and ends of spans, instants, samples of counters.
//
// Thread rule: immutable, any thread; the bytes are the caller's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "export/perfetto_plan.h"
#include "opscope/trace.h"

namespace opscope {

class PerfettoEvents {
 public:
  PerfettoEvents(const Trace& trace, const PerfettoPlan& plan);

  // Writes the spans in rows [first, last) of a lane.
  void WriteSpans(size_t lane, size_t first, size_t last, std::string* out) const;
  void WriteAsyncLane(size_t lane, std::string* out) const;
  void WriteAllocation(size_t row, std::string* out) const;
  void WriteInstant(uint32_t row, std::string* out) const;
  void WriteCounter(size_t row, std::string* out) const;

 private:
  // State that consecutive spans share.
  struct SpanScratch {
    std::string event;
    size_t next_call = 0;  // guess: row of python_calls for the next span
  };
  void WriteBegin(uint32_t span, uint64_t track, SpanScratch* scratch, std::string* out) const;
  void AddPythonCall(uint32_t span, size_t* next_call, protozero::pbf_writer* event) const;
  void AddExtra(StringId extra, protozero::pbf_writer* event) const;
  void AddMember(std::string_view key, std::string_view value, protozero::pbf_writer* event) const;

  const Trace& trace_;
  const PerfettoPlan& plan_;
  std::vector<std::string> arguments_;  // annotations by number of the argument list, from 1
};

}  // namespace opscope
