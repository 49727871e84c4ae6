// In the timeline, numbers in names ("Input 155") and members ("__id__") show which events belong together; they become
// columns, so that exporters and analyses need not parse text. A pass over the arrows finds when each tensor is
// produced and released. A pass over the spans moves numbers to columns, removes members that the columns determine,
// and gathers the facts about each tensor. An export must give the same text again, so a number is moved only if an
// exporter writes it back.
// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_decode.h"
#include "base/json_object.h"
#include "import/megengine/evidence.h"
#include "import/text/json_number.h"
#include "import/text/json_scan.h"
#include "opscope/megengine/element_types.h"

namespace opscope {
namespace {

// The members of one span.
struct SpanMembers {
  std::optional<uint64_t> op, tensor;
  uint64_t elements = 0;
  std::string_view name, device;  // as spelt in JSON, without the quotes
};

class Numbering {
 public:
  explicit Numbering(TraceBuilder* builder) : builder_(builder), is_kinetos_(!builder->info().format_version.empty()) {}

  void Run() {
    FindStreams();
    FindLinks();
    const size_t rows = builder_->added_spans().size();
    for (uint32_t row = 0; row < rows; ++row)
      Visit(row);
    AssignOperators();
    for (auto& [key, life] : lives_) {
      if (life.is_produced || life.is_described) AddLife(&life);
    }
    std::string devices;
    for (const auto& [place, text] : devices_)
      JsonMemberWriter(&devices, JsonMemberWriter::kSpaced).Json(place, text);
    if (!devices.empty()) builder_->AddMetadata(kMegEngineDevices, "{" + devices + "}");
  }

 private:
  using Key = std::pair<ProcessId, uint64_t>;
  struct Life {
    TensorLifeRow row;
    Timestamp released = kNoTime;
    bool is_produced = false;   // has an arrow
    bool is_described = false;  // an event has its shape and type
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

  // The first arrow of a tensor begins where it is produced; the last but one ends where its memory is released, the
  // last one where the tensor is forgotten.
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

  // Removes members that have become columns from `others`, if an export writes them back.
  SpanMembers Read(std::string_view extra) {
    SpanMembers members;
    read_.clear();
    text_.assign("{").append(extra).append("}");
    JsonScanner scanner(text_);
    if (!scanner.ReadMembers(&read_)) return members;
    for (const JsonMember& member : read_) {
      const std::string_view key = member.key.text;
      const JsonValue& value = member.value;
      const auto number = value.is_number() ? ParseUnsigned(value.text) : std::nullopt;
      if (key == "__id__") members.op = number;
      if (key == "id") members.tensor = number;
      if (key == "nr_elements") members.elements = number.value_or(0);
      if (key == "name" && value.is_string()) members.name = value.text;
      if (key == "device" && value.is_string()) members.device = value.text;
    }
    return members;
  }

  // REQUIRES: Read was called for these members. `is_left_out` decides for each.
  template <typename IsLeftOut>
  StringId Without(std::string_view first, const IsLeftOut& is_left_out) {
    std::string others(first);
    for (const JsonMember& member : read_) {
      if (!IsWrongInTheOriginal(member) && !is_left_out(member)) AppendCleanMember(&others, member);
    }
    return others.empty() ? StringId::kNone : builder_->Intern(others);
  }

  // In every operator, and in every tensor that is gone: wrong values, by mistakes of the original.
  static bool IsWrongInTheOriginal(const JsonMember& member) {
    if (!member.value.is_string()) return false;
    if (member.key.text == "__device__") return member.value.text == "invalid";
    return member.key.text == "living_time" && member.value.text.starts_with('-');
  }

  bool HasMember(std::string_view key) const {
    return std::any_of(read_.begin(), read_.end(), [&](const JsonMember& member) { return member.key.text == key; });
  }

  // "dtype": "Float32", "shape": "{2,3}" and the list that was made of both.
  bool IsInList(const JsonMember& member, ArgsId list) const {
    if (list == ArgsId::kNone || !member.value.is_string()) return false;
    const std::span<const Argument> arguments = builder_->arguments(list);
    if (arguments.size() != 1 || arguments[0].kind != ArgumentKind::kTensor) return false;
    if (member.key.text == "dtype") return member.value.text == builder_->text(arguments[0].dtype);
    if (member.key.text != "shape") return false;
    std::string shape = "{";
    for (const int64_t size : arguments[0].sizes)
      shape.append(shape.size() == 1 ? "" : ",").append(std::to_string(size));
    return member.value.text == shape + "}";
  }

  void Visit(uint32_t row) {
    const SpanColumns spans = builder_->added_spans();
    const std::string_view name = builder_->text(spans.name[row]);
    const std::string_view extra =
        spans.extra[row] == StringId::kNone ? std::string_view() : builder_->text(spans.extra[row]);
    if (extra.find("\"__id__\"") != std::string_view::npos) {
      if (IsOfOperator(row, name)) VisitOperator(row, extra, name == "OpDispatch");
      return;
    }
    if (spans.category[row] != StringId::kEmpty || builder_->track(spans.track[row]).kind != TrackKind::kThread) return;
    const auto named = ReadMegEngineTensorName(name);
    if (named || IsMegEngineTensorWord(name) || IsMegEngineProperty(name)) VisitTensor(row, extra, named);
  }

