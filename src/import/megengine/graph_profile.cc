// Reads the operators of a static graph's profile (graph_reader.h), which profile_analyze lists.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/parse_double.h"
#include "import/megengine/graph_reader.h"
#include "import/megengine/importer.h"
#include "opscope/megengine/operator_profile.h"

namespace opscope {
namespace {

// Reads any double; NaN and infinities are written as text ("nan") or in JavaScript's spelling.
std::optional<double> NumberFrom(const JsonValue& value) {
  using Kind = JsonValue::Kind;
  if (value.kind != Kind::kNumber && value.kind != Kind::kString && value.kind != Kind::kNotFinite) return std::nullopt;
  return ParseDouble(value.text);
}

bool IsMissing(const JsonValue& value) {
  return !value.present() || value.kind == JsonValue::Kind::kNull;
}

class OperatorsOfGraph {
 public:
  OperatorsOfGraph(const GraphReader& reader, TraceBuilder* builder, MegEngineProfile* profile)
      : reader_(reader), builder_(builder), profile_(*profile) {}

  void Add() {
    profile_.operators.reserve(reader_.operators().size());
    for (const GraphOperator& opr : reader_.operators())
      profile_.operators.push_back(OperatorFrom(opr));
    for (const GraphInterval& interval : reader_.intervals())
      AddInterval(interval);
  }

 private:
  MegEngineOperator OperatorFrom(const GraphOperator& from) {
    MegEngineOperator opr;
    opr.name = DecodedText(from.name);
    opr.type = DecodedText(from.type);
    opr.id = DecodedText(from.id.present() ? from.id : from.key);
    for (const JsonValue* value : {&from.name, &from.type}) {
      if (IsMissing(*value)) BadValue(from.key);
    }
    ReadDtypes(from.input, &opr.input_dtypes);
    if (const GraphFootprint* cost = reader_.FindFootprint(from.key.text)) {
      opr.computation = Amount(cost->computation);
      opr.memory = Amount(cost->memory);
      opr.in_shapes = Lists(cost->in_shapes);
      opr.in_layouts = Lists(cost->in_layouts);
      opr.out_shapes = Lists(cost->out_shapes);
    }
    return opr;
  }

  void ReadDtypes(const JsonValue& inputs, std::vector<std::string>* dtypes) {
    JsonScanner scanner(inputs.text);
    if (inputs.kind != JsonValue::Kind::kArray) return;
    WalkArray(&scanner, [&] {
      JsonValue variable;
      if (!scanner.ReadValue(&variable)) return false;
      dtypes->push_back(DecodedText(reader_.DtypeOf(variable.text)));
      return true;
    });
  }

  void AddInterval(const GraphInterval& from) {
    const GraphOperator* of = reader_.FindOperator(from.id.text);
    if (of == nullptr) return;
    const auto start = NumberFrom(from.start), kern = NumberFrom(from.kern), end = NumberFrom(from.end);
    if (!start || !kern || !end) return BadValue(from.place);
    if (from.place.text.find("opencl") != std::string_view::npos) profile_.is_on_opencl = true;
    MegEngineOperator& opr = profile_.operators[static_cast<size_t>(of - reader_.operators().data())];
    (from.is_device ? opr.device : opr.host).push_back({.whole = *end - *start, .wait = *kern - *start});
  }

  std::optional<double> Amount(const JsonValue& value) {
    if (IsMissing(value)) return std::nullopt;
    const auto amount = NumberFrom(value);
    if (!amount) BadValue(value);
    return amount;
  }

  // null is an empty list: the input is contiguous.
  std::optional<IntegerLists> Lists(const JsonValue& value) {
    if (IsMissing(value)) return std::nullopt;
    IntegerLists lists;
    JsonScanner scanner(value.text);
    const bool whole = value.kind == JsonValue::Kind::kArray && WalkArray(&scanner, [&] {
                         JsonValue list;
                         numbers_.clear();
                         if (!scanner.ReadValue(&list)) return false;
                         if (!IsMissing(list) && !ReadWholeNumbers(list, &numbers_)) return false;
                         lists.Add(numbers_);
                         return true;
                       });
    if (whole) return lists;
    BadValue(value);
    return std::nullopt;
  }

  void BadValue(const JsonValue& value) { builder_->AddProblem("bad_value", reader_.OffsetOf(value)); }

  const GraphReader& reader_;
  TraceBuilder* builder_;
  MegEngineProfile& profile_;
  std::vector<int64_t> numbers_;
};

}  // namespace

Status ReadMegEngineOperators(TextSource* text, std::string_view name, const ImportOptions& options,
                              TraceBuilder* builder, MegEngineProfile* profile) {
  GraphReader reader(text, options, builder, GraphReader::Rest::kSkipped);
  OPSCOPE_TRY(reader.Read(name));
  OperatorsOfGraph(reader, builder, profile).Add();
  profile->is_graph = true;
  builder->info().recorded = reader.intervals().size();
  builder->info().format = kMegEngineGraphFormat;
  return {};
}

}  // namespace opscope
