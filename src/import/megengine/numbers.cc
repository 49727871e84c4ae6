// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/numbers.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "import/text/json_number.h"
#include "import/text/json_scan.h"

namespace opscope {
namespace {

constexpr std::array<std::string_view, 8> kOfTensors = {"Input", "Output", "Put",     "Del",
                                                        "Drop",  "ReGen",  "RecFree", "GetValue"};

// What the members of one span say.
struct SpanMembers {
  uint64_t op = 0;
  std::optional<uint64_t> tensor;
  uint64_t elements = 0;
  std::string_view name, device;  // as JSON spells them, between the quotes
  std::string others;             // that are no columns

  void Keep(const JsonMember& member) {
    if (!others.empty()) others += ", ";
    AppendCleanJson(&others, member.key);
    others += ": ";
    AppendCleanJson(&others, member.value);
  }
};

class Numbering {
 public:
  explicit Numbering(TraceBuilder* builder) : builder_(builder) {}

  void Run() {
    FindStreams();
    FindLinks();
    const size_t rows = builder_->added_spans().size();
    for (uint32_t row = 0; row < rows; ++row)
      Visit(row);
    NoteOperators();
    for (auto& [key, life] : lives_)
      AddLife(&life);
    std::string devices;
    for (const auto& [place, text] : devices_)
      devices.append(devices.empty() ? "{\"" : ", \"").append(place).append("\": ").append(text);
    if (!devices.empty()) builder_->AddMetadata(kMegEngineDevices, devices + "}");
  }

 private:
  using Key = std::pair<ProcessId, uint64_t>;
  struct Life {
    TensorLifeRow row;
    Timestamp released = kNoTime;
    bool is_produced = false;
    uint64_t elements = 0;
  };

  void FindStreams() {
    for (size_t i = 0; i < builder_->track_count(); ++i) {
      const auto id = static_cast<TrackId>(i);
      const TrackRow& track = builder_->track(id);
      if (track.name == StringId::kNone) continue;
      streams_.try_emplace({track.process, std::string(builder_->text(track.name))}, id);
    }
  }

  // Of the arrows of a tensor the first begins where it is produced; the last but one ends where its memory is
  // released, the last one where it is forgotten.
  void FindLinks() {
    const FlowColumns flows = builder_->added_flows();
    for (size_t i = 0; i < flows.size(); ++i) {
      if (builder_->text(flows.category[i]) != "TensorLink") continue;
      Life& life = LifeOf(builder_->track(flows.start_track[i]).process, flows.id[i]);
      if (!life.is_produced) life.row.produced = life.released = flows.start_time[i];
      const bool is_last =
          i + 1 == flows.size() || flows.id[i + 1] != flows.id[i] || flows.category[i + 1] != flows.category[i];
      if (!is_last || !life.is_produced) life.released = flows.end_time[i];
      life.is_produced = true;
    }
  }

  Life& LifeOf(ProcessId process, uint64_t tensor) {
    Life& life = lives_[{process, tensor}];
    life.row.tensor = tensor;
    return life;
  }

  SpanMembers Read(std::string_view extra) {
    SpanMembers members;
    text_.assign("{").append(extra).append("}");
    JsonScanner scanner(text_);
    if (!scanner.ReadMembers(&read_)) return members;
    const bool is_operator = extra.find("\"__id__\"") != std::string_view::npos;
    for (const JsonMember& member : read_) {
      const std::string_view key = member.key.text;
      const JsonValue& value = member.value;
      const auto number = [&] { return value.is_number() ? ParseUnsigned(value.text).value_or(0) : 0; };
      if (key == "__id__") {
        members.op = number();
      } else if (is_operator) {
        if (key != "__device__") members.Keep(member);
      } else if (key == "id") {
        members.tensor = number();
      } else if (key == "name" && value.is_string()) {
        members.name = value.text;
      } else if (key == "device" && value.is_string()) {
        members.device = value.text;
      } else if (key == "nr_elements") {
        members.elements = number();
      } else if (key != "shape" && key != "dtype" && key != "living_time" && key != "__device__") {
        members.Keep(member);
      }
    }
    return members;
  }

