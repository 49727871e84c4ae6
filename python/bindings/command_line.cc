// The `opscope` command. The engine runs it without the GIL. For facts and functions that only Python has it calls
// opscope.__main__.Host, with the GIL: the frameworks, the paths of DuckDB and of the launcher of `opscope run`, Spark,
// the Model Context Protocol. An exception in one of the first three does not end the command: the result is empty.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <sys/auxv.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings.h"
#include "job_engine.h"
#include "opscope/cli.h"
#include "opscope/process_identity.h"

namespace opscope::python {
namespace {

std::string TextOf(nb::handle facts, const char* name) {
  return FromText(nb::cast<nb::str>(facts[name]));
}

HostFacts FactsFrom(nb::handle facts) {
  HostFacts host;
  host.is_present = true;
  host.interpreter = TextOf(facts, "interpreter");
  host.executable = TextOf(facts, "executable");
  host.package = TextOf(facts, "package");
  host.compiler = TextOf(facts, "compiler");
  host.compiler_install = TextOf(facts, "compiler_install");
  host.cache_folder = TextOf(facts, "cache_folder");
  host.cache_state = TextOf(facts, "cache_state");
  host.cache_adapters = nb::cast<uint64_t>(facts["cache_adapters"]);
  host.cache_bytes = nb::cast<uint64_t>(facts["cache_bytes"]);
  host.has_probed_cupti = true;
  host.cupti = TextOf(facts, "cupti");
  host.cupti_version = nb::cast<uint32_t>(facts["cupti_version"]);
  host.cuda_detail = TextOf(facts, "cuda_detail");
  for (nb::handle framework : nb::cast<nb::list>(facts["frameworks"])) {
    HostFramework found = {TextOf(framework, "name"), TextOf(framework, "version"), TextOf(framework, "adapter"),
                           TextOf(framework, "detail"), TextOf(framework, "install")};
    found.route = TextOf(framework, "route");
    found.was_tried = nb::cast<bool>(framework["was_tried"]);
    for (const auto& [part, reason] : nb::cast<nb::dict>(framework["left_out"]))
      found.left_out.emplace_back(FromText(nb::cast<nb::str>(part)), FromText(nb::cast<nb::str>(reason)));
    host.frameworks.push_back(std::move(found));
  }
  for (nb::handle extra : nb::cast<nb::list>(facts["extras"])) {
    HostExtra found = {.name = TextOf(extra, "name"), .purpose = TextOf(extra, "purpose")};
    found.install = TextOf(extra, "install");
    for (const auto& [package, version] : nb::cast<nb::dict>(extra["installed"]))
      found.installed.emplace_back(FromText(package), FromText(version));
    for (nb::handle package : nb::cast<nb::list>(extra["missing"]))
      found.missing.push_back(FromText(package));
    host.extras.push_back(std::move(found));
  }
  return host;
}

// The functions of the host are called without the GIL.

// An exception of Python becomes a fact in the report of `opscope doctor`, too.
HostFacts AskForFacts(nb::handle host) {
  nb::gil_scoped_acquire held;
  try {
    return FactsFrom(host.attr("host_facts")());
  } catch (const std::exception& error) {
    HostFacts facts;
    facts.is_present = true;
    facts.frameworks.push_back({"python", "", "none", std::string("the query failed: ") + error.what(), ""});
    return facts;
  }
}

// "" where Python cannot say.
std::string AskForDuckdb(nb::handle host) {
  nb::gil_scoped_acquire held;
  try {
    return FromText(host.attr("find_duckdb")());
  } catch (const std::exception&) {
    return "";
  }
}

// No folders where Python cannot say.
LauncherFacts AskForLauncher(nb::handle host) {
  nb::gil_scoped_acquire held;
  try {
    const nb::tuple folders = nb::cast<nb::tuple>(host.attr("find_launcher")());
    return {FromPath(folders[0]), FromPath(folders[1])};
  } catch (const std::exception&) {
    return {};
  }
}

int ServeMcp(nb::handle host, const std::vector<std::string>& files) {
  nb::gil_scoped_acquire held;
  nb::list paths;
  for (const std::string& file : files)
    paths.append(ToPath(file));
  try {
    return nb::cast<int>(host.attr("serve_mcp")(paths));
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_Print();
  } catch (const std::exception&) {  // an answer of another type
  }
  return 1;
}

int RunCommandLine(nb::list arguments, nb::object python) {
  std::vector<std::string> texts;
  for (nb::handle argument : arguments)
    texts.emplace_back(nb::cast<nb::bytes>(argument).c_str());
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  CliHost host;
  if (!python.is_none()) {
    host.probe = [&python] { return AskForFacts(python); };
    host.find_duckdb = [&python] { return AskForDuckdb(python); };
    host.find_launcher = [&python] { return AskForLauncher(python); };
    host.open_spark = [&python](const std::string& job, const std::string& master) {
      return OpenPythonEngine(python, job, master);
    };
    host.serve_mcp = [&python](const std::vector<std::string>& files) { return ServeMcp(python, files); };
  }
  return WithoutGil([&] { return RunCli(static_cast<int>(pointers.size()), pointers.data(), host); });
}

nb::dict IdentityOfProcess() {
  const ProcessIdentity identity = FindProcessIdentity();
  nb::dict facts;
  facts["rank"] = identity.rank;
  facts["world_size"] = identity.world_size;
  facts["attempt"] = std::max(identity.attempt, 0);
  facts["host"] = ToText(identity.host);
  return facts;
}

}  // namespace

void BindCommandLine(nb::module_& module) {
  module.def(
      "run_command_line", &RunCommandLine, nb::arg("arguments"), nb::arg("host").none() = nb::none(),
      "Runs `opscope ARGS...` (bytes, the first one is the program's name) and returns the exit code. `host`: an "
      "opscope.__main__.Host, which the command calls; None: as the program without Python.");
  module.def("process_identity", &IdentityOfProcess,
             "Rank (-1: unknown), world_size (0: unknown), attempt (0: the first) and host of this process, as its "
             "launcher says them.");
  module.def(
      "is_secure_process", [] { return getauxval(AT_SECURE) != 0; },
      "Whether the kernel has given the program more rights than its user has (setuid, file capabilities).");
}

}  // namespace opscope::python
