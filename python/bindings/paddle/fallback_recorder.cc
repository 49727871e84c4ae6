// A fallback recorder in Python for the parts of Paddle that the source cannot record in C++ (an unknown version of
// Paddle, say).
// The source keeps two function tables, one per part; each function here takes the GIL and calls a method of the
// registered Python object, which drives Paddle's own profiler.
//
// When a recording stops, the object returns a file of Paddle's protobuf. It is read with the ordinary importer and its
// spans and allocations are appended, thread by thread, to the window of the recording, as if the source had recorded
// them. Two rows of the file belong to one thread: "thread 78:MainThread(Python)" and "thread 78:MainThread(C++)" both
// become thread 78.
//
// The callers are C++ code of Paddle, on threads that may outlive the interpreter: no exception leaves these functions,
// and after the end of Python they return at once instead of asking for the GIL.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/paddle/fallback_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <forward_list>
#include <map>
#include <string_view>
#include <vector>

#include "opscope/import.h"

namespace opscope::python {
namespace {

constexpr PaddlePart kFallbackParts[] = {PaddlePart::kNative, PaddlePart::kWrappers};

const PaddleSource* source_of_all = nullptr;
std::array<PyObject*, 2> objects{};  // in the order of kFallbackParts; never released

// True after the interpreter has ended: then the GIL must not be requested.
bool IsPythonGone() {
  return Py_IsInitialized() == 0;
}

nb::handle Object(size_t which) {
  return objects[which];
}

// What one thread recorded: the Python row and the C++ row of the file together.
struct Recorded {
  std::string name;
  std::vector<PaddleRange> ranges;
  std::vector<PaddleBlock> blocks;
};

// The thread's name in a row's name: "MainThread" of "thread 78:MainThread(C++)".
std::string_view NameOfThread(std::string_view row) {
  const size_t begin = row.find(':') + 1;
  const size_t end = row.rfind('(');
  return end == std::string_view::npos || end < begin ? row : row.substr(begin, end - begin);
}

uint64_t NumberOfThread(const Trace& trace, size_t track) {
  const StringId text = trace.tracks().tid_text[track];
  auto number = static_cast<uint64_t>(trace.tracks().tid[track]);
  if (text == StringId::kNone) return number;
  const std::string_view digits = trace.text(text);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

uint32_t TypeNamed(std::string_view name) {
  const auto* found = std::find(std::begin(kPaddleEventTypeNames), std::end(kPaddleEventTypeNames), name);
  return static_cast<uint32_t>(found == std::end(kPaddleEventTypeNames)
                                   ? static_cast<ptrdiff_t>(PaddleEventType::kUserDefined)
                                   : found - std::begin(kPaddleEventTypeNames));
}

std::map<uint64_t, Recorded> ThreadsOf(const Trace& trace, std::forward_list<std::string>* names) {
  std::vector<const char*> texts(trace.string_count(), nullptr);
  const auto text_of = [&](StringId id) {
    if (id == StringId::kNone) return "";
    const char*& text = texts[static_cast<size_t>(id)];
    if (text == nullptr) text = names->emplace_front(trace.text(id)).c_str();
    return text;
  };
  std::map<uint64_t, Recorded> threads;
  const auto unix_ns = [&](Timestamp time) { return static_cast<uint64_t>(trace.info().epoch_ns + time.ns); };
  const TrackColumns& tracks = trace.tracks();
  const SpanColumns& spans = trace.spans();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kThread) continue;
    Recorded& thread = threads[NumberOfThread(trace, track)];
    if (tracks.name[track] != StringId::kNone) thread.name = NameOfThread(trace.text(tracks.name[track]));
    const uint32_t first = tracks.first_span[track];
    for (uint32_t row = first + tracks.span_count[track]; row-- > first;) {  // backward: a child before its parent
      const uint64_t start = unix_ns(spans.start[row]);
      thread.ranges.push_back({text_of(spans.name[row]), start, start + static_cast<uint64_t>(spans.duration[row].ns),
                               TypeNamed(trace.text(spans.category[row]))});
    }
  }
  const AllocationColumns& blocks = trace.allocations();
  for (size_t row = 0; row < blocks.size(); ++row) {
    threads[NumberOfThread(trace, static_cast<size_t>(blocks.track[row]))].blocks.push_back(
        {unix_ns(blocks.time[row]), blocks.address[row], blocks.bytes[row]});
  }
  return threads;
}

bool AppendFile(Window* window, int descriptor) {
  const Result<Trace> trace = ImportDescriptor(descriptor, {.name = "the protobuf of Paddle's own profiler"});
  close(descriptor);
  if (!trace.ok()) return false;
  std::forward_list<std::string> names;
  for (auto& [number, thread] : ThreadsOf(trace.value(), &names)) {
    std::stable_sort(thread.ranges.begin(), thread.ranges.end(),
                     [](const PaddleRange& a, const PaddleRange& b) { return a.end_ns < b.end_ns; });
    source_of_all->append(window, {thread.name.c_str(), number, thread.ranges, thread.blocks});
  }
  return true;
}

template <size_t kWhich>
const char* Start(uint32_t flags) {
  static constinit const char* const kRaised = "Paddle's Python raised an error";
  if (IsPythonGone()) return "Python ends";
  const nb::gil_scoped_acquire held;
  try {
    // Texts are returned as pointers that the caller may read at any later time.
    static std::forward_list<std::string>& told = *new std::forward_list<std::string>;
    const nb::object answer = Object(kWhich).attr("start")((flags & paddle_source_flags::kShapes) != 0,
                                                           (flags & paddle_source_flags::kMemory) != 0);
    const std::string why = FromText(answer);
    return why.empty() ? nullptr : told.emplace_front(why).c_str();
  } catch (...) {
    return kRaised;
  }
}

template <size_t kWhich>
bool Stop(Window* window) {
  if (IsPythonGone()) return false;
  int descriptor = -1;
  {
    const nb::gil_scoped_acquire held;
    try {
      const nb::object file = Object(kWhich).attr("stop")();
      if (file.is_none()) return true;
      descriptor = nb::cast<int>(file);
    } catch (...) {
      return false;
    }
  }
  return AppendFile(window, descriptor);
}

void* Enter(const char* name, size_t name_size, uint32_t event_type) {
  if (IsPythonGone()) return nullptr;
  const nb::gil_scoped_acquire held;
  const nb::error_scope of_program;  // a call of Python with an exception under way would replace it
  try {
    return Object(0).attr("enter")(ToText({name, name_size}), event_type).release().ptr();
  } catch (...) {
    return nullptr;
  }
}

void Exit(void* range) {
  if (IsPythonGone()) return;
  const nb::gil_scoped_acquire held;
  const nb::error_scope of_program;  // as of a layer whose forward() raised
  try {
    nb::steal(static_cast<PyObject*>(range)).attr("end")();
  } catch (...) {  // Paddle's C++ code cannot handle an exception
  }
}

constexpr PaddleFallbackRecorder kNative = {.start = &Start<0>, .stop = &Stop<0>, .enter = &Enter, .exit = &Exit};
constexpr PaddleFallbackRecorder kWrappers = {.start = &Start<1>, .stop = &Stop<1>};

}  // namespace

void SetFallbackRecorder(const PaddleSource* source, PaddlePart part, nb::object object) {
  const auto* found = std::find(std::begin(kFallbackParts), std::end(kFallbackParts), part);
  if (found == std::end(kFallbackParts))
    throw nb::value_error("this part of the Paddle source has no fallback recorder");
  PyObject*& recorder = objects[static_cast<size_t>(found - kFallbackParts)];
  if (recorder == nullptr) recorder = object.release().ptr();
  source_of_all = source;
  source->set_fallback_recorder(part, part == PaddlePart::kNative ? &kNative : &kWrappers);
}

}  // namespace opscope::python
