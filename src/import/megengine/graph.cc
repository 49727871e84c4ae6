// What MegEngine's trace(profiling=True).get_profile() gives of a static graph:
//
//   {"profiler": {"device": {"6": {"CompNode(\"gpu0:0\" from \"xpux:0\")": {"start": 0.1, "kern": 0.2, "end": 0.3}}},
//                 "host": {...}, "opr_footprint": {"6": {"computation", "memory", "in_shapes", ...}}},
//    "graph_exec": {"operator": {"6": {"name", "type", "input", "output", ...}}, "var": {...}, "comp_seq": [...], ...}}
//
// in any order, times in seconds. Each operator becomes a span per device and per dispatching thread, named after its
// type; the correlation (id + 1) joins the two. The clocks of devices and of threads have origins of their own. "kern",
// the begin of the kernel after waiting, and what the operator costs and is called stay in `extra`; the graph is kept
// whole as metadata, so that nothing that profile_analyze prints is lost.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/megengine/importer.h"
#include "import/text/json_head.h"
#include "import/text/json_import.h"
#include "import/text/json_number.h"

namespace opscope {
namespace {

struct Operator {
  JsonValue name, type, input, output;
};
struct Footprint {
  JsonValue computation, memory, in_shapes, out_shapes, in_layouts, param;
};
struct Entry {  // one operator on one device or thread
  JsonValue id, place, start, kern, end;
  bool is_device = false;
};

std::optional<int64_t> Nanoseconds(const JsonValue& seconds) {
  const auto value = ParseDouble(seconds);
  if (!value || std::fabs(*value) > 4e9) return std::nullopt;
  return std::llround(*value * 1e9);
}

class GraphProfile {
 public:
  GraphProfile(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : json_(text, options, builder), scanner_(json_.scanner()), builder_(builder) {
    scanner_.KeepSlices();  // any part may tell of what stands in any other
  }

  Status Import(std::string_view name) {
    const bool whole = WalkObject(&scanner_, [&](const JsonValue& key) {
      if (key.text == "profiler") return ForEachMember([&](const JsonValue& part) { return ReadPart(part); });
      if (key.text == "graph_exec") return ReadGraph(key);
      return json_.KeepAsMetadata(key);
    });
    OPSCOPE_TRY(json_.End(whole, name));
    for (const Entry& entry : entries_)
      AddSpan(entry);
    if (builder_->HasProblem("missing_time")) builder_->PlaceRowsWithoutTime();
    builder_->info().recorded = entries_.size();
    builder_->info().format = "megengine-graph-profile";
    return {};
  }

 private:
  // What is no object is counted and passed over.
  template <typename Visit>
  bool ForEachMember(Visit visit) {
    if (scanner_.Peek() == '{') return WalkObject(&scanner_, visit);
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    json_.BadValue(value);
    return true;
  }

  bool ReadPart(const JsonValue& part) {
    if (part.text == "device" || part.text == "host") {
      const bool is_device = part.text == "device";
      return ForEachMember([&, is_device](const JsonValue& id) { return ReadPlaces(id, is_device); });
    }
    if (part.text == "opr_footprint") {
      return ForEachMember([&](const JsonValue& id) {
        Footprint& print = footprints_[id.text];
        return ReadInto({{"computation", &print.computation},
                         {"memory", &print.memory},
                         {"in_shapes", &print.in_shapes},
                         {"out_shapes", &print.out_shapes},
                         {"in_layouts", &print.in_layouts},
                         {"param", &print.param}}) &&
               json_.CountItem(waiting_bytes());
      });
    }
    return json_.KeepAsMetadata(part);
  }

  bool ReadPlaces(const JsonValue& id, bool is_device) {
    return ForEachMember([&](const JsonValue& place) {
      Entry entry{.id = id, .place = place, .start = {}, .kern = {}, .end = {}, .is_device = is_device};
      if (!ReadInto({{"start", &entry.start}, {"kern", &entry.kern}, {"end", &entry.end}})) return false;
      entries_.push_back(entry);
      return json_.CountRow(waiting_bytes());
    });
  }

  struct Wanted {
    std::string_view key;
    JsonValue* value;
  };
  // Members of the object at the cursor.
  bool ReadInto(std::initializer_list<Wanted> wanted) {
    return ForEachMember([&](const JsonValue& key) {
      JsonValue value;
      if (!scanner_.ReadValue(&value)) return false;
      for (const Wanted& one : wanted) {
        if (one.key == key.text) *one.value = value;
      }
      return true;
    });
  }

  bool ReadGraph(const JsonValue& key) {
    JsonValue whole;
    if (scanner_.Look(&whole)) {
      std::string json;
      AppendCleanJson(&json, whole);
      builder_->AddMetadata(key.text, json);
    }
    return ForEachMember([&](const JsonValue& part) {
      if (part.text == "operator") {
        return ForEachMember([&](const JsonValue& id) {
          Operator& opr = operators_[id.text];
          return ReadInto({{"name", &opr.name}, {"type", &opr.type}, {"input", &opr.input}, {"output", &opr.output}}) &&
                 json_.CountItem(waiting_bytes());
        });
      }
      if (part.text == "var") {
        return ForEachMember([&](const JsonValue& id) { return ReadVariable(id) && json_.CountItem(waiting_bytes()); });
      }
      return json_.Skip();
    });
  }

  // The type of its elements: {"mem_plan": {"layout": {"dtype": "Float32", ...}, ...}, ...}.
  bool ReadVariable(const JsonValue& id) {
    JsonValue plan;
    if (!ReadInto({{"mem_plan", &plan}})) return false;
    JsonScanner scanner(plan.text);
    std::vector<JsonMember> members;
    for (const std::string_view key : {"layout", "dtype"}) {
      if (scanner.Peek() != '{' || !scanner.ReadMembers(&members)) return true;
      for (const JsonMember& member : members) {
        if (member.key.text != key) continue;
        if (key == "dtype") dtypes_[id.text] = member.value;
        scanner = JsonScanner(member.value.text);
      }
    }
    return true;
  }

  // Entries with the rows that they will be, and what they refer to; a node of a map has about so much beside its
  // value.
  uint64_t waiting_bytes() const {
    constexpr uint64_t kNode = 48;
    return entries_.capacity() * sizeof(Entry) + entries_.size() * sizeof(SpanRow) +
           operators_.size() * (sizeof(Operator) + kNode) + footprints_.size() * (sizeof(Footprint) + kNode) +
           dtypes_.size() * (sizeof(JsonValue) + kNode);
  }

  TrackId TrackOf(const Entry& entry) {
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

  void AddSpan(const Entry& entry) {
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
    const auto opr = operators_.find(entry.id.text);
    const auto print = footprints_.find(entry.id.text);
    const Operator* known = opr == operators_.end() ? nullptr : &opr->second;
    row.name = builder_->Intern(known != nullptr && known->type.is_string() ? DecodedText(known->type)
                                                                            : "operator " + DecodedText(entry.id));
    if (print != footprints_.end()) row.args = ArgumentsOf(print->second, known);
    Keep("id", entry.id);
    Keep("kern", entry.kern);
    if (known != nullptr) Keep("name", known->name), Keep("input", known->input), Keep("output", known->output);
    if (print != footprints_.end()) {
      const Footprint& cost = print->second;
      Keep("computation", cost.computation), Keep("memory", cost.memory), Keep("out_shapes", cost.out_shapes);
      Keep("param", cost.param);
      if (row.args == ArgsId::kNone) Keep("in_shapes", cost.in_shapes), Keep("in_layouts", cost.in_layouts);
    }
    row.extra = builder_->Intern(extra_);
    extra_.clear();
    builder_->AddSpan(row);
  }

  static bool ReadSizes(const JsonValue& list, std::vector<int64_t>* sizes) {
    JsonScanner scanner(list.text);
    return list.kind == JsonValue::Kind::kArray && WalkArray(&scanner, [&] {
             JsonValue value;
             if (!scanner.ReadValue(&value)) return false;
             const auto size = value.is_number() ? ParseInteger(value.text) : std::nullopt;
             sizes->push_back(size.value_or(0));
             return size.has_value();
           });
  }

  static std::vector<JsonValue> Split(const JsonValue& list) {
    std::vector<JsonValue> items;
    JsonScanner scanner(list.text);
    if (list.kind == JsonValue::Kind::kArray)
      WalkArray(&scanner, [&] { return scanner.ReadValue(&items.emplace_back()); });
    return items;
  }

  // Shapes of the inputs with the types of their variables; strides only where an input is not contiguous.
  ArgsId ArgumentsOf(const Footprint& cost, const Operator* opr) {
    const std::vector<JsonValue> shapes = Split(cost.in_shapes), layouts = Split(cost.in_layouts);
    const std::vector<JsonValue> variables = opr == nullptr ? std::vector<JsonValue>() : Split(opr->input);
    std::vector<ArgumentRow> rows(shapes.size());
    std::vector<std::vector<int64_t>> sizes(shapes.size()), strides(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (!ReadSizes(shapes[i], &sizes[i])) return ArgsId::kNone;
      rows[i].kind = ArgumentKind::kTensor;
      rows[i].sizes = sizes[i];
      if (i < layouts.size() && ReadSizes(layouts[i], &strides[i]) && strides[i].size() == sizes[i].size()) {
        rows[i].has_strides = true;
        rows[i].strides = strides[i];
      }
      const auto dtype = i < variables.size() ? dtypes_.find(variables[i].text) : dtypes_.end();
      rows[i].dtype = builder_->Intern(dtype == dtypes_.end() ? "Tensor" : DecodedText(dtype->second));
    }
    return builder_->AddArguments(rows);
  }

  void Keep(std::string_view key, const JsonValue& value) {
    if (!value.present() || value.kind == JsonValue::Kind::kNull) return;
    extra_.append(extra_.empty() ? "\"" : ", \"").append(key).append("\": ");
    AppendCleanJson(&extra_, value);
  }

  JsonImport json_;
  DocumentScanner& scanner_;
  TraceBuilder* builder_;
  std::vector<Entry> entries_;
  // By id; slices of the input.
  std::unordered_map<std::string_view, Operator> operators_;
  std::unordered_map<std::string_view, Footprint> footprints_;
  std::unordered_map<std::string_view, JsonValue> dtypes_;
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
