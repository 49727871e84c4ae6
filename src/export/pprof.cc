// Writes pprof's profile.proto from the folded tree of `opscope flame`.
//
// A sample is one path of names with three values: the number of spans that end there, their self time on threads, and
// their self time on device streams, kept apart because both run at the same time. Thread and category are labels and
// not part of the path. A location has no address, only a function; there is one per name.
// SPDX-License-Identifier: Apache-2.0
#include <tsl/robin_map.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "export/plain_text.h"
#include "export/span_lanes.h"
#include "export/writers.h"

namespace opscope {
namespace {

// Field numbers as published in profile.proto.
namespace profile_field {
enum : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kComment = 13,
  kDefaultSampleType = 14
};
}
namespace value_type_field {
enum : uint32_t { kType = 1, kUnit = 2 };
}
namespace sample_field {
enum : uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
}
namespace label_field {
enum : uint32_t { kKey = 1, kStr = 2 };
}
namespace location_field {
enum : uint32_t { kId = 1, kLine = 4 };
}
namespace line_field {
enum : uint32_t { kFunctionId = 1, kLine = 2 };
}
namespace function_field {
enum : uint32_t { kId = 1, kName = 2, kFilename = 4 };
}

class PprofWriter {
 public:
  PprofWriter() { Text(""); }

  // Repeated fields may come in any order, so each is written as soon as it is known.
  void Write(const Trace& trace, const FlameTree& tree, std::string_view trace_name, ExportOutput* out) {
    AddValueType("samples", "count");
    AddValueType("time", "nanoseconds");
    AddValueType("device_time", "nanoseconds");
    std::vector<uint64_t> location(tree.nodes.size(), 0);  // by node; 0: a thread or stream, which is a label
    for (size_t i = 1; i < tree.nodes.size(); ++i) {
      const FlameKind kind = tree.nodes[i].kind;
      if (kind != FlameKind::kThread && kind != FlameKind::kDevice) location[i] = Location(tree.nodes[i].name);
    }
    constexpr size_t kPieceBytes = size_t{1} << 20;
    for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
      AddSample(trace, tree, i, location);
      if (bytes_.size() < kPieceBytes) continue;
      out->Write(bytes_);
      bytes_.clear();
    }
    AddTimes(trace);
    profile_.add_int64(profile_field::kComment, Text(trace_name));
    profile_.add_int64(profile_field::kDefaultSampleType, Text("time"));
    for (const std::string& text : texts_)
      profile_.add_string(profile_field::kStringTable, text);
    out->Write(bytes_);
  }

 private:
  int64_t Text(std::string_view text) {
    std::string plain = PlainText(text);
    const auto [found, is_new] = text_numbers_.try_emplace(plain, static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.push_back(std::move(plain));
    return found->second;
  }

  void AddValueType(std::string_view type, std::string_view unit) {
    protozero::pbf_writer value_type(profile_, profile_field::kSampleType);
    value_type.add_int64(value_type_field::kType, Text(type));
    value_type.add_int64(value_type_field::kUnit, Text(unit));
  }

  uint64_t Location(std::string_view name) {
    const auto [found, is_new] = locations_.try_emplace(name, locations_.size() + 1);
    const uint64_t id = found->second;
    if (!is_new) return id;
    const FrameParts frame = PartsOfFrame(name);
    {
      protozero::pbf_writer function(profile_, profile_field::kFunction);
      function.add_uint64(function_field::kId, id);
      function.add_int64(function_field::kName, Text(frame.function));
      if (frame.line != 0) function.add_int64(function_field::kFilename, Text(frame.file));
    }
    protozero::pbf_writer location(profile_, profile_field::kLocation);
    location.add_uint64(location_field::kId, id);
    protozero::pbf_writer line(location, location_field::kLine);
    line.add_uint64(line_field::kFunctionId, id);
    if (frame.line != 0) line.add_int64(line_field::kLine, frame.line);
    return id;
  }

  void AddSample(const Trace& trace, const FlameTree& tree, uint32_t node_number,
                 const std::vector<uint64_t>& location) {
    const FlameNode& node = tree.nodes[node_number];
    if (node.spans == 0) return;
    path_.clear();
    uint32_t at = node_number;
    for (; at != 0 && location[at] != 0; at = tree.nodes[at].parent)
      path_.push_back(location[at]);
    const bool is_device = tree.nodes[at].kind == FlameKind::kDevice;
    const auto spans = static_cast<int64_t>(std::min<uint64_t>(node.spans, INT64_MAX));
    const int64_t values[] = {spans, is_device ? 0 : node.self, is_device ? node.self : 0};
    protozero::pbf_writer sample(profile_, profile_field::kSample);
    sample.add_packed_uint64(sample_field::kLocationId, path_.begin(), path_.end());
    sample.add_packed_int64(sample_field::kValue, std::begin(values), std::end(values));
    if (at != 0) AddLabel(is_device ? "stream" : "thread", tree.nodes[at].name, &sample);
    const std::string_view category = trace.text(node.category);
    if (!category.empty()) AddLabel("category", category, &sample);
  }

  void AddLabel(std::string_view key, std::string_view text, protozero::pbf_writer* sample) {
    protozero::pbf_writer label(*sample, sample_field::kLabel);
    label.add_int64(label_field::kKey, Text(key));
    label.add_int64(label_field::kStr, Text(text));
  }

  void AddTimes(const Trace& trace) {
    const SpanColumns& spans = trace.spans();
    if (spans.size() == 0) return;
    Timestamp first = spans.start[0], last = spans.start[0];
    for (size_t i = 0; i < spans.size(); ++i) {
      first = std::min(first, spans.start[i]);
      last = std::max(last, EndOf(spans, i));
    }
    if (trace.info().epoch_ns != 0)
      profile_.add_int64(profile_field::kTimeNanos, SaturatingAdd(first.ns, trace.info().epoch_ns));
    profile_.add_int64(profile_field::kDurationNanos, SaturatingSubtract(last.ns, first.ns));
  }

  std::string bytes_;
  protozero::pbf_writer profile_{bytes_};
  std::vector<std::string> texts_;
  tsl::robin_map<std::string, int64_t> text_numbers_;
  tsl::robin_map<std::string_view, uint64_t> locations_;
  std::vector<uint64_t> path_;
};

}  // namespace

void WritePprof(const Trace& trace, const FlameTree& tree, const ExportOptions& options, ExportOutput* out) {
  PprofWriter().Write(trace, tree, options.trace_name, out);
  out->CountOmitted("frames below the 2,048th of a path, which has their values", tree.deeper_spans);
  out->CountOmitted("spans of tracks that are not threads or streams", tree.other_spans);
  out->CountOmitted("asynchronous spans", tree.async_spans + trace.async_spans().size());
  out->CountOmitted("instants", trace.instants().size());
  out->CountOmitted("counter samples", trace.counters().size());
  out->CountOmitted("flows", trace.flows().size());
}

}  // namespace opscope
