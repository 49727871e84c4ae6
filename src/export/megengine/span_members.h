// "args" of a span in MegEngine's timeline: what is known of its operator or of its tensor, and members that its row
// has.
//
//   recording   known from the operator's dispatch and from tensor_lives, as MegEngine's own writer knows it
//               An export in Kineto's dialect has them too (chrome_spans.cc); read again, an event has them as its own.
//   timeline    what the file that was read said in this very event, though others contradict it. The importer took
//               the number of an operator and the layout of a tensor out of the members; all else is still there.
//
// Members are written where they stand in the file, without a copy in between: they are two thirds of it.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "export/chrome_buffer.h"
#include "export/escaped_names.h"
#include "export/megengine/events.h"
#include "export/megengine/facts.h"
#include "opscope/trace.h"

namespace opscope {

struct MegEngineMembers {
  // kLayout: type and shape alone. kOwnTensor: a tensor of which `own` says the most.
  enum class Of : uint8_t { kNothing, kOperator, kTensor, kLayout, kOwnTensor };
  Of of = Of::kNothing;
  uint32_t number = 0;
  int64_t lived = -1;    // nanoseconds, of a tensor that is gone
  bool is_known = true;  // what a tensor is
  // device: "" where `own` has it
  std::string_view device = {}, type = {}, count = {}, shape = {}, name = {}, own = {};

  bool is_empty() const { return of == Of::kNothing && own.empty(); }
  size_t bytes() const { return device.size() + type.size() + count.size() + shape.size() + name.size() + own.size(); }
};

void PutMembers(const MegEngineMembers& members, ChromeCursor* at);

class MegEngineMemberFinder {
 public:
  MegEngineMemberFinder(const Trace& trace, const MegEngineFacts& facts);

  // Of a span. Views live until the next call.
  MegEngineMembers Find(const MegEngineMark& event);
  // What is known at the end of a span.
  MegEngineMembers FindAtEnd(uint32_t span) {
    return Find({(spans_.start[span] + spans_.duration[span]).ns, span, MegEngineWhat::kEnd});
  }

 private:
  void FindOperator(uint32_t row, MegEngineMembers* members, StringId* extra) const;
  void FindTensor(const MegEngineMark& event, MegEngineMembers* members);
  void FindLayout(const MegEngineMark& event, MegEngineMembers* members) const;
  int64_t LivedBefore(const MegEngineMark& event) const;

  const Trace& trace_;
  const SpanColumns& spans_;
  const MegEngineFacts& facts_;
  EscapedNames names_;
  std::array<StringId, 256> checked_;  // the last ones, that were JSON
};

}  // namespace opscope
