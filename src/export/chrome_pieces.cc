// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_pieces.h"

#include "base/text.h"

namespace opscope {
namespace {

void AppendSizes(std::string* out, std::span<const int64_t> sizes) {
  *out += '[';
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i != 0) *out += ", ";
    AppendInt(out, sizes[i]);
  }
  *out += ']';
}

// `"Name": [item, item]`
template <typename AppendItem>
void AppendList(std::string* out, std::string_view name, std::span<const Argument> arguments, AppendItem append_item) {
  out->append("\"").append(name).append("\": [");
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i != 0) *out += ", ";
    append_item(arguments[i]);
  }
  *out += ']';
}

// "[2, 4]", of a tensor list "[[3], [3]]"; `of` picks sizes or strides.
template <typename Of>
void AppendShape(std::string* out, const Argument& argument, Of of) {
  if (argument.kind != ArgumentKind::kTensorList || argument.tensors.empty()) {
    AppendSizes(out, argument.kind == ArgumentKind::kTensor ? of(argument) : std::span<const int64_t>());
    return;
  }
  *out += '[';
  for (size_t i = 0; i < argument.tensors.size(); ++i) {
    if (i != 0) *out += ", ";
    AppendSizes(out, of(argument.tensors[i]));
  }
  *out += ']';
}

}  // namespace

std::string ChromeIdentity(const Trace& trace, int64_t number, StringId text) {
  std::string out;
  if (text == StringId::kNone) {
    AppendInt(&out, number);
  } else {
    AppendJsonString(&out, trace.text(text));
  }
  return out;
}

ChromePieces::ChromePieces(const Trace& trace) : slot_(trace.string_count(), 0) {
  // Marks first, one store per row; place 0 is for kNone.
  std::vector<uint8_t> used(trace.string_count() + 1, 0);
  for (const std::span<const StringId> ids :
       {trace.spans().name, trace.spans().category, trace.spans().overload, trace.instants().name,
        trace.instants().category, trace.counters().name, trace.counters().series, trace.flows().name,
        trace.flows().category, trace.async_spans().name, trace.async_spans().category}) {
    for (const StringId id : ids)
      used[Row(id) + 1] = 1;
  }
  escaped_.push_back({});  // row 0: ""
  for (uint32_t id = Row(StringId::kEmpty) + 1; id < trace.string_count(); ++id) {
    if (used[id + 1] != 0) AddName(trace, StringId{id});
  }
  AddTracks(trace);
  AddArguments(trace);
}

void ChromePieces::AddName(const Trace& trace, StringId id) {
  slot_[Row(id)] = static_cast<uint32_t>(escaped_.size());
  const std::string_view text = trace.text(id);
  std::string escaped;
  AppendJsonEscaped(&escaped, text);
  escaped_.push_back(escaped == text ? text : std::string_view(owned_.emplace_back(std::move(escaped))));
}

void ChromePieces::AddTracks(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const ProcessColumns& processes = trace.processes();
  tracks_.resize(tracks.size());
  for (size_t i = 0; i < tracks.size(); ++i) {
    const uint32_t process = Row(tracks.process[i]);
    tracks_[i] = "\"pid\": " + ChromeIdentity(trace, processes.pid[process], processes.pid_text[process]) +
                 ", \"tid\": " + ChromeIdentity(trace, tracks.tid[i], tracks.tid_text[i]);
  }
}

void ChromePieces::AddArguments(const Trace& trace) {
  before_stack_.resize(trace.argument_list_count());
  dims_.resize(trace.argument_list_count());
  for (size_t i = 0; i < before_stack_.size(); ++i) {
    const std::span<const Argument> arguments = trace.arguments(static_cast<ArgsId>(i));
    std::string* out = &before_stack_[i];
    AppendList(out, "Concrete Inputs", arguments,
               [&](const Argument& a) { AppendJsonString(out, trace.text(a.value)); });
    out->append(", ");
    AppendList(out, "Input type", arguments, [&](const Argument& a) { AppendJsonString(out, trace.text(a.dtype)); });
    out->append(", ");
    AppendList(out, "Input Strides", arguments, [&](const Argument& a) {
      AppendShape(out, a, [](const Argument& t) { return t.has_strides ? t.strides : std::span<const int64_t>(); });
    });
    AppendList(&dims_[i], "Input Dims", arguments,
               [&](const Argument& a) { AppendShape(&dims_[i], a, [](const Argument& t) { return t.sizes; }); });
  }
}

}  // namespace opscope
