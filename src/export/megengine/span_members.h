// The "args" of a span in MegEngine's timeline: members about its operator or tensor, and the members of its own row.
//
//   recording   from the operator's dispatch and from tensor_lives, as in MegEngine's own writer. A Kineto file
//   exported
//               from it has them too (chrome_spans.cc); after reading it they are the event's own members.
//   timeline    as the imported file had them in this event, even if other events disagree. The importer moved the
//               operator's id and the tensor's layout into columns; all other members are in `extra`.
//
// Members are written straight into the output without an intermediate copy: they are two thirds of a file.
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
  // kLayout: type and shape only. kOwnTensor: a tensor most of whose members are in `own`.
  enum class Of : uint8_t { kNothing, kOperator, kTensor, kLayout, kOwnTensor };
  Of of = Of::kNothing;
  uint32_t number = 0;
  int64_t lived = -1;    // lifetime of a released tensor in nanoseconds; -1: none
  bool is_known = true;  // type and shape of the tensor are known
  // JSON texts; device is empty if `own` contains it.
  std::string_view device = {}, type = {}, count = {}, shape = {}, name = {}, own = {};

  bool is_empty() const { return of == Of::kNothing && own.empty(); }
  size_t bytes() const { return device.size() + type.size() + count.size() + shape.size() + name.size() + own.size(); }
};

void PutMembers(const MegEngineMembers& members, ChromeCursor* at);

class MegEngineMemberFinder {
 public:
  MegEngineMemberFinder(const Trace& trace, const MegEngineFacts& facts);

  // The members of a span's event. Views are valid until the next call.
  MegEngineMembers Find(const MegEngineMark& event);
  // The members as of the end of the span.
  MegEngineMembers FindAtEnd(uint32_t span) {
    return Find({(spans_.start[span] + spans_.duration[span]).ns, span, MegEngineEventKind::kEnd});
  }

 private:
  void FindOperator(uint32_t row, MegEngineMembers* members, StringId* extra) const;
  void FindTensor(const MegEngineMark& event, MegEngineMembers* members);
  void FindLayout(const MegEngineMark& event, MegEngineMembers* members) const;
  int64_t LifetimeUntil(const MegEngineMark& event) const;

  const Trace& trace_;
  const SpanColumns& spans_;
  const MegEngineFacts& facts_;
  EscapedNames names_;
  std::array<StringId, 256> checked_;  // cache of texts known to be JSON members
};

}  // namespace opscope