  // An export writes the number back to these ranges only.
  bool IsOfOperator(uint32_t row, std::string_view name) const {
    const SpanColumns spans = builder_->added_spans();
    const TrackKind track = builder_->track(spans.track[row]).kind;
    const std::string_view category = builder_->text(spans.category[row]);
    if (track == TrackKind::kDeviceStream) return category == "kernel";
    return track == TrackKind::kThread && category.empty() &&
           (name == "OpDispatch" || spans.kind[row] == SpanKind::kOperator);
  }

  void VisitOperator(uint32_t row, std::string_view extra, bool is_dispatch) {
    const SpanMembers members = Read(extra);
    const uint64_t number = members.op.value_or(0);
    if (number == 0 || number > UINT32_MAX) return;
    const auto op = static_cast<uint32_t>(number);
    builder_->SetNumbers(AddedSpan{row}, op, is_dispatch ? 0 : op);
    builder_->SetExtra(AddedSpan{row},
                       Without({}, [](const JsonMember& member) { return member.key.text == "__id__"; }));
  }

  // The tensor of a range. In Kineto's form the names are those of spans, and a number other than 0 is a column.
  std::optional<uint64_t> NumberOf(uint32_t row, std::string_view word, const std::optional<MegEngineTensorName>& named,
                                   const SpanMembers& members) const {
    if (named) return named->tensor;
    const uint32_t column = builder_->added_spans().external_id[row];
    if (column != 0) return column;
    const bool may_be = IsMegEngineProperty(word) || (is_kinetos_ && members.tensor == 0u);
    return may_be && members.tensor && *members.tensor <= UINT32_MAX ? members.tensor : std::nullopt;
  }

  void VisitTensor(uint32_t row, std::string_view extra, const std::optional<MegEngineTensorName>& named) {
    const SpanColumns spans = builder_->added_spans();
    const ProcessId process = builder_->track(spans.track[row]).process;
    const std::string word(named ? named->word : builder_->text(spans.name[row]));
    const SpanMembers members = Read(extra);
    const auto number = NumberOf(row, word, named, members);
    if (!number || (number == 0u && HasMember("id") && members.tensor != number)) return;
    const auto tensor = static_cast<uint32_t>(*number);
    Life& life = LifeOf(process, tensor);
    if (word == "Input") ++life.row.uses;
    if (members.tensor == tensor) Note(members, process, spans.args[row], &life);
    if (word == "Output") outputs_.push_back({row, &life});
    // 0 in the column means no tensor.
    const std::string_view first = tensor == 0 && !members.tensor ? "\"id\": 0" : "";
    const ArgsId list = spans.args[row];
    const StringId others = Without(first, [&](const JsonMember& member) { return IsInList(member, list); });
    builder_->SetNumbers(AddedSpan{row}, tensor, 0);
    builder_->SetExtra(AddedSpan{row}, others);
    if (named) builder_->SetName(AddedSpan{row}, builder_->Intern(word));
  }

  // Events of a tensor usually have the same facts; those of the first become its row.
  void Note(const SpanMembers& members, ProcessId process, ArgsId args, Life* life) {
    if (std::exchange(life->is_described, true)) return;
    std::string name;
    AppendDecoded(&name, members.name);
    life->row.name = builder_->Intern(name);
    life->row.args = args;
    life->elements = members.elements;
    // CompNode("cpu0:0" from "xpux:0"): the stream is named by the second.
    std::string device;
    AppendDecoded(&device, members.device);
    const size_t end = device.rfind('"'), begin = end == std::string::npos ? end : device.rfind('"', end - 1);
    if (begin == std::string::npos || end == 0) return;
    const auto stream = streams_.find({process, device.substr(begin + 1, end - begin - 1)});
    if (stream == streams_.end()) return;
    life->row.track = stream->second;
    TrackRow& track = builder_->track(stream->second);
    if (track.kind == TrackKind::kOther) track.kind = TrackKind::kDeviceStream;
    const std::string place = std::to_string(builder_->process(process).pid) + ":" + std::to_string(track.tid);
    devices_.try_emplace(place, "\"" + std::string(members.device) + "\"");
  }

  // An output is made by the operator around it: the last one on its track that began before.
  void AssignOperators() {
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
    return (life.elements * MegEngineElementBits(dtype) + 7) / 8;
  }

  void AddLife(Life* life) {
    if (life->is_produced && life->released != kNoTime) life->row.duration = life->released - life->row.produced;
    life->row.bytes = BytesOf(*life);
    builder_->AddTensorLife(life->row);
  }

  TraceBuilder* builder_;
  const bool is_kinetos_;  // an export by opscope
  std::string text_;       // of the members that were read last
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
