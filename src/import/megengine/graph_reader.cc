// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/graph_reader.h"

#include <string>

#include "import/text/json_number.h"

namespace opscope {

GraphReader::GraphReader(TextSource* text, const ImportOptions& options, TraceBuilder* builder, Rest rest)
    : json_(text, options, builder), scanner_(json_.scanner()), builder_(builder), rest_(rest) {
  scanner_.KeepSlices();  // any part may tell of what stands in any other
}

Status GraphReader::Read(std::string_view name) {
  const bool whole = WalkObject(&scanner_, [&](const JsonValue& key) {
    if (key.text == "profiler") return ForEachMember([&](const JsonValue& part) { return ReadProfiler(part); });
    if (key.text == "graph_exec") return ReadGraph(key);
    return KeepRest(key);
  });
  return json_.End(whole, name);
}

const GraphOperator* GraphReader::FindOperator(std::string_view key) const {
  return operators_.Find(key);
}

const GraphFootprint* GraphReader::FindFootprint(std::string_view key) const {
  return footprints_.Find(key);
}

JsonValue GraphReader::DtypeOf(std::string_view variable) const {
  const JsonValue* const found = dtypes_.Find(variable);
  return found == nullptr ? JsonValue() : *found;
}

// What is no object is counted and passed over.
template <typename Visit>
bool GraphReader::ForEachMember(Visit visit) {
  if (scanner_.Peek() == '{') return WalkObject(&scanner_, visit);
  JsonValue value;
  if (!scanner_.ReadValue(&value)) return false;
  json_.BadValue(value);
  return true;
}

// Members of the object at the cursor.
bool GraphReader::ReadInto(std::initializer_list<Wanted> wanted) {
  return ForEachMember([&](const JsonValue& key) {
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    for (const Wanted& one : wanted) {
      if (one.key == key.text) *one.value = value;
    }
    return true;
  });
}

bool GraphReader::KeepRest(const JsonValue& key) {
  return rest_ == Rest::kMetadata ? json_.KeepAsMetadata(key) : json_.Skip();
}

bool GraphReader::ReadProfiler(const JsonValue& part) {
  if (part.text == "device" || part.text == "host") {
    const bool is_device = part.text == "device";
    return ForEachMember([&, is_device](const JsonValue& id) { return ReadPlaces(id, is_device); });
  }
  if (part.text == "opr_footprint") {
    return ForEachMember([&](const JsonValue& id) {
      GraphFootprint& print = footprints_[id.text];
      return ReadInto({{"computation", &print.computation},
                       {"memory", &print.memory},
                       {"in_shapes", &print.in_shapes},
                       {"out_shapes", &print.out_shapes},
                       {"in_layouts", &print.in_layouts},
                       {"param", &print.param}}) &&
             json_.CountItem(waiting_bytes());
    });
  }
  return KeepRest(part);
}

bool GraphReader::ReadPlaces(const JsonValue& id, bool is_device) {
  return ForEachMember([&](const JsonValue& place) {
    GraphInterval interval{.id = id, .place = place, .start = {}, .kern = {}, .end = {}, .is_device = is_device};
    if (!ReadInto({{"start", &interval.start}, {"kern", &interval.kern}, {"end", &interval.end}})) return false;
    intervals_.push_back(interval);
    return json_.CountRow(waiting_bytes());
  });
}

bool GraphReader::ReadGraph(const JsonValue& key) {
  JsonValue whole;
  if (rest_ == Rest::kMetadata && scanner_.Look(&whole)) {
    std::string json;
    AppendCleanJson(&json, whole);
    builder_->AddMetadata(key.text, json);
  }
  return ForEachMember([&](const JsonValue& part) {
    if (part.text == "operator") {
      return ForEachMember([&](const JsonValue& id) {
        GraphOperator& opr = operators_[id.text];
        if (!opr.key.present()) opr.key = id;
        return ReadInto({{"id", &opr.id},
                         {"name", &opr.name},
                         {"type", &opr.type},
                         {"input", &opr.input},
                         {"output", &opr.output}}) &&
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
bool GraphReader::ReadVariable(const JsonValue& id) {
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

// Intervals with the rows that they will be, and what they refer to.
uint64_t GraphReader::waiting_bytes() const {
  return intervals_.capacity() * sizeof(GraphInterval) + intervals_.size() * sizeof(SpanRow) + operators_.bytes() +
         footprints_.bytes() + dtypes_.bytes();
}

std::vector<JsonValue> SplitJsonList(const JsonValue& list) {
  std::vector<JsonValue> items;
  JsonScanner scanner(list.text);
  if (list.kind == JsonValue::Kind::kArray)
    WalkArray(&scanner, [&] { return scanner.ReadValue(&items.emplace_back()); });
  return items;
}

bool ReadWholeNumbers(const JsonValue& list, std::vector<int64_t>* numbers) {
  JsonScanner scanner(list.text);
  return list.kind == JsonValue::Kind::kArray && WalkArray(&scanner, [&] {
           JsonValue value;
           if (!scanner.ReadValue(&value)) return false;
           const auto number = value.is_number() ? ParseInteger(value.text) : std::nullopt;
           numbers->push_back(number.value_or(0));
           return number.has_value();
         });
}

}  // namespace opscope
