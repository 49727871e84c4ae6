// Traces for C: open, facts, problems, columns, other formats. Columns are handed out in place: the strong
// types of types.h have the layout of the integer inside, which PlainColumn checks at compile time.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/trace.h"

#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "c_api/handles.h"
#include "c_api/structs.h"
#include "opscope/export.h"
#include "opscope/import.h"

using opscope::ErrorCode;
using opscope::c_api::Fail;
using opscope::c_api::Guard;
using opscope::c_api::NullArgument;

opscope_trace::opscope_trace(opscope::Trace imported) : trace(std::move(imported)) {
  const opscope::ProblemColumns& columns = trace.problems();
  problems.reserve(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    problems.push_back({std::string(trace.text(columns.kind[i])), std::string(trace.text(columns.message[i]))});
  }
}

namespace opscope::c_api {
namespace {

opscope_code ReturnTrace(Result<Trace> imported, opscope_trace** trace, opscope_error* error) {
  if (!imported.ok()) return Report(imported.error(), error);
  *trace = std::make_unique<opscope_trace>(std::move(imported).value()).release();
  return OPSCOPE_OK;
}

std::string UnknownFormat(const char* format) {
  std::string message = "there is no format \"" + std::string(format) + "\"; formats:";
  for (const std::string_view name : ExportFormatNames())
    message.append(" ").append(name);
  return message;
}

bool ReadOptions(const opscope_import_options* given, ImportOptions* options) {
  opscope_import_options ours = OPSCOPE_IMPORT_OPTIONS_INIT;
  if (!ReadStruct(given, &ours)) return false;
  options->max_memory = ours.max_memory;
  return true;
}

// `given`: options with `compression` and `small_gzip`. False: there is no such compression.
template <typename Given, typename Options>
bool ReadCompression(const Given& given, Options* options) {
  if (given.compression < OPSCOPE_COMPRESSION_FROM_NAME || given.compression > OPSCOPE_COMPRESSION_ZSTD) return false;
  options->compression_from_name = given.compression == OPSCOPE_COMPRESSION_FROM_NAME;
  if (!options->compression_from_name) options->compression = static_cast<Compression>(given.compression);
  options->small_gzip = given.small_gzip != 0;
  return true;
}

opscope_code UnknownCompression(opscope_error* error) {
  return Fail(error, ErrorCode::kInvalidArgument, "options: compression is not an OPSCOPE_COMPRESSION_*");
}

struct Blocks {
  std::vector<RecordingBlock> blocks;
  bool complete = true;
};

// The recorder calls it: nothing may be thrown through there.
void AddBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto* to = static_cast<Blocks*>(context);
  try {
    to->blocks.push_back({type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
  } catch (const std::bad_alloc&) {
    to->complete = false;
  }
}

// Strong types have the layout of the integer inside (types.h).
template <typename Plain, typename Strong>
const Plain* PlainColumn(std::span<const Strong> column) {
  static_assert(sizeof(Plain) == sizeof(Strong));
  return reinterpret_cast<const Plain*>(column.data());
}

}  // namespace

opscope_code ReturnText(const std::string& text, char** out, opscope_error* error) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return Fail(error, ErrorCode::kOutOfMemory, kOutOfMemoryText);
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return OPSCOPE_OK;
}

}  // namespace opscope::c_api

opscope_code opscope_trace_open(const char* path, const opscope_import_options* options, opscope_trace** trace,
                                opscope_error* error) {
  if (path == nullptr || trace == nullptr) return NullArgument(error);
  *trace = nullptr;
  opscope::ImportOptions import;
  if (!opscope::c_api::ReadOptions(options, &import)) return opscope::c_api::UnknownMembers(error);
  return Guard(error, [&] { return opscope::c_api::ReturnTrace(opscope::ImportFile(path, import), trace, error); });
}

opscope_code opscope_trace_open_bytes(const void* bytes, size_t size, const char* name,
                                      const opscope_import_options* options, opscope_trace** trace,
                                      opscope_error* error) {
  if ((bytes == nullptr && size != 0) || trace == nullptr) return NullArgument(error);
  *trace = nullptr;
  opscope::ImportOptions import;
  if (!opscope::c_api::ReadOptions(options, &import)) return opscope::c_api::UnknownMembers(error);
  const std::span<const std::byte> input(static_cast<const std::byte*>(bytes), size);
  return Guard(error, [&] {
    const char* shown = name == nullptr ? "bytes" : name;
    return opscope::c_api::ReturnTrace(opscope::ImportBytes(input, shown, import), trace, error);
  });
}

opscope_code opscope_trace_of_profiler(const opscope_profiler* profiler, opscope_trace** trace, opscope_error* error) {
  if (profiler == nullptr || trace == nullptr) return NullArgument(error);
  *trace = nullptr;
  const opscope::Window* window = opscope::c_api::WindowOf(profiler);
  if (window == nullptr) return Fail(error, ErrorCode::kInvalidArgument, "profiler: nothing is recorded yet");
  return Guard(error, [&] {
    opscope::c_api::Blocks read;
    opscope_window_read(window, opscope::c_api::AddBlock, &read);
    if (!read.complete || read.blocks.empty()) return Fail(error, ErrorCode::kOutOfMemory, opscope::kOutOfMemoryText);
    return opscope::c_api::ReturnTrace(opscope::ImportRecording(read.blocks), trace, error);
  });
}

void opscope_trace_free(opscope_trace* trace) {
  delete trace;
}

