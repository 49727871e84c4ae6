// A protobuf message as indented text, by a table of published field numbers: golden files of binary formats can be
// read and compared. A field that the table does not know is shown as "?".
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

namespace opscope {

// "text", "int", "double", "fixed64", "ints" (packed), or the name of a message.
struct ProtoField {
  std::string_view name, type;
};
using ProtoSchema = std::map<std::string_view, std::map<uint32_t, ProtoField>>;

inline void AppendProtoText(const ProtoSchema& schema, std::string_view message, protozero::pbf_reader reader,
                            const std::string& indent, std::string* out) {
  const std::map<uint32_t, ProtoField>& fields = schema.at(message);
  while (reader.next()) {
    const auto found = fields.find(reader.tag());
    if (found == fields.end()) {
      out->append(indent).append("? ").append(std::to_string(reader.tag())).append("\n");
      reader.skip();
      continue;
    }
    const ProtoField& field = found->second;
    out->append(indent).append(field.name);
    if (field.type == "text") {
      out->append(": \"").append(reader.get_string()).append("\"\n");
    } else if (field.type == "int") {
      out->append(": ").append(std::to_string(reader.get_int64())).append("\n");
    } else if (field.type == "double") {
      out->append(": ").append(std::to_string(reader.get_double())).append("\n");
    } else if (field.type == "fixed64") {
      out->append(": ").append(std::to_string(reader.get_fixed64())).append("\n");
    } else if (field.type == "ints") {
      out->append(":");
      for (const int64_t value : reader.get_packed_int64())
        out->append(" ").append(std::to_string(value));
      out->append("\n");
    } else {
      out->append("\n");
      AppendProtoText(schema, field.type, reader.get_message(), indent + "  ", out);
    }
  }
}

inline const ProtoSchema kPprofSchema = {
    {"Profile",
     {{1, {"sample_type", "ValueType"}},
      {2, {"sample", "Sample"}},
      {4, {"location", "Location"}},
      {5, {"function", "Function"}},
      {6, {"string_table", "text"}},
      {9, {"time_nanos", "int"}},
      {10, {"duration_nanos", "int"}},
      {13, {"comment", "int"}},
      {14, {"default_sample_type", "int"}}}},
    {"ValueType", {{1, {"type", "int"}}, {2, {"unit", "int"}}}},
    {"Sample", {{1, {"location_id", "ints"}}, {2, {"value", "ints"}}, {3, {"label", "Label"}}}},
    {"Label", {{1, {"key", "int"}}, {2, {"str", "int"}}}},
    {"Location", {{1, {"id", "int"}}, {4, {"line", "Line"}}}},
    {"Line", {{1, {"function_id", "int"}}, {2, {"line", "int"}}}},
    {"Function", {{1, {"id", "int"}}, {2, {"name", "int"}}, {4, {"filename", "int"}}}},
};

inline const ProtoSchema kPerfettoSchema = {
    {"Trace", {{1, {"packet", "TracePacket"}}}},
    {"TracePacket",
     {{6, {"clock_snapshot", "ClockSnapshot"}},
      {8, {"timestamp", "int"}},
      {10, {"trusted_packet_sequence_id", "int"}},
      {11, {"track_event", "TrackEvent"}},
      {12, {"interned_data", "InternedData"}},
      {13, {"sequence_flags", "int"}},
      {60, {"track_descriptor", "TrackDescriptor"}}}},
    {"ClockSnapshot", {{1, {"clocks", "Clock"}}}},
    {"Clock", {{1, {"clock_id", "int"}}, {2, {"timestamp", "int"}}}},
    {"TrackDescriptor",
     {{1, {"uuid", "int"}},
      {2, {"name", "text"}},
      {3, {"process", "ProcessDescriptor"}},
      {4, {"thread", "ThreadDescriptor"}},
      {5, {"parent_uuid", "int"}},
      {8, {"counter", "CounterDescriptor"}},
      {11, {"child_ordering", "int"}},
      {12, {"sibling_order_rank", "int"}}}},
    {"CounterDescriptor", {}},
    {"ProcessDescriptor",
     {{1, {"pid", "int"}},
      {3, {"legacy_sort_index", "int"}},
      {6, {"process_name", "text"}},
      {8, {"process_labels", "text"}}}},
    {"ThreadDescriptor",
     {{1, {"pid", "int"}}, {2, {"tid", "int"}}, {3, {"legacy_sort_index", "int"}}, {5, {"thread_name", "text"}}}},
    {"TrackEvent",
     {{3, {"category_iids", "int"}},
      {4, {"debug_annotations", "DebugAnnotation"}},
      {9, {"type", "int"}},
      {10, {"name_iid", "int"}},
      {11, {"track_uuid", "int"}},
      {44, {"double_counter_value", "double"}},
      {47, {"flow_ids", "fixed64"}},
      {48, {"terminating_flow_ids", "fixed64"}}}},
    {"DebugAnnotation",
     {{1, {"name_iid", "int"}},
      {2, {"bool_value", "int"}},
      {3, {"uint_value", "int"}},
      {4, {"int_value", "int"}},
      {5, {"double_value", "double"}},
      {6, {"string_value", "text"}},
      {9, {"legacy_json_value", "text"}},
      {17, {"string_value_iid", "int"}}}},
    {"InternedData",
     {{1, {"event_categories", "Interned"}},
      {2, {"event_names", "Interned"}},
      {3, {"debug_annotation_names", "Interned"}},
      {29, {"debug_annotation_string_values", "Interned"}}}},
    {"Interned", {{1, {"iid", "int"}}, {2, {"text", "text"}}}},
};

}  // namespace opscope
