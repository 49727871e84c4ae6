// Reads the output of MegEngine's trace(profiling=True).get_profile() for a static graph:
//
//   {"profiler": {"device": {"6": {"CompNode(\"gpu0:0\" from \"xpux:0\")": {"start": 0.1, "kern": 0.2, "end": 0.3}}},
//                 "host": {...}, "opr_footprint": {"6": {"computation", "memory", "in_shapes", ...}}},
//    "graph_exec": {"operator": {"6": {"name", "type", "input", "output", ...}}, "var": {...}, "comp_seq": [...], ...}}
//
// The members may be in any order; times are seconds. The text is read once, into slices. graph.cc makes a Trace of
// them, graph_profile.cc the operators that profile_analyze lists.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "import/megengine/slice_table.h"
#include "import/text/json_import.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

struct GraphOperator {
  JsonValue key, id, name, type, input, output;
};
struct GraphFootprint {
  JsonValue computation, memory, in_shapes, out_shapes, in_layouts, param;
};
struct GraphInterval {  // of one operator on one device or thread
  JsonValue id, place, start, kern, end;
  bool is_device = false;
};

class GraphReader : private RowTest {
 public:
  // kMetadata: unknown members, and graph_exec as a whole, become metadata of the builder.
  enum class Rest : uint8_t { kMetadata, kSkipped };

  GraphReader(TextSource* text, const ImportOptions& options, TraceBuilder* builder, Rest rest);

  // Errors and problems as of an importer. Slices live as long as this object.
  Status Read(std::string_view name);

  // In the order of the text. Of members with equal keys the last value is used, at the position of the first.
  std::span<const GraphOperator> operators() const { return operators_.values(); }
  std::span<const GraphInterval> intervals() const { return intervals_; }
  // key: as written in the text. nullptr: unknown.
  const GraphOperator* FindOperator(std::string_view key) const;
  const GraphFootprint* FindFootprint(std::string_view key) const;
  // Element type of a variable: "Float32". Absent: the variable has no memory.
  JsonValue DtypeOf(std::string_view variable) const;

  int64_t OffsetOf(const JsonValue& value) const { return json_.OffsetOf(value); }

 private:
  enum class Part : uint8_t { kDevice, kHost, kFootprints, kOperators, kVariables };  // objects whose members are rows
  struct Wanted {
    std::string_view key;
    JsonValue* value;
  };

  // RowTest, to resume after a fault: rows are members, not items of lists.
  Row Read(JsonScanner* /*scanner*/) override { return {}; }
  bool has_keys() const override { return true; }
  bool IsKey(std::string_view text) const override;
  std::string_view closers() const override { return ""; }
  bool Resume();

  template <typename Visit>
  bool ForEachMember(Visit visit);
  bool ReadInto(std::initializer_list<Wanted> wanted);
  bool ReadMember(const JsonValue& key);
  bool ReadProfiler(const JsonValue& part);
  bool ReadIds(Part part);
  bool ContinueIds();
  bool ReadPlaces(const JsonValue& id);
  bool ContinuePlaces();
  bool CountWhole();
  bool ReadFootprint(const JsonValue& id);
  bool ReadGraph(const JsonValue& key);
  bool ReadGraphPart(const JsonValue& part);
  bool ReadOperator(const JsonValue& id);
  bool ReadVariable(const JsonValue& id);
  bool KeepRest(const JsonValue& key);
  uint64_t waiting_bytes() const;

  JsonImport json_;
  DocumentScanner& scanner_;
  TraceBuilder* builder_;
  const Rest rest_;
  Part part_ = Part::kDevice;  // the part that is being read, or the last one
  bool in_places_ = false;     // inside the object with the intervals of id_
  JsonValue id_;
  uint64_t id_row_ = DocumentScanner::kNoRow;
  bool has_taken_in_ = false;  // the fault: the row of id_ does not end, and the next row begins at the fault
  std::string_view open_row_;  // the operator or footprint that is being read
  std::vector<GraphInterval> intervals_;
  SliceTable<GraphOperator> operators_;
  SliceTable<GraphFootprint> footprints_;
  SliceTable<JsonValue> dtypes_;
};

// The items of a list; empty if the value is not a list.
[[nodiscard]] std::vector<JsonValue> SplitJsonList(const JsonValue& list);

}  // namespace opscope
