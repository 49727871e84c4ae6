// Makes a Trace of a static graph's profile (graph_reader.h). Each operator becomes a span per device and per
// dispatching thread, named by its type; the correlation (id + 1) joins the two. Devices and threads have clocks with
// different origins, so each device is moved behind its dispatches. `extra` has "kern", the begin of the kernel after
// waiting, and the operator's cost and name; the graph becomes metadata unchanged.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json_object.h"
#include "import/megengine/graph_reader.h"
#include "import/megengine/importer.h"
#include "import/megengine/timeline.h"
#include "import/text/json_head.h"
#include "import/text/json_number.h"

namespace opscope {
namespace {

std::optional<int64_t> Nanoseconds(const JsonValue& seconds) {
  const auto value = ParseDouble(seconds);
  if (!value || std::fabs(*value) > 4e9) return std::nullopt;
  return std::llround(*value * 1e9);
}

class GraphProfile {
 public:
  GraphProfile(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : reader_(text, options, builder, GraphReader::Rest::kMetadata), builder_(builder) {}

  Status Import(std::string_view name) {
    OPSCOPE_TRY(reader_.Read(name));
    for (const GraphInterval& interval : reader_.intervals())
      AddSpan(interval);
    AlignMegEngineGraphDevices(builder_);
    if (builder_->HasProblem("missing_time")) builder_->FillMissingTimes();
    builder_->info().recorded = reader_.intervals().size();
    builder_->info().format = kMegEngineGraphFormat;
    return {};
  }

 private:
  TrackId TrackOf(const GraphInterval& entry) {
    const auto [found, added] =
        tracks_.try_emplace(std::string(entry.is_device ? "d" : "h").append(entry.place.text), TrackId::kNone);
    if (!added) return found->second;
    if (process_ == ProcessId::kNone) process_ = builder_->AddProcess({});
    const auto tid = static_cast<int64_t>(tracks_.size()) - 1;
    found->second = builder_->AddTrack({.process = process_,
                                        .kind = entry.is_device ? TrackKind::kDeviceStream : TrackKind::kThread,
                                        .tid = tid,
                                        .name = builder_->Intern(DecodedText(entry.place)),
                                        .device = entry.is_device ? 0 : -1});
    builder_->SetCrossing(found->second);
    return found->second;
  }

  void AddSpan(const GraphInterval& entry) {
    SpanRow row;
    const auto start = Nanoseconds(entry.start), end = Nanoseconds(entry.end);
    if (!start) builder_->AddProblem("missing_time", -1);
    if (!end) builder_->AddProblem("missing_duration", -1);
    row.start = {start.value_or(kNoTime.ns)};
    if (start && end) row.duration = Timestamp{*end} - row.start;
    row.track = TrackOf(entry);
    row.category = builder_->Intern(entry.is_device ? "kernel" : "cpu_op");
    if (const auto id = ParseUnsigned(entry.id.text); id && *id < UINT32_MAX)
      row.correlation = static_cast<uint32_t>(*id + 1);
    const GraphOperator* known = reader_.FindOperator(entry.id.text);
    const GraphFootprint* cost = reader_.FindFootprint(entry.id.text);
    row.name = builder_->Intern(known != nullptr && known->type.is_string() ? DecodedText(known->type)
                                                                            : "operator " + DecodedText(entry.id));
    if (cost != nullptr) row.args = ArgumentsOf(*cost, known);
    Keep("id", entry.id);
    Keep("kern", entry.kern);
    if (known != nullptr) Keep("name", known->name), Keep("input", known->input), Keep("output", known->output);
    if (cost != nullptr) {
      Keep("computation", cost->computation), Keep("memory", cost->memory), Keep("out_shapes", cost->out_shapes);
      Keep("param", cost->param);
      if (row.args == ArgsId::kNone) Keep("in_shapes", cost->in_shapes), Keep("in_layouts", cost->in_layouts);
    }
    row.extra = builder_->Intern(extra_);
    extra_.clear();
    builder_->AddSpan(row);
  }

  // The shapes of the inputs with the types of their variables; strides only for inputs that are not contiguous.
  ArgsId ArgumentsOf(const GraphFootprint& cost, const GraphOperator* opr) {
    const std::vector<JsonValue> shapes = SplitJsonList(cost.in_shapes), layouts = SplitJsonList(cost.in_layouts);
    const std::vector<JsonValue> variables = opr == nullptr ? std::vector<JsonValue>() : SplitJsonList(opr->input);
    std::vector<ArgumentRow> rows(shapes.size());
    std::vector<std::vector<int64_t>> sizes(shapes.size()), strides(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (!ReadWholeNumbers(shapes[i], &sizes[i])) return ArgsId::kNone;
      rows[i].kind = ArgumentKind::kTensor;
      rows[i].sizes = sizes[i];
      if (i < layouts.size() && ReadWholeNumbers(layouts[i], &strides[i]) && strides[i].size() == sizes[i].size()) {
        rows[i].has_strides = true;
        rows[i].strides = strides[i];
      }
      const JsonValue dtype = i < variables.size() ? reader_.DtypeOf(variables[i].text) : JsonValue();
      rows[i].dtype = builder_->Intern(dtype.present() ? DecodedText(dtype) : "Tensor");
    }
    return builder_->AddArguments(rows);
  }

  void Keep(std::string_view key, const JsonValue& value) {
    if (!value.present() || value.kind == JsonValue::Kind::kNull) return;
    AppendCleanJson(&JsonMemberWriter(&extra_, JsonMemberWriter::kSpaced).Key(key), value);
  }

  GraphReader reader_;
  TraceBuilder* builder_;
  std::unordered_map<std::string, TrackId> tracks_;
  ProcessId process_ = ProcessId::kNone;
  std::string extra_;
};

}  // namespace

bool LooksLikeMegEngineGraph(std::span<const std::byte> head) {
  const JsonHead json = ReadJsonHead(head);
  if (json.first != '{' || json.is_chrome_trace()) return false;
  const JsonHeadMember* graph = json.Find("graph_exec");
  const JsonHeadMember* profiler = json.Find("profiler");
  if (graph != nullptr && graph->first == '{') return true;
  if (profiler == nullptr || profiler->first != '{') return false;
  const std::string_view part = profiler->inner_key;
  return part == "device" || part == "host" || part == "opr_footprint" || part == "opr_internal_pf";
}

Status ImportMegEngineGraph(TextSource* text, std::string_view name, const ImportOptions& options,
                            TraceBuilder* builder) {
  return GraphProfile(text, options, builder).Import(name);
}

}  // namespace opscope
