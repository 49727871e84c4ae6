// Parts refer to each other and come in any order, so slices of the text are stored until the end, with keys that are
// slices, too (slice_table.h): only what becomes a row is copied. A fault loses only its row. Reading continues at the
// next key that can begin a row or a part:
//   "6": {"name": "conv", "ty     the row of key 6 was cut
//   "7": {"name": ...             goes on here, as a row of the same part
//
// A row without its closing brackets would include the rows behind it as members, so a member that looks like a row is
// a fault ("a row within a row").
// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/graph_reader.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace opscope {

namespace {

constexpr std::string_view kProfilerParts[] = {"device", "host", "opr_footprint", "opr_internal_pf"};
constexpr std::string_view kGraphParts[] = {"operator", "var", "mem_chunk", "comp_seq"};

template <typename Names>
bool IsOneOf(std::string_view name, const Names& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool IsRowId(std::string_view name) {
  return !name.empty() && name[0] >= '0' && name[0] <= '9' &&
         name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

GraphReader::GraphReader(TextSource* text, const ImportOptions& options, TraceBuilder* builder, Rest rest)
    : json_(text, options, builder), scanner_(json_.scanner()), builder_(builder), rest_(rest) {
  scanner_.KeepSlices();  // each part may refer to any other
}

Status GraphReader::Read(std::string_view name) {
  bool whole = WalkObject(&scanner_, [&](const JsonValue& key) { return ReadMember(key); });
  ResyncPoint found;
  const auto find_row = [this](std::string_view text, bool is_whole, size_t most) {
    if (has_taken_in_) return ResyncPoint{.kind = ResyncPoint::Kind::kKey};
    return FindNextRow(text, is_whole, most, this);
  };
  while (!whole && json_.PassFault(find_row, "\"{:", &found))
    whole = found.kind != ResyncPoint::Kind::kKey ? scanner_.Fail("',' or '}' is missing") : Resume();
  return json_.End(whole, name);
}

bool GraphReader::ReadMember(const JsonValue& key) {
  if (key.text == "profiler") return ForEachMember([&](const JsonValue& part) { return ReadProfiler(part); });
  if (key.text == "graph_exec") return ReadGraph(key);
  return KeepRest(key);
}

// Recognises rows that are members: their keys are numbers, or places, whose values have times.
bool GraphReader::IsKey(std::string_view text) const {
  std::string_view name;
  const char first = FirstOfMember(text, &name);
  if (first == '[') return name == "comp_seq";
  if (first != '{') return false;
  if (IsRowId(name) || IsOneOf(name, kProfilerParts) || IsOneOf(name, kGraphParts)) return true;
  return in_places_ || name == "profiler" || name == "graph_exec";
}

// Continues at a key behind a fault, to the end of the document.
bool GraphReader::Resume() {
  has_taken_in_ = false;
  if (part_ == Part::kOperators) operators_.DropLast(open_row_);
  if (part_ == Part::kFootprints) footprints_.DropLast(open_row_);
  open_row_ = {};
  std::string_view name;
  constexpr size_t kLongestName = 256;
  FirstOfMember(scanner_.Ahead(kLongestName).rest(), &name);
  const auto read_member = [&](const JsonValue& key) { return ReadMember(key); };
  if (name == "profiler" || name == "graph_exec") return ContinueObject(&scanner_, read_member);
  const auto read_profiler = [&](const JsonValue& part) { return ReadProfiler(part); };
  const auto read_graph = [&](const JsonValue& part) { return ReadGraphPart(part); };
  bool is_read = false;
  const bool is_place = in_places_ && !IsRowId(name) && !IsOneOf(name, kProfilerParts) && !IsOneOf(name, kGraphParts);
  in_places_ = false;
  if (IsOneOf(name, kProfilerParts)) {
    is_read = ContinueObject(&scanner_, read_profiler);
  } else if (IsOneOf(name, kGraphParts)) {
    is_read = ContinueObject(&scanner_, read_graph);
  } else {
    is_read = (!is_place || ContinuePlaces()) && ContinueIds() &&
              (part_ == Part::kOperators || part_ == Part::kVariables ? ContinueBehindMember(&scanner_, read_graph)
                                                                      : ContinueBehindMember(&scanner_, read_profiler));
  }
  return is_read && ContinueBehindMember(&scanner_, read_member);
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

// A value that is not an object is counted and skipped.
template <typename Visit>
bool GraphReader::ForEachMember(Visit visit) {
  return scanner_.Peek() == '{' ? WalkObject(&scanner_, visit) : json_.SkipBadValue();
}

// The members of the object at the cursor.
bool GraphReader::ReadInto(std::initializer_list<Wanted> wanted) {
  return ForEachMember([&](const JsonValue& key) {
    JsonValue other;
    JsonValue* value = &other;
    for (const Wanted& one : wanted) {
      if (one.key == key.text) value = one.value;
    }
    // If a row is cut off, the next row looks like its member.
    if (value == &other && scanner_.Peek() == '{' && (in_places_ || IsRowId(key.text)))
      return scanner_.Fail("a row within a row");
    return scanner_.ReadValue(value);
  });
}

bool GraphReader::KeepRest(const JsonValue& key) {
  return rest_ == Rest::kMetadata ? json_.KeepAsMetadata(key) : json_.Skip();
}

bool GraphReader::ReadProfiler(const JsonValue& part) {
  if (part.text == "device") return ReadIds(Part::kDevice);
  if (part.text == "host") return ReadIds(Part::kHost);
  return part.text == "opr_footprint" ? ReadIds(Part::kFootprints) : KeepRest(part);
}

// Reads the rows of a part.
bool GraphReader::ReadIds(Part part) {
  part_ = part;
  if (scanner_.Peek() != '{') return json_.SkipBadValue();
  scanner_.Skip(1);
  return ContinueIds();
}

bool GraphReader::ContinueIds() {
  return ContinueRowMembers(&scanner_, [&](const JsonValue& id) {
    switch (part_) {
      case Part::kDevice:
      case Part::kHost:
        return ReadPlaces(id);
      case Part::kFootprints:
        return ReadFootprint(id);
      case Part::kOperators:
        return ReadOperator(id);
      case Part::kVariables:
        return ReadVariable(id) && json_.CountItem(json_.is_due() ? waiting_bytes() : 0);
    }
    return false;
  });
}

bool GraphReader::CountWhole() {
  open_row_ = {};
  return json_.CountItem(json_.is_due() ? waiting_bytes() : 0);
}

bool GraphReader::ReadFootprint(const JsonValue& id) {
  open_row_ = id.text;
  GraphFootprint& print = footprints_[id.text];
  return ReadInto({{"computation", &print.computation},
                   {"memory", &print.memory},
                   {"in_shapes", &print.in_shapes},
                   {"out_shapes", &print.out_shapes},
                   {"in_layouts", &print.in_layouts},
                   {"param", &print.param}}) &&
         CountWhole();
}

bool GraphReader::ReadOperator(const JsonValue& id) {
  open_row_ = id.text;
  GraphOperator& opr = operators_[id.text];
  if (!opr.key.present()) opr.key = id;
  return ReadInto({{"id", &opr.id},
                   {"name", &opr.name},
                   {"type", &opr.type},
                   {"input", &opr.input},
                   {"output", &opr.output}}) &&
         CountWhole();
}

bool GraphReader::ReadPlaces(const JsonValue& id) {
  if (scanner_.Peek() != '{') return json_.SkipBadValue();
  scanner_.Skip(1);
  id_ = id;
  id_row_ = scanner_.row();
  return ContinuePlaces();
}

bool GraphReader::ContinuePlaces() {
  in_places_ = true;
  const bool is_read = ContinueRowMembers(&scanner_, [&](const JsonValue& place) {
    if (IsRowId(place.text)) {
      has_taken_in_ = true;
      scanner_.SetRow(id_row_);
      return scanner_.Fail("a row within a row");
    }
    GraphInterval interval{
        .id = id_, .place = place, .start = {}, .kern = {}, .end = {}, .is_device = part_ == Part::kDevice};
    if (!ReadInto({{"start", &interval.start}, {"kern", &interval.kern}, {"end", &interval.end}})) return false;
    intervals_.push_back(interval);
    return json_.CountRow(json_.is_due() ? waiting_bytes() : 0);
  });
  if (is_read) in_places_ = false;
  return is_read;
}

bool GraphReader::ReadGraph(const JsonValue& key) {
  JsonValue whole;
  if (rest_ == Rest::kMetadata && scanner_.Look(&whole)) {
    std::string json;
    AppendCleanJson(&json, whole);
    builder_->AddMetadata(key.text, json);
  }
  return ForEachMember([&](const JsonValue& part) { return ReadGraphPart(part); });
}

bool GraphReader::ReadGraphPart(const JsonValue& part) {
  if (part.text == "operator") return ReadIds(Part::kOperators);
  return part.text == "var" ? ReadIds(Part::kVariables) : json_.Skip();
}

// The element type: {"mem_plan": {"layout": {"dtype": "Float32", ...}, ...}, ...}.
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

// Bytes of the intervals, of the rows that they will become, and of what they refer to.
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

}  // namespace opscope
