// Reads torch.cuda.memory._dump_snapshot(): the dict of _snapshot() as a pickle, {"segments": [...], "device_traces":
// [[...], ...], ...}, or the bare list of segments of versions before 2.0. memory_snapshot.h describes the resulting
// rows, pickle_reader.h the accepted values.
//
// A pickle can refer to a list many times, so a small file could describe an unlimited number of rows: rows are limited
// to the number of bytes, and texts of shared values to a kilobyte.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json_object.h"
#include "base/text.h"
#include "import/text/malformed.h"
#include "import/text/text_source.h"
#include "import/torch/importer.h"
#include "import/torch/memory_snapshot.h"
#include "import/torch/pickle_reader.h"

namespace opscope {
namespace {

using Kind = PickleValue::Kind;
constexpr size_t kLongestText = 1024;  // bytes of other members as JSON; metadata may be 64 times as long
constexpr int kDeepest = 16;

class SnapshotPickle {
 public:
  SnapshotPickle(std::string_view file, const ImportOptions& options, TraceBuilder* builder)
      : file_(file), options_(options), builder_(builder), tables_(builder), reader_(file) {}

  Status Import(std::string_view name) {
    const uint64_t limit = options_.max_memory;
    const uint64_t left = limit > file_.size() ? limit - file_.size() : 1;
    const PickleReader::End end = reader_.Read(limit == 0 ? 0 : left);
    if (end == PickleReader::End::kRefused) return MalformedAt(name, reader_.offset(), reader_.complaint());
    ReadRoot();
    if (rows_ == 0) {
      if (end == PickleReader::End::kCut || end == PickleReader::End::kDamaged)
        return MalformedAt(name, reader_.offset(), reader_.complaint());
      if (end == PickleReader::End::kWhole && !is_snapshot_)
        return MalformedAt(name, 0, "a pickle without \"segments\" or \"device_traces\", not a memory snapshot");
    }
    const auto offset = static_cast<int64_t>(reader_.offset());
    if (end == PickleReader::End::kCut) builder_->AddProblem("truncated", offset, 1, reader_.complaint());
    if (end == PickleReader::End::kDamaged) builder_->AddProblem("syntax_error", offset, 1, reader_.complaint());
    if (end == PickleReader::End::kOverLimit || over_limit_) builder_->AddProblem("over_memory_limit", offset);
    if (end == PickleReader::End::kWhole && reader_.offset() != file_.size())
      builder_->AddProblem("syntax_error", offset, 1, "bytes after the end of the pickle");
    tables_.Finish();
    builder_->info().format = "torch-memory-snapshot";
    return {};
  }