opscope_code opscope_trace_get_info(const opscope_trace* trace, opscope_trace_info* info) {
  if (trace == nullptr || info == nullptr) return OPSCOPE_INVALID_ARGUMENT;
  const opscope::Trace& of = trace->trace;
  opscope_trace_info now = OPSCOPE_TRACE_INFO_INIT;
  now.format = of.info().format.c_str();
  now.format_version = of.info().format_version.c_str();
  now.compressed = of.info().compressed.c_str();
  now.options_json = of.info().options_json.c_str();
  now.recorded = of.info().recorded;
  now.dropped = of.info().dropped;
  now.epoch_ns = of.info().epoch_ns;
  now.memory_bytes = of.memory_bytes();
  now.processes = of.processes().size();
  now.tracks = of.tracks().size();
  now.spans = of.spans().size();
  now.async_spans = of.async_spans().size();
  now.instants = of.instants().size();
  now.counters = of.counters().size();
  now.flows = of.flows().size();
  now.allocations = of.allocations().size();
  now.steps = of.steps().size();
  now.strings = of.string_count();
  now.problems = of.problems().size();
  now.is_partial = of.is_partial() ? 1 : 0;
  return opscope::c_api::WriteStruct(now, info);
}

opscope_code opscope_trace_get_problem(const opscope_trace* trace, uint64_t index, opscope_problem* problem) {
  if (trace == nullptr || problem == nullptr || index >= trace->problems.size()) return OPSCOPE_INVALID_ARGUMENT;
  const opscope::ProblemColumns& columns = trace->trace.problems();
  opscope_problem row = OPSCOPE_PROBLEM_INIT;
  row.kind = trace->problems[index].kind.c_str();
  row.message = trace->problems[index].message.c_str();
  row.count = columns.count[index];
  row.first_offset = columns.first_offset[index];
  row.severity = static_cast<uint8_t>(columns.severity[index]);
  return opscope::c_api::WriteStruct(row, problem);
}

opscope_code opscope_trace_get_spans(const opscope_trace* trace, opscope_spans* spans) {
  if (trace == nullptr || spans == nullptr) return OPSCOPE_INVALID_ARGUMENT;
  const opscope::SpanColumns& columns = trace->trace.spans();
  opscope_spans view = OPSCOPE_SPANS_INIT;
  view.count = columns.size();
  view.start_ns = opscope::c_api::PlainColumn<int64_t>(columns.start);
  view.duration_ns = opscope::c_api::PlainColumn<int64_t>(columns.duration);
  view.name = opscope::c_api::PlainColumn<uint32_t>(columns.name);
  view.track = opscope::c_api::PlainColumn<uint32_t>(columns.track);
  view.parent = opscope::c_api::PlainColumn<uint32_t>(columns.parent);
  view.depth = columns.depth.data();
  return opscope::c_api::WriteStruct(view, spans);
}

const char* opscope_trace_string(const opscope_trace* trace, uint32_t string, size_t* text_size) {
  if (trace == nullptr || text_size == nullptr || string >= trace->trace.string_count()) return nullptr;
  const std::string_view text = trace->trace.text(static_cast<opscope::StringId>(string));
  *text_size = text.size();
  return text.data() == nullptr ? "" : text.data();
}

opscope_code opscope_export_chrome(const opscope_trace* trace, const char* path, const opscope_chrome_options* options,
                                   opscope_error* error) {
  if (trace == nullptr || path == nullptr) return NullArgument(error);
  opscope_chrome_options given = OPSCOPE_CHROME_OPTIONS_INIT;
  if (!opscope::c_api::ReadStruct(options, &given)) return opscope::c_api::UnknownMembers(error);
  return Guard(error, [&] {
    opscope::ChromeExportOptions chrome;
    if (!opscope::c_api::ReadCompression(given, &chrome)) return opscope::c_api::UnknownCompression(error);
    if (given.trace_name != nullptr) chrome.trace_name = given.trace_name;
    return opscope::c_api::Report(opscope::ExportChromeTrace(trace->trace, path, chrome), error);
  });
}

opscope_code opscope_export_opscope(const opscope_trace* trace, const char* path, opscope_error* error) {
  if (trace == nullptr || path == nullptr) return NullArgument(error);
  return Guard(error, [&] { return opscope::c_api::Report(opscope::ExportOpscope(trace->trace, path), error); });
}

opscope_code opscope_export(const opscope_trace* trace, const char* format, const char* path,
                            const opscope_export_options* options, char** left_out, opscope_error* error) {
  if (left_out != nullptr) *left_out = nullptr;
  if (trace == nullptr || format == nullptr || path == nullptr) return NullArgument(error);
  opscope_export_options given = OPSCOPE_EXPORT_OPTIONS_INIT;
  if (!opscope::c_api::ReadStruct(options, &given)) return opscope::c_api::UnknownMembers(error);
  return Guard(error, [&] {
    opscope::ExportOptions how;
    if (!opscope::c_api::ReadCompression(given, &how)) return opscope::c_api::UnknownCompression(error);
    const auto known = opscope::ExportFormatFromName(format);
    if (!known) return Fail(error, ErrorCode::kInvalidArgument, opscope::c_api::UnknownFormat(format));
    if (given.table != nullptr) how.table = given.table;
    how.merge_threads = given.merge_threads != 0;
    const opscope::Result<opscope::Exported> exported = opscope::ExportTrace(trace->trace, *known, path, how);
    if (!exported.ok()) return opscope::c_api::Report(exported.error(), error);
    if (left_out == nullptr) return OPSCOPE_OK;
    return opscope::c_api::ReturnText(opscope::ExportedText(*known, exported.value()), left_out, error);
  });
}
