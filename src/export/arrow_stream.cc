// A stream of one batch: the whole table.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "export/arrow_array.h"

namespace opscope {
namespace {

struct StreamState {
  std::shared_ptr<const Trace> trace;
  TableView table;
  bool finished = false;
};

StreamState* StateOf(ArrowArrayStream* stream) {
  return static_cast<StreamState*>(stream->private_data);
}

int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  MakeArrowSchema(StateOf(stream)->table, out);
  return 0;
}

int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  StreamState* state = StateOf(stream);
  *out = {};  // without a release function: the end of the stream
  if (state->finished) return 0;
  state->finished = true;
  MakeArrowArray(state->trace, state->table, out);
  return 0;
}

const char* GetLastError(ArrowArrayStream*) {
  return nullptr;
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
