// What a timeline shows beside spans: asynchronous ranges and points in time, each with the line below the rows of its
// track, and the names of tracks, which must differ for an address to find them again.
//
//   ranks 0 and 1 of one host were both process 7:   7/7  ->  "7/7" and "7/7#2"
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <unordered_map>

#include "base/json_members.h"
#include "base/json_object.h"
#include "report/html/integer_column.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

std::string_view ScopeText(uint8_t scope) {
  return scope == 'g' ? "global" : scope == 'p' ? "process" : "thread";
}

// One table of marks in columns.
class MarksWriter {
 public:
  MarksWriter(const Trace& trace, const std::vector<uint32_t>& numbers, PageStrings* strings)
      : trace_(trace), numbers_(numbers), strings_(strings) {}

  void AddRange(uint32_t row, uint32_t line) {
    const AsyncSpanColumns& spans = trace_.async_spans();
    if (!AddPlace(spans.track[row], line, spans.start[row].ns, spans.duration[row].ns)) return;
    name_.Add(strings_->Of(spans.name[row]));
    category_.Add(strings_->Of(spans.category[row]));
    detail_.Add(spans.id[row] == StringId::kNone ? 0 : strings_->Of(spans.id[row]));
    AddMembers(spans.extra[row]);
  }
  // `line`: that of points, below the ranges of the track.
  void AddPoint(uint32_t row, uint32_t line) {
    const InstantColumns& instants = trace_.instants();
    if (!AddPlace(instants.track[row], line, instants.time[row].ns, 0)) return;
    name_.Add(strings_->Of(instants.name[row]));
    category_.Add(strings_->Of(instants.category[row]));
    detail_.Add(strings_->Of(ScopeText(instants.scope[row])));
    AddMembers(instants.extra[row]);
  }
  void AddBlock(const FoldedSpans& block, uint32_t line) {
    if (numbers_[block.track] == UINT32_MAX) {
      left_out_ += block.count;
      return;
    }
    block_track_.Add(numbers_[block.track]);
    block_depth_.Add(line);
    block_start_.Add(block.start_ns);
    block_duration_.Add(block.duration_ns);
    block_count_.Add(static_cast<int64_t>(block.count));
    folded_ += block.count;
  }

  void Append(uint64_t without_track, std::string* out) const {
    JsonObject object(out);
    track_.AppendJson(&object.Key("track"));
    depth_.AppendJson(&object.Key("depth"));
    start_.AppendJson(&object.Key("start"));
    duration_.AppendJson(&object.Key("duration"));
    name_.AppendJson(&object.Key("name"));
    category_.AppendJson(&object.Key("category"));
    detail_.AppendJson(&object.Key("detail"));
    arguments_.AppendJson(&object.Key("arguments"));
    JsonObject folded(&object.Key("folded"));
    folded.Uint("count", folded_);
    block_track_.AppendJson(&folded.Key("track"));
    block_depth_.AppendJson(&folded.Key("depth"));
    block_start_.AppendJson(&folded.Key("start"));
    block_duration_.AppendJson(&folded.Key("duration"));
    block_count_.AppendJson(&folded.Key("counts"));
    folded.Close();
    object.Uint("left_out", left_out_ + without_track);
    object.Close();
  }

 private:
  bool AddPlace(TrackId track, uint32_t line, int64_t start, int64_t duration) {
    const uint32_t number = numbers_[Row(track)];
    if (number == UINT32_MAX) {
      ++left_out_;
      return false;
    }
    track_.Add(number);
    depth_.Add(line);
    start_.Add(start);
    duration_.Add(duration);
    return true;
  }
  // The arguments as the text of a JSON object; "" without any.
  void AddMembers(StringId extra) {
    const std::string_view members = extra == StringId::kNone ? std::string_view() : trace_.text(extra);
    if (members.empty() || !AreJsonMembers(members)) {
      arguments_.Add(0);
    } else {
      arguments_.Add(strings_->Of("{" + std::string(members) + "}"));
    }
  }

  const Trace& trace_;
  const std::vector<uint32_t>& numbers_;
  PageStrings* strings_;
  IntegerColumn track_{IntegerColumn::kDeltas}, depth_, start_{IntegerColumn::kDeltas}, duration_, name_, category_,
      detail_, arguments_;
  IntegerColumn block_track_{IntegerColumn::kDeltas}, block_depth_, block_start_{IntegerColumn::kDeltas},
      block_duration_, block_count_;
  uint64_t left_out_ = 0, folded_ = 0;
};

}  // namespace

void AppendPageMarks(const Trace& trace, const PageMarks& marks, const std::vector<uint32_t>& numbers,
                     PageStrings* strings, std::string* out) {
  JsonMemberWriter members(out);
  MarksWriter ranges(trace, numbers, strings);
  for (size_t i = 0; i < marks.ranges.kept.size(); ++i)
    ranges.AddRange(marks.ranges.kept[i], marks.ranges.line[i]);
  for (const FoldedSpans& block : marks.ranges.folded)
    ranges.AddBlock(block, block.row);
  ranges.Append(marks.ranges.without_track, &members.Key("ranges"));
  MarksWriter points(trace, numbers, strings);
  for (const uint32_t row : marks.points.kept)
    points.AddPoint(row, marks.ranges.lines[Row(trace.instants().track[row])]);
  for (const FoldedSpans& block : marks.points.folded)
    points.AddBlock(block, marks.ranges.lines[block.track]);
  points.Append(marks.points.without_track, &members.Key("instants"));
}

std::vector<std::string> DistinctTrackIds(const std::vector<ListedThread>& tracks) {
  std::set<std::string> taken;
  for (const ListedThread& track : tracks)
    taken.insert(track.pid + "/" + track.tid);
  std::unordered_map<std::string, uint64_t> last;  // suffix by id
  std::vector<std::string> ids;
  for (const ListedThread& track : tracks) {
    std::string id = track.pid + "/" + track.tid;
    uint64_t& suffix = last[id];
    if (++suffix > 1) {
      while (!taken.insert(id + "#" + std::to_string(suffix)).second)
        ++suffix;
      id += "#" + std::to_string(suffix);
    }
    ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace opscope
