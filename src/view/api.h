// The answers to the requests of the page (docs/reference/view_server.md).
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "opscope/view.h"
#include "view/http_request.h"
#include "view/http_response.h"
#include "view/request_body.h"
#include "view/span_details.h"
#include "view/trace_files.h"

namespace opscope {

class ViewApi {
 public:
  // Both arguments must outlive this object.
  ViewApi(const ViewOptions* options, TraceFiles* files);

  [[nodiscard]] static bool IsPath(std::string_view path);
  // REQUIRES: IsPath(request.path)
  [[nodiscard]] HttpResponse Answer(const HttpRequest& request);

 private:
  using TracePointer = std::shared_ptr<const Trace>;
  // A trace and the data of its timeline.
  struct Timeline {
    TracePointer trace;
    SpanDetails details;
    Timeline(TracePointer opened, const SpanDetails::MakeArguments& arguments)
        : trace(std::move(opened)), details(*trace, arguments) {}
  };

  HttpResponse AnswerGet(const HttpRequest& request);
  HttpResponse AnswerPost(const HttpRequest& request);
  HttpResponse ListFiles();
  HttpResponse Document(const HttpRequest& request, size_t file, const TracePointer& trace);
  HttpResponse Span(const HttpRequest& request, size_t file, const TracePointer& opened);
  HttpResponse Spans(const RequestBody& body, size_t file, const TracePointer& trace);
  HttpResponse Search(const RequestBody& body, const Trace& trace);
  HttpResponse Selection(const RequestBody& body, const Trace& trace);
  void DropTimelineOfOthers(size_t file);
  std::shared_ptr<Timeline> TimelineOf(size_t file, const TracePointer& trace);

  const ViewOptions* options_;
  TraceFiles* files_;
  std::string page_;
  Mutex mutex_;
  // Data of the last requested file only: data of other files would keep their traces in memory.
  size_t timeline_file_ OPSCOPE_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Timeline> timeline_ OPSCOPE_GUARDED_BY(mutex_);
  // The last complete data document, for a page that is loaded again, and its key.
  std::shared_ptr<const std::string> document_ OPSCOPE_GUARDED_BY(mutex_);
  std::weak_ptr<const Trace> document_trace_ OPSCOPE_GUARDED_BY(mutex_);
};

}  // namespace opscope