 private:
  // Calls visit(key, value) for the pairs of a dict that have a text as key.
  template <typename Visit>
  void ForEachMember(const PickleValue& dict, Visit visit) {
    const std::vector<PickleValue>& items = reader_.items(dict);
    if (!IsWorthwhile(items.size())) return;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i].kind == Kind::kText) {
        visit(items[i].text(), items[i + 1]);
      } else {
        BadValue(items[i]);
      }
    }
  }

  // Calls visit(element) for the dicts of a list.
  template <typename Visit>
  void ForEachDict(const PickleValue& list, Visit visit) {
    if (!IsWorthwhile(reader_.items(list).size())) return;
    for (const PickleValue& element : reader_.items(list)) {
      if (stopped_) return;
      if (element.kind == Kind::kDict) {
        visit(element);
      } else {
        builder_->AddProblem("unknown_event", OffsetOf(element));
      }
    }
  }

  void ReadRoot() {
    const PickleValue& root = reader_.root();
    if (root.is_list()) {
      is_snapshot_ = !reader_.items(root).empty() && reader_.items(root)[0].kind == Kind::kDict;
      ForEachDict(root, [&](const PickleValue& segment) { ReadSegment(segment); });
    }
    if (root.kind != Kind::kDict) return;
    ForEachMember(root, [&](std::string_view key, const PickleValue& value) {
      if (key == "segments" && value.is_list()) {
        is_snapshot_ = true;
        ForEachDict(value, [&](const PickleValue& segment) { ReadSegment(segment); });
      } else if (key == "device_traces" && value.is_list()) {
        is_snapshot_ = true;
        ReadTraces(value);
      } else if (key == "external_annotations" && value.is_list()) {
        ForEachDict(value, [&](const PickleValue& annotation) { ReadAnnotation(annotation); });
      } else {
        std::string json;
        AppendJson(value, 64 * kLongestText, 0, &json);
        builder_->AddMetadata(key, json);
      }
    });
  }

  void ReadSegment(const PickleValue& dict) {
    SnapshotSegment segment;
    std::string extra;
    const PickleValue* blocks = nullptr;
    bool has_address = false, has_size = false;
    ForEachMember(dict, [&](std::string_view key, const PickleValue& value) {
      if (key == "blocks" && value.is_list()) {
        blocks = &value;
      } else if (key == "device") {
        segment.device = Integer(value, 0);
      } else if (key == "address") {
        segment.address = Unsigned(value), has_address = true;
      } else if (key == "total_size") {
        segment.total_size = Integer(value, 0), has_size = true;
      } else if (key == "frames") {
        segment.stack = ReadFrames(value);
      } else {
        Keep(key, value, &extra);
      }
    });
    segment.extra = extra;
    // In a segment that is cut off, the blocks present are complete.
    if (reader_.is_closed(dict) || (has_address && has_size)) {
      tables_.AddSegment(segment);
      Count();
    }
    uint64_t address = segment.address;  // in older files blocks have no address: they are adjacent
    if (blocks != nullptr)
      ForEachDict(*blocks, [&](const PickleValue& block) { ReadBlock(block, segment.device, &address); });
  }

  void ReadBlock(const PickleValue& dict, int64_t device, uint64_t* address) {
    if (!reader_.is_closed(dict)) return;
    SnapshotBlock block{.device = device, .address = *address};
    std::string extra;
    ForEachMember(dict, [&](std::string_view key, const PickleValue& value) {
      if (key == "address") {
        block.address = Unsigned(value);
      } else if (key == "size") {
        block.size = Integer(value, 0);
      } else if (key == "requested_size") {
        block.requested_size = Integer(value, -1);
      } else if (key == "state") {
        block.state = Text(value);
      } else if (key == "frames") {
        block.stack = ReadFrames(value);
      } else if (key == "history" && value.is_list()) {
        ReadHistory(value, &block);
      } else {
        Keep(key, value, &extra);
      }
    });
    *address = block.address + static_cast<uint64_t>(block.size);
    block.extra = extra;
    tables_.AddBlock(block);
    Count();
  }

  // Versions 1.13 and 2.0: [{"addr", "real_size", "frames"}, ...], the newest first.
  void ReadHistory(const PickleValue& list, SnapshotBlock* block) {
    if (reader_.items(list).empty() || reader_.items(list)[0].kind != Kind::kDict) return;
    ForEachMember(reader_.items(list)[0], [&](std::string_view key, const PickleValue& value) {
      if (key == "real_size") block->requested_size = Integer(value, -1);
      if (key == "frames") block->stack = ReadFrames(value);
    });
  }

  // One list per device, in the order of the devices.
  void ReadTraces(const PickleValue& traces) {
    int64_t device = 0;
    for (const PickleValue& trace : reader_.items(traces)) {
      if (stopped_) return;
      if (trace.is_list()) {
        ForEachDict(trace, [&](const PickleValue& action) { ReadAction(action, device); });
      } else {
        BadValue(trace);
      }
      ++device;
    }
  }

  void ReadAction(const PickleValue& dict, int64_t device) {
    if (!reader_.is_closed(dict)) return;
    SnapshotAction row{.device = device};
    std::string extra;
    ForEachMember(dict, [&](std::string_view key, const PickleValue& value) {
      if (key == "action") {
        row.action = Text(value);
      } else if (key == "addr") {
        row.address = Unsigned(value);
      } else if (key == "size") {
        row.size = Integer(value, 0);
      } else if (key == "time_us") {
        row.time_us = Integer(value, -1);
      } else if (key == "frames") {
        row.stack = ReadFrames(value);
      } else {
        Keep(key, value, &extra);
      }
    });
    row.extra = extra;
    tables_.AddAction(row);
    Count();
  }

  void ReadAnnotation(const PickleValue& dict) {
    if (!reader_.is_closed(dict)) return;
    SnapshotAnnotation row;
    ForEachMember(dict, [&](std::string_view key, const PickleValue& value) {
      if (key == "name") row.name = Text(value);
      if (key == "stage") row.begins = Text(value) == "START";
      if (key == "device") row.device = Integer(value, 0);
      if (key == "time_us") row.time_us = Integer(value, -1);
    });
    tables_.AddAnnotation(row);
    Count();
  }

  // Rows share their frames, so each list is read once.
  StackId ReadFrames(const PickleValue& list) {
    if (!list.is_list()) {
      BadValue(list);
      return StackId::kNone;
    }
    const auto [found, added] = stack_of_list_.try_emplace(list.bits, StackId::kNone);
    if (!added) return found->second;
    std::vector<SnapshotFrame> frames;
    for (const PickleValue& element : reader_.items(list)) {
      if (element.kind != Kind::kDict || !reader_.is_closed(element)) continue;
      SnapshotFrame& frame = frames.emplace_back();
      ForEachMember(element, [&](std::string_view key, const PickleValue& value) {
        if (key == "filename") frame.file = Text(value);
        if (key == "name") frame.function = Text(value);
        if (key == "line") frame.line = Integer(value, 0);
      });
    }
    found->second = tables_.AddStack(frames);
    return found->second;
  }

  int64_t Integer(const PickleValue& value, int64_t otherwise) {
    if (value.kind == Kind::kInteger) return static_cast<int64_t>(value.bits);
    BadValue(value);
    return otherwise;
  }
  std::string_view Text(const PickleValue& value) {
    if (value.kind == Kind::kText) return value.text();
    BadValue(value);
    return {};
  }
  uint64_t Unsigned(const PickleValue& value) {
    if (value.kind == Kind::kUnsigned || (value.kind == Kind::kInteger && static_cast<int64_t>(value.bits) >= 0))
      return value.bits;
    BadValue(value);
    return 0;
  }

  void Keep(std::string_view key, const PickleValue& value, std::string* extra) {
    JsonMemberWriter(extra, JsonMemberWriter::kSpaced).EscapedKey(key.substr(0, kLongestText));
    AppendJson(value, extra->size() + kLongestText, 0, extra);
  }

  // Stops descending when `out` is as long as `longest`.
  void AppendJson(const PickleValue& value, size_t longest, int depth, std::string* out) {
    if (value.is_container()) {
      if (depth == kDeepest || out->size() >= longest) {
        BadValue(value);
        out->append("null");
        return;
      }
      return AppendContainer(value, longest, depth, out);
    }
    switch (value.kind) {
      case Kind::kFalse:
        out->append("false");
        break;
      case Kind::kTrue:
        out->append("true");
        break;
      case Kind::kInteger:
        AppendInt(out, static_cast<int64_t>(value.bits));
        break;
      case Kind::kUnsigned:
        AppendUint(out, value.bits);
        break;
      case Kind::kText:
      case Kind::kBytes:
        AppendJsonString(out, value.text().substr(0, longest));
        if (value.text().size() > longest) BadValue(value);
        break;
      case Kind::kFloat:
        if (std::isfinite(std::bit_cast<double>(value.bits))) {
          std::string text;
          AppendDouble(&text, std::bit_cast<double>(value.bits));
          if (text.find_first_of(".e") == std::string::npos) text += ".0";  // as Python writes it to JSON
          out->append(text);
          break;
        }
        [[fallthrough]];
      default:  // None, and types that JSON cannot hold
        if (value.kind != Kind::kNone) BadValue(value);
        out->append("null");
        break;
    }
  }

  void AppendContainer(const PickleValue& value, size_t longest, int depth, std::string* out) {
    const std::vector<PickleValue>& items = reader_.items(value);
    const bool is_dict = value.kind == Kind::kDict;
    *out += is_dict ? '{' : '[';
    for (size_t i = 0; i + (is_dict ? 1 : 0) < items.size(); ++i) {
      if (out->size() >= longest) {
        BadValue(value);
        break;
      }
      if (i > 0) *out += ", ";
      if (is_dict) {
        AppendKey(items[i], longest, depth, out);
        *out += ": ";
        ++i;
      }
      AppendJson(items[i], longest, depth + 1, out);
    }
    *out += is_dict ? '}' : ']';
  }

  void AppendKey(const PickleValue& key, size_t longest, int depth, std::string* out) {
    if (key.kind == Kind::kText) return AppendJson(key, longest, depth, out);
    std::string text;
    AppendJson(key, longest, depth + 1, &text);
    AppendJsonString(out, text);
  }

  // False: shared values make the result longer than any real file.
  bool IsWorthwhile(size_t items) {
    seen_items_ += items;
    if (!stopped_ && seen_items_ > 16 * file_.size() + 1024) {
      stopped_ = true;
      builder_->AddProblem("syntax_error", -1, 1, "its lists hold each other too many times over");
    }
    return !stopped_;
  }

  void Count() {
    ++rows_;
    if (rows_ % 1024 != 0 || options_.max_memory == 0) return;
    over_limit_ =
        file_.size() + builder_->memory_bytes() + tables_.memory_bytes() + reader_.memory_bytes() > options_.max_memory;
    stopped_ |= over_limit_;
  }

  void BadValue(const PickleValue& value) { builder_->AddProblem("bad_value", OffsetOf(value)); }
  static int64_t OffsetOf(const PickleValue& value) {
    return value.offset == UINT32_MAX ? -1 : static_cast<int64_t>(value.offset);
  }

  std::string_view file_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  MemorySnapshotTables tables_;
  PickleReader reader_;
  std::unordered_map<uint64_t, StackId> stack_of_list_;
  uint64_t rows_ = 0, seen_items_ = 0;
  bool is_snapshot_ = false;
  bool stopped_ = false, over_limit_ = false;
};

}  // namespace

// Protocols 0 and 1 do not say so: a dict or list as the first object of the memo, or without a memo
// (pickletools.optimize) one that begins with a text or a dict.
bool LooksLikePickle(std::span<const std::byte> head) {
  using namespace std::string_view_literals;
  const std::string_view text = AsText(head);
  if (text.size() >= 2 && text[0] == '\x80') return text[1] >= 2 && text[1] <= 5;
  for (const std::string_view begin : {"(dp0\n"sv, "(lp0\n"sv, "}q\0"sv, "]q\0"sv, "}(X"sv, "](}"sv, "(l(dV"sv}) {
    if (text.starts_with(begin)) return true;
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with("(dV") && line.size() < text.size() && line.find(' ') == std::string_view::npos;
}

Status ImportMemorySnapshotPickle(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                                  TraceBuilder* builder) {
  return SnapshotPickle(AsText(bytes), options, builder).Import(name);
}

}  // namespace opscope
