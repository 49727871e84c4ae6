// Reads torch.cuda.memory._snapshot() dumped as JSON: {"segments": [...], "device_traces": [[...], ...], ...}, or the
// bare list of segments of versions before 2.0. memory_snapshot.h describes the resulting rows.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/text/json_head.h"
#include "import/text/json_import.h"
#include "import/torch/importer.h"
#include "import/torch/memory_snapshot.h"
#include "import/torch/memory_snapshot_rows.h"

namespace opscope {
namespace {

// Allows look-ups of texts by slices.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

class SnapshotDocument {
 public:
  SnapshotDocument(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : json_(text, options, builder), scanner_(json_.scanner()), builder_(builder), tables_(builder) {}

  Status Import(std::string_view name) {
    rows_.is_bare = scanner_.Peek() == '[';
    bool whole =
        rows_.is_bare ? ReadSegments() : WalkObject(&scanner_, [&](const JsonValue& key) { return ReadMember(key); });
    ResyncPoint found;
    while (!whole && json_.PassFault(&rows_, &found))
      whole = Resume(found);
    OPSCOPE_TRY(json_.End(whole, name));
    tables_.Finish();
    builder_->info().format = "torch-memory-snapshot";
    return {};
  }

 private:
  struct Block {
    SnapshotBlock row;
    std::string state, extra;
    bool has_address = false;
  };

  bool ReadMember(const JsonValue& key) {
    const char next = scanner_.Peek();
    if (key.text == "segments" && next == '[') return ReadSegments();
    if (key.text == "device_traces" && next == '[') return ReadTraces();
    if (key.text == "external_annotations" && next == '[') return ReadAnnotations();
    return json_.KeepAsMetadata(key);
  }

  // The objects of an array from the cursor on; other items are counted and skipped.
  template <typename ReadObject>
  bool ContinueObjects(SnapshotRow kind, ReadObject read_object) {
    const SnapshotRow outer = std::exchange(rows_.list, kind);
    const bool is_read =
        ContinueRows(&scanner_, '{', [&] { return scanner_.Peek() == '{' ? read_object() : json_.SkipStray(); });
    if (is_read) rows_.list = outer;
    return is_read;
  }

  // Continues after a fault, to the end of the document.
  bool Resume(const ResyncPoint& found) {
    const SnapshotRow list = rows_.list;
    const bool is_same =
        found.kind != ResyncPoint::Kind::kKey && (found.row == 0 || static_cast<SnapshotRow>(found.row) == list);
    rows_.list = SnapshotRow::kNone;
    if (list == SnapshotRow::kBlock) {
      blocks_.resize(whole_blocks_);
      scanner_.EndRows(segment_row_);
      rows_.list = SnapshotRow::kSegment;
      if (is_same && !(ContinueBlocks() &&
                       ContinueBehindMember(&scanner_, [&](const JsonValue& key) { return ReadSegmentMember(key); })))
        return false;
      if (!AddSegment()) return false;
    }
    if (found.kind == ResyncPoint::Kind::kKey)
      return ContinueObject(&scanner_, [&](const JsonValue& key) { return ReadMember(key); });
    if (list == SnapshotRow::kAction) {
      device_ += static_cast<int64_t>(found.lists);
      if (!ContinueActions() || !ContinueTraces()) return false;
    } else if (list == SnapshotRow::kAnnotation) {
      if (!ContinueAnnotations()) return false;
    } else if (!ContinueSegments()) {
      return false;
    }
    return rows_.is_bare || ContinueBehindMember(&scanner_, [&](const JsonValue& key) { return ReadMember(key); });
  }

  bool ReadSegments() { return scanner_.Expect('[', "'[' is missing") && ContinueSegments(); }
  bool ContinueSegments() {
    return ContinueObjects(SnapshotRow::kSegment, [&] { return ReadSegment(); });
  }

  bool ReadSegment() {
    segment_ = {};
    segment_extra_.clear();
    blocks_.clear();
    segment_row_ = scanner_.row();
    return WalkObject(&scanner_, [&](const JsonValue& key) { return ReadSegmentMember(key); }) && AddSegment();
  }

  bool ReadSegmentMember(const JsonValue& key) {
    if (key.text == "blocks" && scanner_.Peek() == '[') {
      scanner_.Skip(1);
      return ContinueBlocks();
    }
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    if (key.text == "device") {
      segment_.device = json_.Integer(value, 0);
    } else if (key.text == "address") {
      segment_.address = json_.Unsigned(value, 0);
    } else if (key.text == "total_size") {
      segment_.total_size = json_.Integer(value, 0);
    } else if (key.text == "frames") {
      segment_.stack = ReadFrames(value);
    } else {
      Keep(key, value, &segment_extra_);
    }
    return true;
  }

  bool ContinueBlocks() {
    return ContinueObjects(SnapshotRow::kBlock, [&] {
      whole_blocks_ = blocks_.size();
      return ReadBlock(&blocks_.emplace_back());
    });
  }

  bool AddSegment() {
    segment_.extra = segment_extra_;
    tables_.AddSegment(segment_);
    uint64_t address = segment_.address;  // in older files blocks have no address: they are adjacent
    for (Block& block : blocks_) {
      if (!block.has_address) block.row.address = address;
      address = block.row.address + static_cast<uint64_t>(block.row.size);
      block.row.device = segment_.device;
      block.row.state = block.state;
      block.row.extra = block.extra;
      tables_.AddBlock(block.row);
    }
    return Count();
  }

  bool ReadBlock(Block* block) {
    return WalkObject(&scanner_, [&](const JsonValue& key) {
      JsonValue value;
      if (!scanner_.ReadValue(&value)) return false;
      if (key.text == "address") {
        block->row.address = json_.Unsigned(value, 0);
        block->has_address = true;
      } else if (key.text == "size") {
        block->row.size = json_.Integer(value, 0);
      } else if (key.text == "requested_size") {
        block->row.requested_size = json_.Integer(value, -1);
      } else if (key.text == "state") {
        block->state = DecodedText(value);
      } else if (key.text == "frames") {
        block->row.stack = ReadFrames(value);
      } else if (key.text == "history") {
        ReadHistory(value, &block->row);
      } else {
        Keep(key, value, &block->extra);
      }
      return true;
    });
  }

  // Versions 1.13 and 2.0: [{"addr", "real_size", "frames"}, ...], the newest first.
  void ReadHistory(const JsonValue& value, SnapshotBlock* block) {
    JsonScanner scanner(value.text);
    std::vector<JsonMember> members;
    if (scanner.Peek() != '[') return json_.BadValue(value);
    scanner.Skip(1);
    if (scanner.Peek() != '{' || !scanner.ReadMembers(&members)) return;
    for (const JsonMember& member : members) {
      if (member.key.text == "real_size") block->requested_size = json_.Integer(member.value, -1);
      if (member.key.text == "frames") block->stack = ReadFrames(member.value);
    }
  }

  // One list per device, in the order of the devices.
  bool ReadTraces() {
    device_ = -1;
    return scanner_.Expect('[', "'[' is missing") && ContinueTraces();
  }

  bool ContinueTraces() {
    return ContinueRows(&scanner_, '[', [&] {
      ++device_;
      if (scanner_.Peek() == '[') {
        scanner_.Skip(1);
        return ContinueActions();
      }
      return json_.SkipBadValue();
    });
  }

  bool ContinueActions() {
    return ContinueObjects(SnapshotRow::kAction, [&] { return ReadAction(device_); });
  }

  bool ReadAction(int64_t device) {
    SnapshotAction row{.device = device};
    std::string action, extra;
    const bool whole = WalkObject(&scanner_, [&](const JsonValue& key) {
      JsonValue value;
      if (!scanner_.ReadValue(&value)) return false;
      if (key.text == "action") {
        action = DecodedText(value);
      } else if (key.text == "addr") {
        row.address = json_.Unsigned(value, 0);
      } else if (key.text == "size") {
        row.size = json_.Integer(value, 0);
      } else if (key.text == "time_us") {
        row.time_us = json_.Integer(value, -1);
      } else if (key.text == "frames") {
        row.stack = ReadFrames(value);
      } else {
        Keep(key, value, &extra);
      }
      return true;
    });
    if (!whole) return false;
    row.action = action;
    row.extra = extra;
    tables_.AddAction(row);
    return Count();
  }

  bool ReadAnnotations() { return scanner_.Expect('[', "'[' is missing") && ContinueAnnotations(); }
  bool ContinueAnnotations() {
    return ContinueObjects(SnapshotRow::kAnnotation, [&] {
      SnapshotAnnotation row;
      std::string name, stage;
      const bool whole = WalkObject(&scanner_, [&](const JsonValue& key) {
        JsonValue value;
        if (!scanner_.ReadValue(&value)) return false;
        if (key.text == "name") name = DecodedText(value);
        if (key.text == "stage") stage = DecodedText(value);
        if (key.text == "device") row.device = json_.Integer(value, 0);
        if (key.text == "time_us") row.time_us = json_.Integer(value, -1);
        return true;
      });
      if (!whole) return false;
      row.name = name;
      row.begins = stage == "START";
      tables_.AddAnnotation(row);
      return Count();
    });
  }

  // Neighbours share their frames, so equal texts are parsed once.
  StackId ReadFrames(const JsonValue& value) {
    const auto known = stack_of_text_.find(value.text);
    if (known != stack_of_text_.end()) return known->second;
    if (value.kind != JsonValue::Kind::kArray) {
      json_.BadValue(value);
      return StackId::kNone;
    }
    struct Texts {
      std::string file, function;
      int64_t line = 0;
    };
    std::vector<Texts> texts;
    JsonScanner scanner(value.text);
    std::vector<JsonMember> members;
    WalkArray(&scanner, [&] {
      if (scanner.Peek() != '{' || !scanner.ReadMembers(&members)) return false;
      Texts& frame = texts.emplace_back();
      for (const JsonMember& member : members) {
        if (member.key.text == "filename") frame.file = DecodedText(member.value);
        if (member.key.text == "name") frame.function = DecodedText(member.value);
        if (member.key.text == "line") frame.line = json_.Integer(member.value, 0);
      }
      return true;
    });
    std::vector<SnapshotFrame> frames;
    frames.reserve(texts.size());
    for (const Texts& frame : texts)
      frames.push_back({frame.file, frame.function, frame.line});
    const StackId stack = tables_.AddStack(frames);
    Remember(value.text, stack);
    return stack;
  }

  void Remember(std::string_view frames, StackId stack) {
    constexpr size_t kMaxSize = size_t{4} << 20;
    text_bytes_ += frames.size();
    if (text_bytes_ > kMaxSize) {
      stack_of_text_.clear();
      text_bytes_ = frames.size();
    }
    stack_of_text_.emplace(frames, stack);
  }

  void Keep(const JsonValue& key, const JsonValue& value, std::string* extra) {
    if (!AppendCleanMember(extra, {key, value})) json_.BadValue(value);
  }

  bool Count() { return json_.CountRow(json_.is_due() ? tables_.memory_bytes() + text_bytes_ : 0); }

  JsonImport json_;
  DocumentScanner& scanner_;
  TraceBuilder* builder_;
  MemorySnapshotTables tables_;
  SnapshotRowTest rows_;
  // The segment being read with its blocks, and the device of the actions.
  SnapshotSegment segment_;
  std::string segment_extra_;
  std::vector<Block> blocks_;
  size_t whole_blocks_ = 0;
  uint64_t segment_row_ = DocumentScanner::kNoRow;
  int64_t device_ = 0;
  std::unordered_map<std::string, StackId, TextHash, std::equal_to<>> stack_of_text_;  // the most recent ones
  size_t text_bytes_ = 0;                                                              // of stack_of_text_
};

}  // namespace

bool LooksLikeMemorySnapshotJson(std::span<const std::byte> head) {
  const JsonHead json = ReadJsonHead(head);
  const auto has = [&](std::string_view name) { return json.rest.find(name) != std::string_view::npos; };
  // The first segment may be faulty.
  const bool has_segments = has("\"total_size\"") && has("\"segment_type\"") && has("\"blocks\"");
  if (json.first == '[' && has_segments && json.Find("ph") == nullptr) return true;
  if (json.first == '[') return json.Find("total_size") != nullptr && json.Find("address") != nullptr;
  if (json.is_chrome_trace()) return false;
  const JsonHeadMember* segments = json.Find("segments");
  const JsonHeadMember* traces = json.Find("device_traces");
  return (segments != nullptr && segments->first == '[') || (traces != nullptr && traces->first == '[');
}

Status ImportMemorySnapshotJson(TextSource* text, std::string_view name, const ImportOptions& options,
                                TraceBuilder* builder) {
  return SnapshotDocument(text, options, builder).Import(name);
}

}  // namespace opscope
