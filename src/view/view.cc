// Puts the parts of the viewer together: traces, token, server, answers.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/view.h"

#include <utility>

#include "base/catch_bad_alloc.h"
#include "view/access.h"
#include "view/api.h"
#include "view/http_server.h"
#include "view/trace_files.h"

namespace opscope {

struct ViewServer::State {
  State(const ViewOptions& given, std::unique_ptr<TraceFiles> found, HttpServer bound)
      : options(given), files(std::move(found)), api(&options, files.get()), server(std::move(bound)) {}

  ViewOptions options;
  std::unique_ptr<TraceFiles> files;
  ViewApi api;
  ConnectionRules rules;
  std::string address;
  HttpServer server;  // the last one: its threads use the others
};

ViewServer::ViewServer(std::unique_ptr<State> state) : state_(std::move(state)) {
}
ViewServer::ViewServer(ViewServer&& other) noexcept = default;
ViewServer::~ViewServer() = default;

Result<ViewServer> ViewServer::Start(const ViewOptions& options) {
  return CatchBadAlloc("view", [&]() -> Result<ViewServer> {
    Result<HttpServer> server = HttpServer::Bind(options.port);
    if (!server.ok()) return server.error();
    Result<std::unique_ptr<TraceFiles>> files = TraceFiles::Find(options);
    if (!files.ok()) return files.error();
    OPSCOPE_TRY(files.value()->OpenAtStart());
    Result<std::string> token = CreateToken();
    if (!token.ok()) return token.error();
    auto state = std::make_unique<State>(options, std::move(files).value(), std::move(server).value());
    state->address = "http://127.0.0.1:" + std::to_string(state->server.port()) + "/#token=" + token.value();
    state->rules.access.port = state->server.port();
    state->rules.access.token = std::move(token).value();
    state->rules.access.is_path = ViewApi::IsPath;
    state->rules.policy = PolicyHeader(options.page);
    OPSCOPE_TRY(
        state->server.Listen([state = state.get()](const HttpRequest& request) { return state->api.Answer(request); }));
    return ViewServer(std::move(state));
  });
}

const std::string& ViewServer::address() const {
  return state_->address;
}

bool ViewServer::Run() {
  return state_->server.Run(state_->rules, {.idle_s = state_->options.idle_s});
}

void ViewServer::End() {
  state_->server.End();
}

}  // namespace opscope
