// Recognises the rows of a memory snapshot in JSON, to find the next one after a fault (import/text/resync.h).
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "import/text/resync.h"

namespace opscope {

enum class SnapshotRow : uint8_t { kNone, kSegment, kBlock, kAction, kAnnotation };

// The kind of row of an object, among those that may follow in the list with the fault. Blocks are within segments.
class SnapshotRowTest : public RowTest {
 public:
  SnapshotRow list = SnapshotRow::kNone;
  bool is_bare = false;  // the document is only the list of segments

  Row Read(JsonScanner* scanner) override {
    const bool is_read = scanner->ReadMembers(&members_);
    const SnapshotRow kind = KindOf();
    const bool may_follow = kind == list || (kind == SnapshotRow::kSegment && list == SnapshotRow::kBlock);
    return {is_read, static_cast<uint8_t>(may_follow ? kind : SnapshotRow::kNone)};
  }
  bool has_keys() const override { return !is_bare; }
  bool IsKey(std::string_view text) const override {
    std::string_view name;
    return FirstOfMember(text, &name) == '[' &&
           (name == "segments" || name == "device_traces" || name == "external_annotations");
  }
  std::string_view closers() const override {
    const std::string_view all = list == SnapshotRow::kBlock ? "]}]}" : list == SnapshotRow::kAction ? "]]}" : "]}";
    return is_bare ? all.substr(0, all.size() - 1) : all;
  }
  bool IsNextOuter(JsonScanner* scanner) override {
    JsonScanner ahead = *scanner;
    if (list != SnapshotRow::kBlock && !ahead.Expect('[', "")) return false;
    if (ahead.Peek() != '{') return false;
    *scanner = ahead;
    scanner->ReadMembers(&members_);
    return KindOf() == (list == SnapshotRow::kBlock ? SnapshotRow::kSegment : list);
  }

 private:
  SnapshotRow KindOf() const {
    if (Has("total_size")) return SnapshotRow::kSegment;
    if (Has("action")) return SnapshotRow::kAction;
    if (Has("stage")) return SnapshotRow::kAnnotation;
    return Has("state") || (Has("size") && Has("address")) ? SnapshotRow::kBlock : SnapshotRow::kNone;
  }
  bool Has(std::string_view key) const {
    return std::any_of(members_.begin(), members_.end(),
                       [key](const JsonMember& member) { return member.key.text == key && member.value.present(); });
  }
  std::vector<JsonMember> members_;
};

}  // namespace opscope
