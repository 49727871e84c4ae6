// Writes speedscope's own format: one "evented" profile per lane, a list of open and close events in order of time.
// Frames are stored once per name; a Python name ("train.py(12): step") becomes function, file and line. Crossing spans
// are on lanes of their own (span_lanes.h), because the events of a profile must nest.
// SPDX-License-Identifier: Apache-2.0
#include <tsl/robin_map.h>

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "base/text.h"
#include "export/plain_text.h"
#include "export/row_blocks.h"
#include "export/span_lanes.h"
#include "export/writers.h"

namespace opscope {
namespace {

constexpr uint64_t kMaxExactTime = (uint64_t{1} << 53) - 1;  // the largest integer that JavaScript represents exactly
constexpr size_t kEventRoom = 96;

// Numbers of frames by name and overload.
class FrameNumbers {
 public:
  explicit FrameNumbers(const Trace& trace, const SpanLanes& lanes) : trace_(trace) {
    for (const uint32_t row : lanes.rows())
      Add(row);
  }
  uint32_t Of(uint32_t row) const { return numbers_.find(Key(row)).value(); }
  const std::string& json() const { return json_; }  // the list, without brackets

 private:
  uint64_t Key(uint32_t row) const {
    return uint64_t{Row(trace_.spans().overload[row])} << 32 | Row(trace_.spans().name[row]);
  }
  void Add(uint32_t row) {
    if (!numbers_.try_emplace(Key(row), static_cast<uint32_t>(numbers_.size())).second) return;
    const FrameParts frame = PartsOfFrame(trace_.text(trace_.spans().name[row]));
    const std::string_view overload = trace_.text(trace_.spans().overload[row]);
    json_.append(json_.empty() ? "\n{\"name\":\"" : ",\n{\"name\":\"");
    AppendJsonEscaped(&json_, frame.function);
    if (!overload.empty()) AppendJsonEscaped(&(json_ += '.'), overload);
    json_ += '"';
    if (frame.line != 0) {
      json_.append(",\"file\":");
      AppendJsonString(&json_, frame.file);
      json_.append(",\"line\":");
      AppendInt(&json_, frame.line);
    }
    json_ += '}';
  }

  const Trace& trace_;
  tsl::robin_map<uint64_t, uint32_t, MixedHash> numbers_;
  std::string json_;
};

class SpeedscopeWriter {
 public:
  explicit SpeedscopeWriter(const Trace& trace)
      : trace_(trace), times_(ChooseTimeBase(trace, kMaxExactTime)), lanes_(trace, times_), frames_(trace, lanes_) {
    for (size_t i = 0; i < lanes_.lanes().size(); ++i)
      AppendRowBlocks(i, lanes_.lanes()[i].begin, lanes_.lanes()[i].end, kRowsPerBlock, &blocks_);
  }

  void Write(const std::string& trace_name, ExportOutput* out) const {
    out->Write(R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[)");
    out->Write(frames_.json());
    out->Write("]},\n\"profiles\":[");
    if (blocks_.empty()) {  // speedscope requires at least one profile
      out->Write(
          R"({"type":"evented","name":"nothing was recorded","unit":"nanoseconds","startValue":0,"endValue":0,"events":[]})");
    }
    out->WriteBlocks<ChromeBuffer>(blocks_.size(), [&](size_t i, ChromeBuffer* text) { WriteBlock(blocks_[i], text); });
    std::string tail = "],\n\"name\":";
    AppendJsonString(&tail, trace_name);
    tail.append(",\"activeProfileIndex\":");
    AppendUint(&tail, LargestLane());
    tail.append(",\"exporter\":\"opscope\"}\n");
    out->Write(tail);
    out->SetCrossing(lanes_.crossing_spans());
    out->CountOmitted("spans, too far away in time", lanes_.far_spans());
    out->CountOmitted("asynchronous spans with an id", trace_.async_spans().size());
    out->CountOmitted("instants", trace_.instants().size());
    out->CountOmitted("counter samples", trace_.counters().size());
    out->CountOmitted("flows", trace_.flows().size());
  }

 private:
  size_t LargestLane() const {
    size_t largest = 0;
    const auto size = [&](size_t i) { return lanes_.lanes()[i].end - lanes_.lanes()[i].begin; };
    for (size_t i = 1; i < lanes_.lanes().size(); ++i)
      largest = size(i) > size(largest) ? i : largest;
    return largest;
  }

  uint64_t EndTime(uint32_t row) const { return times_.At(EndOf(trace_.spans(), row)); }

  void OpenProfile(size_t lane_number, ChromeBuffer* out) const {
    const Lane& lane = lanes_.lanes()[lane_number];
    uint64_t end = 0;
    for (size_t i = lane.begin; i < lane.end; ++i)
      end = std::max(end, EndTime(lanes_.rows()[i]));
    std::string name = TrackTitle(trace_, lane.track, trace_.processes().size() > 1);
    if (lane.kind == LaneKind::kCrossing) name.append(" (crossing)");
    if (lane.kind == LaneKind::kAsync) name.append(" (asynchronous)");
    std::string head = lane_number == 0 ? "\n{" : ",\n{";
    head.append(R"("type":"evented","name":)");
    AppendJsonString(&head, name);
    head.append(R"(,"unit":"nanoseconds","startValue":)");
    AppendUint(&head, times_.At(trace_.spans().start[lanes_.rows()[lane.begin]]));
    head.append(",\"endValue\":");
    AppendUint(&head, end);
    head.append(",\"events\":[");
    out->Append(head);
  }

  // The list of a block is the number of its lane.
  void WriteBlock(const RowBlock& block, ChromeBuffer* out) const {
    const Lane& lane = lanes_.lanes()[block.list];
    bool follows = block.begin != lane.begin;
    if (!follows) OpenProfile(block.list, out);
    const auto write = [&](std::string_view type, uint32_t row, uint64_t at) {
      ChromeCursor cursor = out->Begin(kEventRoom);
      cursor.Put(follows ? ",\n{\"type\":\"" : "\n{\"type\":\"");
      cursor.Put(type);
      cursor.Put("\",\"frame\":");
      cursor.PutUint(frames_.Of(row));
      cursor.Put(",\"at\":");
      cursor.PutUint(at);
      cursor.Put("}");
      out->End(cursor);
      follows = true;
    };
    lanes_.ForEachEdge(
        lane, block.begin, block.end, [&](uint32_t row) { write("O", row, times_.At(trace_.spans().start[row])); },
        [&](uint32_t row) { write("C", row, EndTime(row)); });
    if (block.end == lane.end) out->Append("]}");
  }

  const Trace& trace_;
  const ExportTimes times_;
  const SpanLanes lanes_;
  const FrameNumbers frames_;
  std::vector<RowBlock> blocks_;
};

}  // namespace

void WriteSpeedscope(const Trace& trace, const ExportOptions& options, ExportOutput* out) {
  SpeedscopeWriter(trace).Write(options.trace_name, out);
}

}  // namespace opscope
