// A stream of one batch: the whole table. Its functions are called by C code, through which nothing may be thrown.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "export/arrow_array.h"

namespace opscope {
namespace {

struct StreamState {
  std::shared_ptr<const Trace> trace;
  TableView table;
  bool finished = false;
  bool is_memory_short = false;
};

StreamState* StateOf(ArrowArrayStream* stream) {
  return static_cast<StreamState*>(stream->private_data);
}

// Runs make(); 0, or the code for a failed allocation.
template <typename Make>
int OrNoMemory(StreamState* state, const Make& make) {
  try {
    make();
    return 0;
  } catch (const std::bad_alloc&) {
    state->is_memory_short = true;
  } catch (const std::length_error&) {  // a container larger than the address space
    state->is_memory_short = true;
  }
  return ENOMEM;
}

int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  StreamState* state = StateOf(stream);
  *out = {};
  return OrNoMemory(state, [&] { MakeArrowSchema(state->table, out); });
}

int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  StreamState* state = StateOf(stream);
  *out = {};  // without a release function: the end of the stream
  if (state->finished) return 0;
  state->finished = true;
  return OrNoMemory(state, [&] { MakeArrowArray(state->trace, state->table, out); });
}

const char* GetLastError(ArrowArrayStream* stream) {
  return StateOf(stream)->is_memory_short ? kOutOfMemoryText : nullptr;
}

void Release(ArrowArrayStream* stream) {
  std::unique_ptr<StreamState> state(StateOf(stream));
  stream->release = nullptr;
}

}  // namespace

Status OpenArrowStream(std::shared_ptr<const Trace> trace, std::string_view table, ArrowArrayStream* stream) {
  std::optional<TableView> view = FindTable(*trace, table);
  if (!view) return Error{ErrorCode::kInvalidArgument, "no table named '" + std::string(table) + "'"};
  OpenArrowStream(std::move(trace), *std::move(view), stream);
  return {};
}

void OpenArrowStream(std::shared_ptr<const Trace> trace, TableView table, ArrowArrayStream* stream) {
  auto state = std::make_unique<StreamState>();
  state->table = std::move(table);
  state->trace = std::move(trace);
  *stream = {&GetSchema, &GetNext, &GetLastError, &Release, state.release()};
}

}  // namespace opscope
