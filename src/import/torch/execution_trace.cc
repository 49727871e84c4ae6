// PyTorch execution traces (ExecutionTraceObserver; Chakra schemas 1.0.x and 1.1.x): {"schema": "1.1.1-chakra.0.0.4",
// "pid": ..., "nodes": [{"id", "name", "ctrl_deps", "inputs", "outputs", "attrs"}, ...], ...}.
//
// A node has no time. It has its parent and an id, which was given when the call began; nodes are written when they
// end. So the order of ids is the order in which the calls of a thread began, and with the parents it determines the
// tree. Begins and ends of spans are ticks of one nanosecond in that order: nesting, counts and flame graphs are right,
// lengths only count the calls inside, which the problem `no_times` reports.
//
// Processes and threads are nodes too; they become processes and tracks.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json_decode.h"
#include "base/json_object.h"
#include "base/text.h"
#include "import/text/json_head.h"
#include "import/text/json_import.h"
#include "import/torch/execution_trace_arguments.h"
#include "import/torch/importer.h"

namespace opscope {
namespace {

constexpr std::string_view kRootNames = "[pytorch|profiler|execution_trace|";
constexpr int64_t kUserScope = 7;  // at::RecordScope

struct Node {
  uint64_t id = 0, parent = 0;
  int64_t tid = 0, scope = 0;
  bool is_root = false;
  SpanRow span;
  std::vector<TensorRow> tensors;
};

// The lists of inputs or outputs, in both schemas.
struct Lists {
  JsonValue values, shapes, types, strides;
};

// A node must have an id and a name.
class NodeTest : public RowTest {
 public:
  Row Read(JsonScanner* scanner) override {
    const bool is_read = scanner->ReadMembers(&members_);
    bool has_id = false, has_name = false;
    for (const JsonMember& member : members_) {
      has_id |= member.key.text == "id" && member.value.present();
      has_name |= member.key.text == "name" && member.value.present();
    }
    return {is_read, static_cast<uint8_t>(has_id && has_name ? 1 : 0)};
  }