  void Visit(uint32_t row) {
    const SpanColumns spans = builder_->added_spans();
    const auto span = static_cast<AddedSpan>(row);
    const std::string_view name = builder_->text(spans.name[row]);
    const std::string_view extra =
        spans.extra[row] == StringId::kNone ? std::string_view() : builder_->text(spans.extra[row]);
    const size_t blank = name.find(' ');
    const std::string_view word = name.substr(0, blank);
    std::optional<uint64_t> number;
    if (blank != std::string_view::npos && std::find(kOfTensors.begin(), kOfTensors.end(), word) != kOfTensors.end())
      number = ParseUnsigned(name.substr(blank + 1));
    const bool is_named = number && *number <= UINT32_MAX;
    const bool is_property = name == "TensorGetProp" || name == "TensorWaitProp";
    if (!is_named && !is_property && extra.find("\"__id__\"") == std::string_view::npos) return;
    const SpanMembers members = Read(extra);
    if (members.op > UINT32_MAX || members.tensor.value_or(0) > UINT32_MAX) return;
    const ProcessId process = builder_->track(spans.track[row]).process;
    if (members.op != 0) {
      const bool is_dispatch = name == "OpDispatch";
      builder_->SetNumbers(span, static_cast<uint32_t>(members.op),
                           is_dispatch ? 0 : static_cast<uint32_t>(members.op));
    } else {
      if (!is_named && !members.tensor) return;
      const uint64_t tensor = is_named ? *number : *members.tensor;
      builder_->SetNumbers(span, static_cast<uint32_t>(tensor), 0);
      Life& life = LifeOf(process, tensor);
      if (word == "Input") ++life.row.uses;
      if (members.tensor) Note(members, process, spans.args[row], &life);
      if (word == "Output") outputs_.push_back({row, &life});
    }
    if (is_named) builder_->SetName(span, builder_->Intern(std::string(word)));
    builder_->SetExtra(span, members.others.empty() ? StringId::kNone : builder_->Intern(members.others));
  }

  // Every event of a tensor says the same.
  void Note(const SpanMembers& members, ProcessId process, ArgsId args, Life* life) {
    if (life->row.name != StringId::kNone) return;
    std::string name;
    AppendDecoded(&name, members.name);
    life->row.name = builder_->Intern(name);
    life->row.args = args;
    life->elements = members.elements;
    // CompNode("cpu0:0" from "xpux:0"): the second is what its stream is called.
    std::string device;
    AppendDecoded(&device, members.device);
    const size_t end = device.rfind('"'), begin = end == std::string::npos ? end : device.rfind('"', end - 1);
    if (begin == std::string::npos || end == 0) return;
    const auto stream = streams_.find({process, device.substr(begin + 1, end - begin - 1)});
    if (stream == streams_.end()) return;
    life->row.track = stream->second;
    TrackRow& track = builder_->track(stream->second);
    track.kind = TrackKind::kDeviceStream;
    const std::string place = std::to_string(builder_->process(process).pid) + ":" + std::to_string(track.tid);
    devices_.try_emplace(place, "\"" + std::string(members.device) + "\"");
  }

  // An output is made by the operator around it: the last one of its track that began before.
  void NoteOperators() {
    const SpanColumns spans = builder_->added_spans();
    uint32_t op = 0;
    TrackId track = TrackId::kNone;
    size_t next = 0;
    for (uint32_t row = 0; row < spans.size() && next < outputs_.size(); ++row) {
      if (row == outputs_[next].first) {
        if (spans.track[row] == track) outputs_[next].second->row.op = op;
        ++next;
      } else if (spans.correlation[row] != 0 && spans.category[row] == StringId::kEmpty) {
        op = spans.external_id[row], track = spans.track[row];
      }
    }
  }

  uint64_t BytesOf(const Life& life) const {
    if (life.row.args == ArgsId::kNone) return 0;
    const std::string_view dtype = builder_->text(builder_->arguments(life.row.args)[0].dtype);
    const size_t digits = dtype.find_first_of("0123456789");
    const auto bits = digits == std::string_view::npos ? std::nullopt : ParseUnsigned(dtype.substr(digits));
    return bits ? life.elements * (*bits / 8) : dtype == "Byte" || dtype == "Bool" ? life.elements : 0;
  }

  void AddLife(Life* life) {
    if (life->is_produced && life->released != kNoTime) life->row.duration = life->released - life->row.produced;
    life->row.bytes = BytesOf(*life);
    builder_->AddTensorLife(life->row);
  }

  TraceBuilder* builder_;
  std::string text_;  // of the members that were read
  std::vector<JsonMember> read_;
  std::map<std::pair<ProcessId, std::string>, TrackId> streams_;
  std::map<Key, Life> lives_;
  std::vector<std::pair<uint32_t, Life*>> outputs_;
  std::map<std::string, std::string> devices_;
};

}  // namespace

void GiveMegEngineNumbers(TraceBuilder* builder) {
  Numbering(builder).Run();
}

}  // namespace opscope
