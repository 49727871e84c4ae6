// The names of an XPlane and the facts of its events. XLA stores both once per plane and refers to them by number:
//
//   XPlane         { id=1 name=2 lines=3* event_metadata=4 {id: XEventMetadata}*
//                    stat_metadata=5 {id: XStatMetadata}* stats=6* }
//   XEventMetadata { id=1 name=2 metadata=3 display_name=4 stats=5* child_id=6* }
//   XStatMetadata  { id=1 name=2 }
//   XStat          { metadata_id=1, one of: double=2 uint64=3 int64=4 str=5 bytes=6 ref=7 (name of a stat_metadata) }
//
// Thread rule: one thread at a time; texts are valid as long as the file's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/text/proto_reader.h"

namespace opscope {

// The stats of an event: some are columns of the Trace, the others become members of a JSON object.
struct XEventFacts {
  static constexpr size_t kMaxMembers = 64;

  uint32_t correlation = 0;
  std::optional<int64_t> step;  // from 0
  std::optional<uint64_t> produces,
      consumes;  // numbers of the work that this event hands to, or takes from, another event
  uint64_t producer_type = 0, consumer_type = 0;
  bool is_op = false, is_copy = false, is_set = false;
  std::string members;
  std::array<size_t, kMaxMembers> key_begins{};  // offsets in `members` of the first member_count members
  size_t member_count = 0;
  bool left_out = false;  // there were more members

  // The integer at the beginning of a member's value. nullopt: no such member, or no integer there.
  std::optional<int64_t> IntegerMember(std::string_view key) const;
};

// The stats that all events of a name share, read once.
struct XSharedFacts {
  XEventFacts columns;  // has no members
  struct Member {
    std::string key, text;  // `"key": `, and the same with the value
  };
  std::vector<Member> members;
  bool whole = true;
};

struct XEventName {
  std::string_view name, display_name;
  std::string_view stats;  // the XEventMetadata message, which has the stats
  std::optional<XSharedFacts> shared;
};

class XPlaneNames {
 public:
  explicit XPlaneNames(std::string_view file) : file_(file) {}

  // Adds an entry of event_metadata or stat_metadata. False: it is damaged or cut.
  bool AddEventName(ProtoReader* entry);
  bool AddStatName(ProtoReader* entry);

  size_t count() const { return events_.size() + stats_.size(); }
  uint64_t memory_bytes() const { return count() * 100; }  // approximate
  XEventName* FindEvent(int64_t id);
  std::string_view StatName(int64_t id) const;  // "" if unknown

  // Adds one XStat. False: it is damaged or cut. Texts that many events can share are limited to a kilobyte each and to
  // four in all, so that a small file cannot become a large Trace.
  bool ReadStat(ProtoReader* stat, XEventFacts* facts) const;
  // Adds the stats that all events of this name share, except those that `facts` has already. False: one is damaged.
  bool AddShared(XEventName* name, XEventFacts* facts) const;

 private:
  bool ReadFact(ProtoReader* stat, bool is_shared, XEventFacts* facts, XSharedFacts::Member* member) const;
  XSharedFacts ReadShared(std::string_view metadata) const;

  std::string_view file_;
  std::unordered_map<int64_t, XEventName> events_;
  std::unordered_map<int64_t, std::string_view> stats_;
};

// `text` as a JSON string, cut after a kilobyte with a note about its length.
void AppendSharedText(std::string* out, std::string_view text);

}  // namespace opscope