 private:
  std::vector<JsonMember> members_;
};

class ExecutionTraceDocument {
 public:
  ExecutionTraceDocument(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : json_(text, options, builder), scanner_(json_.scanner()), builder_(builder) {}

  Status Import(std::string_view name) {
    bool has_nodes = false;
    const auto read_node = [&] { return ReadNode(); };
    const auto read_member = [&](const JsonValue& key) {
      if (key.text != "nodes" || scanner_.Peek() != '[') return ReadMember(key);
      has_nodes = true;
      return WalkRows(&scanner_, '{', read_node);
    };
    bool whole = WalkObject(&scanner_, read_member);
    NodeTest test;
    ResyncPoint found;
    while (!whole && json_.PassFault(&test, &found))
      whole = ContinueRows(&scanner_, '{', read_node) && ContinueBehindMember(&scanner_, read_member);
    if (whole && !has_nodes) scanner_.Fail("an execution trace without \"nodes\"");
    OPSCOPE_TRY(json_.End(whole && has_nodes, name));
    Finish();
    return {};
  }

 private:
  bool ReadMember(const JsonValue& key) {
    JsonValue value;
    if (key.text == "schema") {
      if (!scanner_.ReadValue(&value)) return false;
      builder_->info().format_version = DecodedText(value);
      return true;
    }
    if (key.text == "pid" && scanner_.Look(&value)) pid_ = json_.Integer(value, 0);
    return json_.KeepAsMetadata(key);
  }

  bool ReadNode() {
    if (scanner_.Peek() != '{') return json_.SkipStray();
    if (!scanner_.ReadMembers(&members_)) return false;
    Node& node = nodes_.emplace_back();
    Lists inputs, outputs;
    for (const JsonMember& member : members_) {
      const JsonValue& value = member.value;
      const std::string_view key = member.key.text;
      if (key == "name") {
        node.span.name = builder_->Intern(DecodedText(value));
      } else if (key == "attrs" && value.kind == JsonValue::Kind::kArray) {
        ReadAttributes(value, &node);
      } else if (!ReadList(key, value, &inputs, &outputs)) {
        ReadField(member.key, value, &node);
      }
    }
    ReadInputs(inputs, &node);
    Keep("Output Dims", outputs.shapes), Keep("Output Strides", outputs.strides), Keep("Output type", outputs.types);
    Keep("Outputs", outputs.values);
    node.is_root = builder_->text(node.span.name).starts_with(kRootNames);
    node.span.category = builder_->Intern(node.scope == kUserScope ? "user_annotation" : "cpu_op");
    if (!extra_.empty()) node.span.extra = builder_->Intern(extra_);
    extra_.clear();
    tensors_ += node.tensors.size();
    return json_.CountRow(json_.is_due() ? waiting_bytes() : 0);
  }

  // {"values": ..., "shapes": ...} of 1.1, or the members "inputs", "input_shapes", ... of 1.0.
  bool ReadList(std::string_view key, const JsonValue& value, Lists* inputs, Lists* outputs) {
    const bool is_input = key.starts_with("input");
    if (!is_input && !key.starts_with("output")) return false;
    Lists* lists = is_input ? inputs : outputs;
    const std::string_view what = key.substr(is_input ? 5 : 6);
    if (what == "s" && value.kind == JsonValue::Kind::kObject) {
      std::vector<JsonMember> members;
      JsonScanner scanner(value.text);
      if (!scanner.ReadMembers(&members)) return false;
      for (const JsonMember& member : members)
        SetList(member.key.text, member.value, lists);
      return true;
    }
    return SetList(what == "s" ? "values" : what.substr(what.empty() ? 0 : 1), value, lists);
  }

  static bool SetList(std::string_view what, const JsonValue& value, Lists* lists) {
    JsonValue* list = what == "values"    ? &lists->values
                      : what == "shapes"  ? &lists->shapes
                      : what == "types"   ? &lists->types
                      : what == "strides" ? &lists->strides
                                          : nullptr;
    if (list == nullptr || value.kind != JsonValue::Kind::kArray) return false;
    *list = value;
    return true;
  }

  // [{"name": "rf_id", "type": "uint64", "value": 3}, ...]
  void ReadAttributes(const JsonValue& list, Node* node) {
    JsonScanner scanner(list.text);
    std::vector<JsonMember> members;
    WalkArray(&scanner, [&] {
      if (scanner.Peek() != '{' || !scanner.ReadMembers(&members)) return false;
      JsonValue name, value;
      for (const JsonMember& member : members) {
        if (member.key.text == "name") name = member.value;
        if (member.key.text == "value") value = member.value;
      }
      if (name.is_string() && value.present()) ReadField(name, value, node);
      return true;
    });
  }

  void ReadField(const JsonValue& name, const JsonValue& value, Node* node) {
    const std::string_view key = name.text;
    if (key == "id") {
      node->id = json_.Unsigned(value, 0);
      Keep("node", value);
    } else if (key == "ctrl_deps" || key == "parent") {
      node->parent = json_.Unsigned(value, 0);
    } else if (key == "tid") {
      node->tid = json_.Integer(value, 0);
    } else if (key == "scope") {
      node->scope = json_.Integer(value, 0);
      if (node->scope != 0 && node->scope != kUserScope) Keep("scope", value);
    } else if (key == "seq_id") {
      node->span.sequence = std::max<int64_t>(json_.Integer(value, -1), -1);
    } else if (key == "fw_tid") {
      node->span.forward_thread = json_.Unsigned(value, 0);
    } else if (key == "op_schema" && value.is_string()) {
      ReadSchema(value, node);
    } else if (key == "rf_id") {
      Keep("Record function id", value);
    } else if (value.text != "0" && !value.text.empty()) {  // fw_parent, kernel_backend, ... are usually empty
      Keep(DecodedText(name), value);
    }
  }

  // "aten::add.Tensor(Tensor self, ...) -> Tensor": the overload becomes a column, and the schema is added once.
  void ReadSchema(const JsonValue& value, Node* node) {
    if (value.text.empty()) return;
    if (!schemas_.contains(value.text)) schemas_.emplace(value.text);
    const std::string_view call = value.text.substr(0, value.text.find('('));
    const size_t dot = call.rfind('.');
    if (dot != std::string_view::npos && value.plain) node->span.overload = builder_->Intern(call.substr(dot + 1));
  }

  void ReadInputs(const Lists& inputs, Node* node) {
    ExecutionTraceArguments read = ReadExecutionTraceArguments(
        {inputs.values.text, inputs.shapes.text, inputs.types.text, inputs.strides.text}, builder_);
    if (read.whole) {
      node->span.args = read.args;
      node->tensors = std::move(read.tensors);
    } else {
      builder_->AddProblem("bad_value", inputs.types.present() ? json_.OffsetOf(inputs.types) : -1);
      Keep("input_shapes", inputs.shapes), Keep("input_types", inputs.types), Keep("input_strides", inputs.strides);
    }
    if (!node->tensors.empty() || !read.whole) Keep("Inputs", inputs.values);
  }

  void Keep(std::string_view key, const JsonValue& value) {
    if (!value.present() || value.text == "[]" || value.kind == JsonValue::Kind::kNotFinite) return;
    AppendCleanJson(&JsonMemberWriter(&extra_, JsonMemberWriter::kSpaced).EscapedKey(key), value);
  }

  // Bytes of the nodes, and of the rows that they will become.
  uint64_t waiting_bytes() const {
    return nodes_.capacity() * sizeof(Node) + nodes_.size() * sizeof(SpanRow) + 2 * tensors_ * sizeof(TensorRow);
  }

  // Opens and closes the spans of each thread in the order of ids.
  void SetTimes() {
    std::map<int64_t, std::vector<Node*>> open_by_thread;
    int64_t tick = 0;
    const auto close_innermost = [&](std::vector<Node*>* open) {
      SpanRow& span = open->back()->span;
      span.duration = Timestamp{++tick} - span.start;
      open->pop_back();
    };
    for (Node& node : nodes_) {
      if (node.is_root) continue;
      std::vector<Node*>& open = open_by_thread[node.tid];
      while (!open.empty() && open.back()->id != node.parent)
        close_innermost(&open);
      node.span.start = {++tick};
      node.span.depth = static_cast<uint16_t>(std::min<size_t>(open.size(), UINT16_MAX));
      open.push_back(&node);
    }
    for (auto& [tid, open] : open_by_thread) {
      while (!open.empty())
        close_innermost(&open);
    }
  }

  void Finish() {
    std::stable_sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
    SetTimes();
    ProcessId process = ProcessId::kNone;
    std::map<int64_t, TrackId> tracks;
    for (Node& node : nodes_) {
      if (node.is_root) continue;
      if (process == ProcessId::kNone) process = builder_->AddProcess({.pid = pid_});
      const auto [track, added] = tracks.try_emplace(node.tid, TrackId::kNone);
      if (added) {
        track->second = builder_->AddTrack({.process = process,
                                            .tid = node.tid,
                                            .logical_thread = static_cast<uint64_t>(std::max<int64_t>(node.tid, 0))});
        builder_->SetPreOrdered(track->second);
      }
      node.span.track = track->second;
      const AddedSpan span = builder_->AddSpan(node.span);
      for (TensorRow& tensor : node.tensors) {
        tensor.span = span;
        builder_->AddTensor(tensor);
      }
      ++builder_->info().recorded;
    }
    KeepSchemas();
    builder_->info().format = "torch-execution-trace";
    builder_->AddProblem("no_times", -1, std::max<uint64_t>(builder_->info().recorded, 1));
  }

  void KeepSchemas() {
    if (schemas_.empty()) return;
    std::string json = "[";
    for (const std::string_view schema : schemas_) {
      if (json.size() > 1) json += ", ";
      std::string text;
      AppendDecoded(&text, schema);
      AppendJsonString(&json, text);
    }
    builder_->AddMetadata("op_schemas", json + "]");
  }

  JsonImport json_;
  DocumentScanner& scanner_;
  TraceBuilder* builder_;
  int64_t pid_ = 0;
  std::vector<Node> nodes_;
  uint64_t tensors_ = 0;  // in all nodes
  std::vector<JsonMember> members_;
  std::set<std::string, std::less<>> schemas_;
  std::string extra_;
};

}  // namespace

bool LooksLikeExecutionTrace(std::span<const std::byte> head) {
  const JsonHead json = ReadJsonHead(head);
  const JsonHeadMember* schema = json.first == '{' ? json.Find("schema") : nullptr;
  if (schema == nullptr || schema->first != '"' || json.is_chrome_trace()) return false;
  const std::string_view version = schema->value.substr(schema->value.starts_with('"') ? 1 : 0);
  const size_t major = version.find_first_not_of("0123456789");
  return major != 0 && major != std::string_view::npos && version[major] == '.';
}

Status ImportExecutionTrace(TextSource* text, std::string_view name, const ImportOptions& options,
                            TraceBuilder* builder) {
  return ExecutionTraceDocument(text, options, builder).Import(name);
}

}  // namespace opscope
