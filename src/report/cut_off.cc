// Describes a recording that was cut off: why the snapshot was written, and the open spans of each thread as an
// indented stack with the time since each began. Deep stacks keep the four outermost and sixteen innermost spans, which
// name the program phase and the place where it hangs.
// SPDX-License-Identifier: Apache-2.0
#include "report/cut_off.h"

#include <algorithm>
#include <ctime>

#include "base/escaped_text.h"
#include "report/human_units.h"

namespace opscope {
namespace {

constexpr size_t kShownThreads = 20;
constexpr size_t kShownOuter = 4;  // outermost and innermost spans shown of a deeper stack
constexpr size_t kShownInner = 16;

std::string Why(const DumpCause& cause) {
  const std::string& detail = cause.detail;
  if (cause.reason == "request") return "the program asked for it" + (detail.empty() ? "" : ": " + detail);
  if (cause.reason == "signal") return "the signal " + detail + " came";
  if (cause.reason == "exception") return detail + " left the recorded block, or was not caught";
  if (cause.reason == "no_step" && !detail.empty()) return "there was " + detail;
  return cause.reason + (detail.empty() ? "" : ": " + detail);
}

std::string UtcTime(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  char text[40];
  if (gmtime_r(&seconds, &parts) == nullptr) return std::to_string(unix_ns) + " ns since 1970";
  return {text, std::strftime(text, sizeof(text), "%F %T UTC", &parts)};
}

std::string ThreadTitle(const Trace& trace, TrackId track) {
  const TrackColumns& tracks = trace.tracks();
  const std::string_view name = trace.text(tracks.name[Row(track)]);
  std::string title = "thread " + std::to_string(tracks.tid[Row(track)]);
  if (!name.empty()) title += " (" + EscapedText(name) + ")";
  const ProcessColumns& processes = trace.processes();
  if (processes.size() > 1) title += " of process " + std::to_string(processes.pid[Row(tracks.process[Row(track)])]);
  return title;
}

void AppendThread(const Trace& trace, const OpenSpans& thread, std::string* out) {
  *out += "Open on " + ThreadTitle(trace, thread.track) + (thread.spans.empty() ? ": nothing\n" : "\n");
  const size_t count = thread.spans.size();
  const bool is_deep = count > kShownOuter + kShownInner;
  for (size_t at = 0; at < count; ++at) {
    if (is_deep && at == kShownOuter) {
      at = count - kShownInner;
      *out += "  (" + std::to_string(at - kShownOuter) + " more)\n";
    }
    const uint32_t span = Row(thread.spans[at]);
    const std::string time = HumanTime(trace.spans().duration[span].ns);
    *out += std::string(time.size() < 12 ? 12 - time.size() : 0, ' ') + time + "  ";
    out->append(std::min(at, kShownOuter + kShownInner), ' ');
    *out += EscapedText(trace.text(trace.spans().name[span])) + "\n";
  }
}

void AppendThreadJson(const Trace& trace, const OpenSpans& thread, std::string* out) {
  const TrackColumns& tracks = trace.tracks();
  JsonObject object(out);
  object.Int("pid", trace.processes().pid[Row(tracks.process[Row(thread.track)])]);
  object.Int("tid", tracks.tid[Row(thread.track)]);
  object.Text("thread", trace.text(tracks.name[Row(thread.track)]));
  object.Key("spans");
  *out += '[';
  for (const SpanId id : thread.spans) {
    if (id != thread.spans.front()) *out += ',';
    JsonObject span(out);
    span.Text("name", trace.text(trace.spans().name[Row(id)]));
    span.Text("category", trace.text(trace.spans().category[Row(id)]));
    span.Int("open_ns", trace.spans().duration[Row(id)].ns);
    span.Close();
  }
  *out += ']';
  object.Close();
}

}  // namespace

std::string DescribeDump(const DumpCause& cause) {
  return Why(cause) + " (dump " + std::to_string(cause.number) + ", " + UtcTime(cause.unix_ns) + ")";
}

std::string FormatOpenSpans(const Trace& trace) {
  std::string out;
  const std::vector<OpenSpans> threads = FindOpenSpans(trace);
  for (size_t i = 0; i < std::min(threads.size(), kShownThreads); ++i)
    AppendThread(trace, threads[i], &out);
  if (threads.size() > kShownThreads) {
    out += "(" + std::to_string(threads.size() - kShownThreads) + " more threads; --json has them)\n";
  }
  return out;
}

void AddCutOff(const Trace& trace, JsonObject* object, std::string* out) {
  if (const std::optional<DumpCause> cause = CauseOfDump(trace)) {
    object->Key("dump");
    JsonObject dump(out);
    dump.Text("reason", cause->reason);
    dump.Text("detail", cause->detail);
    dump.Text("why", Why(*cause));
    dump.Uint("number", cause->number);
    dump.Text("unix_ns", std::to_string(cause->unix_ns));
    dump.Close();
  }
  const std::vector<OpenSpans> threads = FindOpenSpans(trace);
  if (threads.empty()) return;
  object->Key("open");
  *out += '[';
  for (const OpenSpans& thread : threads) {
    *out += &thread == threads.data() ? "\n" : ",\n";
    AppendThreadJson(trace, thread, out);
  }
  *out += "\n]";
}

}  // namespace opscope
