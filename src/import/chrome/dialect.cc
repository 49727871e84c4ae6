// Facts that hold in every file are collected once from all dialects: a mask of the sizes of their member names (a
// member of "args" of another size costs one test), their evidence functions, and one flag. All other facts are found
// by a loop over the list, which is short and run once per track, list or file.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/dialect.h"

#include <algorithm>

#include "import/text/json_number.h"
#include "import/text/json_walk.h"

namespace opscope {

const JsonMember* FindMember(const std::vector<JsonMember>& members, std::string_view key) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.key.text == key; });
  return found == members.end() ? nullptr : &*found;
}

void AppendListItem(std::string* list, std::string_view item) {
  list->append(list->size() > 1 ? ", " : "").append(item);
}

bool ChromeFile::MetadataHas(std::string_view key, std::string_view member) const {
  JsonScanner scanner(builder->FindMetadata(key));
  std::vector<JsonMember> members;
  return scanner.Peek() == '{' && scanner.ReadMembers(&members) && FindMember(members, member) != nullptr;
}

bool ChromeFile::FirstCategoryIs(std::string_view category) const {
  const SpanColumns spans = builder->added_spans();
  return !spans.category.empty() && builder->text(spans.category[0]) == category;
}

ChromeDialects::ChromeDialects(std::span<const ChromeDialect* const> list) : list_(list) {
  OPSCOPE_CHECK(list.size() <= kMaxDialects);
  for (size_t place = 0; place < list.size(); ++place) {
    const ChromeDialect& dialect = *list[place];
    members_.insert(members_.end(), dialect.members.begin(), dialect.members.end());
    names_end_in_duration_ |= dialect.names_end_in_duration;
    if (dialect.evidence_in != nullptr) evidence_functions_.emplace_back(place, dialect.evidence_in);
  }
  for (const ChromeMember& member : members_)
    member_sizes_ |= uint64_t{1} << member.key.size();
}

const ChromeDialect& ChromeDialects::Named(std::string_view format) const {
  for (const ChromeDialect* dialect : list_) {
    if (dialect->format == format) return *dialect;
  }
  return kPlainChrome;
}

const ChromeMember* ChromeDialects::Search(std::string_view key) const {
  for (const ChromeMember& member : members_) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

std::string_view ChromeDialects::StepPrefix(std::string_view category) const {
  for (const ChromeDialect* dialect : list_) {
    if (!dialect->step_prefix.empty() && dialect->step_category == category) return dialect->step_prefix;
  }
  return {};
}

bool ChromeDialects::SharesEnds(std::string_view arrow_category) const {
  return std::any_of(list_.begin(), list_.end(), [&](const ChromeDialect* dialect) {
    return !arrow_category.empty() && dialect->shared_end_category == arrow_category;
  });
}

bool ChromeDialects::IsArgumentRange(std::string_view name, const Argument& input) const {
  return std::any_of(list_.begin(), list_.end(), [&](const ChromeDialect* dialect) {
    return dialect->is_argument_range != nullptr && dialect->is_argument_range(name, input);
  });
}

void ChromeDialects::ClassifyTracks(std::span<ChromeTrackFacts> tracks) const {
  for (const ChromeDialect* dialect : list_) {
    if (dialect->classify_tracks != nullptr) dialect->classify_tracks(tracks);
  }
}

bool ChromeDialects::ReadBaseTime(std::string_view key, const JsonValue& value, int64_t* base_time_ns) const {
  for (const ChromeDialect* dialect : list_) {
    if (dialect->base_time_key.empty() || dialect->base_time_key != key) continue;
    JsonScanner scanner(value.text);
    std::vector<JsonMember> members;
    if (scanner.Peek() != '{' || !scanner.ReadMembers(&members)) return false;
    const JsonMember* time = FindMember(members, dialect->base_time_member);
    const auto number = time == nullptr ? std::nullopt : ParseInteger(time->value.text);
    if (!number || *number <= 0 || *number > kLatestNs) continue;
    *base_time_ns = *number;
    return true;
  }
  return false;
}

bool ReadChromeLists(const ChromeDialects& dialects, const std::vector<JsonMember>& members, ChromeLists* lists) {
  for (const JsonMember& member : members) {
    const ChromeMember* meaning = dialects.MeaningOf(member.key.text);
    if (meaning == nullptr || meaning->read == nullptr) continue;
    lists->dims = lists->types = "[";
    if (!meaning->read(member.value, members, lists)) continue;
    lists->dims += "]", lists->types += "]";
    if (lists->dims.size() > 2) return true;
  }
  return false;
}

}  // namespace opscope
