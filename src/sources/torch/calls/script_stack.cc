// The text of a stack, as torch's own profiler writes it: one frame per line, innermost first, "file(line): function",
// without the frames that have no source.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/calls/script_stack.h"

#include <torch/csrc/jit/runtime/interpreter.h>

#include <string_view>
#include <tuple>
#include <vector>

#include "base/json_escape.h"
#include "opscope/record.h"
#include "opscope/torch_source.h"

namespace opscope {

constinit std::atomic<bool> scripts_have_run{false};
__thread uint64_t last_queried_window = 0;

namespace {

std::string Frames() {
  std::string text;
  for (const torch::jit::StackEntry& entry : torch::jit::currentCallstack()) {
    const auto position = entry.range.file_line_col();
    if (!position) continue;
    const auto& [file, line, column] = *position;
    text.append(file).append("(").append(std::to_string(line)).append("): ").append(entry.filename).push_back('\n');
  }
  return text;
}

std::string Modules() {
  std::string text;
  for (const std::string& frame : torch::jit::currentModuleHierarchy())
    text.append(frame).push_back('.');
  return text;
}

}  // namespace

void AddScriptStack(uint32_t flags, uint64_t window, std::string* members) {
  if (last_queried_window != window) {
    last_queried_window = window;
    if (torch::jit::currentCallstack().empty()) return;
    scripts_have_run.store(true, std::memory_order_relaxed);
  }
  if ((flags & torch_source_flags::kModules) != 0) {
    const std::string modules = Modules();
    if (!modules.empty()) {
      std::string member = "\"Module Hierarchy\": ";
      AppendQuotedUtf8(&member, modules);
      *members = members->empty() ? member : member + ", " + *members;
    }
  }
  if ((flags & torch_source_flags::kStacks) != 0) {
    const std::string frames = Frames();
    if (!frames.empty()) *members = kFramesMark + frames + kFramesMark + *members;
  }
}

}  // namespace opscope
