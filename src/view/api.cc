// Parses the requests of the page, computes their answers and writes them as JSON. Times are those of `opscope info`,
// as in the data document. A wrong request is answered 400, and a file that cannot be read 422; both with a sentence
// that the page shows.
// SPDX-License-Identifier: Apache-2.0
#include "view/api.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json_object.h"
#include "base/parse_whole.h"
#include "base/saturating.h"
#include "opscope/analysis/find_spans.h"
#include "opscope/analysis/select_range.h"
#include "opscope/analysis/timeline_window.h"
#include "opscope/report/timeline_window.h"
#include "view/span_json.h"

namespace opscope {
namespace {

constexpr size_t kDocumentBytes = size_t{8} << 20, kPartialDocumentBytes = size_t{2} << 20;
// The whole document of a trace with fewer spans is written in an instant.
constexpr size_t kSpansWorthTwoDocuments = 200'000;
constexpr size_t kMaxSelectionRows = 20'000;
constexpr int64_t kMaxPixels = 20'000;

struct ViewPath {
  std::string_view path;
  bool is_post;
};
constexpr ViewPath kPaths[] = {{"/", false},           {"/api/files", false}, {"/api/data", false},
                               {"/api/tracks", false}, {"/api/span", false},  {"/api/ping", false},
                               {"/api/spans", true},   {"/api/search", true}, {"/api/selection", true}};

std::optional<uint64_t> QueryNumber(const HttpRequest& request, std::string_view key) {
  const std::optional<std::string> text = request.QueryValue(key);
  return text ? ParseWhole<uint64_t>(*text) : std::nullopt;
}

HttpResponse BadRequest(const Status& status) {
  return ErrorResponse(400, status.error().message);
}

HttpResponse FileFault(const Error& error) {
  return ErrorResponse(error.code == ErrorCode::kOutOfMemory ? 500 : 422, error.message);
}

void AppendSpanOrNull(const Trace& trace, const SpanMatches& matches, uint32_t row, std::string* out) {
  if (matches.count == 0) {
    out->append("null");
  } else {
    AppendSpanJson(trace, row, out);
  }
}

}  // namespace

ViewApi::ViewApi(const ViewOptions* options, TraceFiles* files)
    : options_(options), files_(files), page_(PageThatConnects(options->page)) {
}

bool ViewApi::IsPath(std::string_view path) {
  return std::any_of(std::begin(kPaths), std::end(kPaths), [&](const ViewPath& known) { return known.path == path; });
}

HttpResponse ViewApi::Answer(const HttpRequest& request) {
  const bool is_post = request.method == "POST";
  for (const ViewPath& known : kPaths) {
    if (known.path == request.path && known.is_post != is_post)
      return ErrorResponse(405, known.is_post ? "This path takes POST." : "This path takes GET.");
  }
  return is_post ? AnswerPost(request) : AnswerGet(request);
}

HttpResponse ViewApi::AnswerGet(const HttpRequest& request) {
  if (request.path == "/") return {.content_type = "text/html; charset=utf-8", .body = page_};
  if (request.path == "/api/ping") return {.body = "{}\n"};
  if (request.path == "/api/files") return ListFiles();
  const std::optional<uint64_t> file = QueryNumber(request, "file");
  if (!file || *file >= files_->size()) return ErrorResponse(400, "\"file\" is not the id of a file.");
  DropTimelineOfOthers(*file);
  const Result<TracePointer> trace = files_->Open(*file);
  if (!trace.ok()) return FileFault(trace.error());
  if (request.path == "/api/data") return Document(request, *file, trace.value());
  if (request.path == "/api/tracks")
    return {.body = TimelineTracksJson(*trace.value(), TimelineOf(*file, trace.value())->details.timeline())};
  return Span(request, *file, trace.value());
}

HttpResponse ViewApi::AnswerPost(const HttpRequest& request) {
  RequestBody body;
  if (const Status parsed = body.Parse(request.body); !parsed.ok()) return BadRequest(parsed);
  int64_t file = 0;
  if (const Status read = body.ReadInteger("file", &file); !read.ok()) return BadRequest(read);
  if (file < 0 || static_cast<uint64_t>(file) >= files_->size())
    return ErrorResponse(400, "\"file\" is not the id of a file.");
  const auto number = static_cast<size_t>(file);
  DropTimelineOfOthers(number);
  const Result<TracePointer> trace = files_->Open(number);
  if (!trace.ok()) return FileFault(trace.error());
  if (request.path == "/api/spans") return Spans(body, number, trace.value());
  if (request.path == "/api/search") return Search(body, *trace.value());
  return Selection(body, *trace.value());
}

HttpResponse ViewApi::ListFiles() {
  HttpResponse response;
  JsonObject object(&response.body);
  object.Text("schema", "opscope.view/1");
  std::string& files = object.Key("files");
  files += '[';
  for (size_t i = 0; i < files_->size(); ++i) {
    if (i > 0) files += ',';
    JsonObject file(&files);
    file.Uint("id", i).Text("name", files_->name(i)).Json("open", files_->is_open(i) ? "true" : "false");
    file.Close();
  }
  files += ']';
  object.Int("idle_s", options_->idle_s);
  object.Close();
  return response;
}

// Of a large trace, `part=overview` is a document of the tabs that are shown first: the results of the others take
// several times as long.
HttpResponse ViewApi::Document(const HttpRequest& request, size_t file, const TracePointer& trace) {
  const std::optional<std::string> part = request.QueryValue("part");
  if (part && *part != "overview") return ErrorResponse(400, "\"part\" is not \"overview\".");
  if (!options_->document) return ErrorResponse(500, "This server writes no data documents.");
  {
    const MutexLock lock(mutex_);
    if (document_ && document_trace_.lock() == trace) return {.body = *document_};
  }
  const bool is_partial = part && trace->spans().size() >= kSpansWorthTwoDocuments;
  const size_t max_bytes = is_partial ? kPartialDocumentBytes : kDocumentBytes;
  Result<std::string> document = options_->document(*trace, files_->name(file), max_bytes, is_partial);
  if (!document.ok()) return FileFault(document.error());
  if (is_partial) return {.body = std::move(document).value()};
  auto written = std::make_shared<const std::string>(std::move(document).value());
  const MutexLock lock(mutex_);
  document_ = written;
  document_trace_ = trace;
  return {.body = *written};
}

// By row, or the first span with this track, start and duration.
HttpResponse ViewApi::Span(const HttpRequest& request, size_t file, const TracePointer& opened) {
  const Trace& trace = *opened;
  const SpanColumns& spans = trace.spans();
  std::optional<uint64_t> row = QueryNumber(request, "row");
  if (!row) {
    const std::optional<uint64_t> track = QueryNumber(request, "track");
    const std::optional<std::string> start = request.QueryValue("start");
    const std::optional<uint64_t> duration = QueryNumber(request, "duration");
    if (!track || *track >= trace.tracks().size() || !start || !duration)
      return ErrorResponse(400, "The request needs \"row\", or \"track\", \"start\" and \"duration\".");
    const uint32_t first = trace.tracks().first_span[*track], end = first + trace.tracks().span_count[*track];
    for (uint32_t i = first; i < end && !row; ++i) {
      if (static_cast<uint64_t>(spans.duration[i].ns) == *duration && std::to_string(spans.start[i].ns) == *start)
        row = i;
    }
    if (!row) return ErrorResponse(404, "There is no such span.");
  }
  if (*row >= spans.size()) return ErrorResponse(404, "There is no such span.");
  const auto number = static_cast<uint32_t>(*row);
  HttpResponse response;
  TimelineOf(file, opened)->details.Append(number, &response.body);
  return response;
}

// The timeline holds its trace, which would keep TraceFiles from freeing it under a limit of memory.
void ViewApi::DropTimelineOfOthers(size_t file) {
  const MutexLock lock(mutex_);
  if (options_->max_memory > 0 && timeline_file_ != file) timeline_.reset();
}

std::shared_ptr<ViewApi::Timeline> ViewApi::TimelineOf(size_t file, const TracePointer& trace) {
  const MutexLock lock(mutex_);
  if (!timeline_ || timeline_file_ != file || timeline_->trace != trace) {
    timeline_.reset();
    timeline_ = std::make_shared<Timeline>(trace, options_->arguments);
    timeline_file_ = file;
  }
  return timeline_;
}

HttpResponse ViewApi::Spans(const RequestBody& body, size_t file, const TracePointer& trace) {
  TimelineRange range;
  int64_t pixels = 0;
  if (const Status read = body.ReadRange("range", &range.begin_ns, &range.end_ns); !read.ok()) return BadRequest(read);
  if (const Status read = body.ReadInteger("width", &pixels); !read.ok()) return BadRequest(read);
  if (pixels < 1) return ErrorResponse(400, "\"width\" is not a number of pixels.");
  range.pixels = static_cast<uint32_t>(std::min(pixels, kMaxPixels));
  if (body.Has("tracks")) {
    std::vector<int64_t> tracks;
    if (const Status read = body.ReadIntegers("tracks", &tracks); !read.ok()) return BadRequest(read);
    for (const int64_t track : tracks) {
      if (track < 0 || static_cast<uint64_t>(track) >= trace->tracks().size())
        return ErrorResponse(400, "\"tracks\" has a number that is not one of a track.");
      range.tracks.push_back(static_cast<uint32_t>(track));
    }
    std::sort(range.tracks.begin(), range.tracks.end());
    range.tracks.erase(std::unique(range.tracks.begin(), range.tracks.end()), range.tracks.end());
    if (range.tracks.empty()) range.end_ns = range.begin_ns;
  }
  const std::shared_ptr<Timeline> timeline = TimelineOf(file, trace);
  return {.body = TimelineWindowJson(*trace, TimelineWindow(*trace, timeline->details.timeline(), range))};
}

HttpResponse ViewApi::Search(const RequestBody& body, const Trace& trace) {
  std::string text;
  if (const Status read = body.ReadText("text", &text); !read.ok()) return BadRequest(read);
  std::optional<SpanPlace> place;
  if (body.Has("start")) {
    SpanPlace from;
    int64_t row = 0;
    if (const Status read = body.ReadInteger("start", &from.start_ns); !read.ok()) return BadRequest(read);
    if (body.Has("row")) {
      if (const Status read = body.ReadInteger("row", &row); !read.ok()) return BadRequest(read);
    }
    from.row = static_cast<uint32_t>(std::clamp<int64_t>(row, 0, UINT32_MAX));
    place = from;
  }
  const SpanMatches matches = SpanSearch(trace, text).Around(place);
  HttpResponse response;
  JsonObject object(&response.body);
  object.Uint("count", matches.count).Uint("before", matches.before);
  object.Json("is_match", matches.is_match ? "true" : "false");
  AppendSpanOrNull(trace, matches, matches.next, &object.Key("next"));
  AppendSpanOrNull(trace, matches, matches.previous, &object.Key("previous"));
  object.Close();
  return response;
}

HttpResponse ViewApi::Selection(const RequestBody& body, const Trace& trace) {
  int64_t begin = 0, end = 0;
  if (const Status read = body.ReadRange("range", &begin, &end); !read.ok()) return BadRequest(read);
  const std::vector<SelectedName> rows = SelectRange(trace, begin, end);
  SelectedName rest;
  for (size_t i = kMaxSelectionRows; i < rows.size(); ++i) {
    rest.count += rows[i].count;
    rest.total_with_recursion_ns = SaturatingAdd(rest.total_with_recursion_ns, rows[i].total_with_recursion_ns);
    rest.self_ns = SaturatingAdd(rest.self_ns, rows[i].self_ns);
  }
  const auto append = [](const SelectedName& row, JsonObject* object) {
    object->Uint("count", row.count);
    AppendExactInteger(&object->Key("total_with_recursion_ns"), row.total_with_recursion_ns);
    AppendExactInteger(&object->Key("self_ns"), row.self_ns);
  };
  HttpResponse response;
  JsonObject object(&response.body);
  std::string& list = object.Key("rows");
  list += '[';
  for (size_t i = 0; i < std::min(rows.size(), kMaxSelectionRows); ++i) {
    if (i > 0) list += ',';
    JsonObject row(&list);
    row.Text("name", trace.text(rows[i].name));
    append(rows[i], &row);
    row.Close();
  }
  list += ']';
  if (rows.size() > kMaxSelectionRows) {
    JsonObject folded(&object.Key("folded"));
    folded.Uint("rows", rows.size() - kMaxSelectionRows);
    append(rest, &folded);
    folded.Close();
  } else {
    object.Json("folded", "null");
  }
  object.Close();
  return response;
}

}  // namespace opscope
