// The `opscope` command. The engine runs it without the GIL; what only Python knows (its frameworks, where DuckDB and
// the launcher of `opscope run` lie, Spark) the engine asks for through four functions, which take the GIL again. An
// exception in one of the first three must not end the command: it becomes an empty answer.
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
  return host;
}

// Called without the GIL. An exception of Python becomes a fact in the report of `opscope doctor`, too.
HostFacts AskPython(nb::handle host_facts) {
  nb::gil_scoped_acquire held;
  try {
    return FactsFrom(host_facts());
  } catch (const std::exception& error) {
    HostFacts host;
    host.is_present = true;
    host.frameworks.push_back({"python", "", "none", std::string("it could not be asked: ") + error.what(), ""});
    return host;
  }
}

// Called without the GIL. "" where Python cannot say.
std::string AskForDuckdb(nb::handle find_duckdb) {
  nb::gil_scoped_acquire held;
  try {
    return FromText(find_duckdb());
  } catch (const std::exception&) {
    return "";
  }
}

// Called without the GIL. No folders where Python cannot say.
LauncherFacts AskForLauncher(nb::handle find_launcher) {
  nb::gil_scoped_acquire held;
  try {
    const nb::tuple folders = nb::cast<nb::tuple>(find_launcher());
    return {FromPath(folders[0]), FromPath(folders[1])};
  } catch (const std::exception&) {
    return {};
  }
}

int RunCommandLine(nb::list arguments, nb::object host_facts, nb::object find_duckdb, nb::object find_launcher,
                   nb::object open_spark) {
  std::vector<std::string> texts;
  for (nb::handle argument : arguments)
    texts.emplace_back(nb::cast<nb::bytes>(argument).c_str());
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  CliHost host;
  if (!host_facts.is_none()) host.probe = [&host_facts] { return AskPython(host_facts); };
  if (!find_duckdb.is_none()) host.find_duckdb = [&find_duckdb] { return AskForDuckdb(find_duckdb); };
  if (!find_launcher.is_none()) host.find_launcher = [&find_launcher] { return AskForLauncher(find_launcher); };
  if (!open_spark.is_none()) {
    host.open_spark = [&open_spark](const std::string& job, const std::string& master) {
      return OpenPythonEngine(open_spark, job, master);
    };
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
      "run_command_line", &RunCommandLine, nb::arg("arguments"), nb::arg("host_facts").none() = nb::none(),
      nb::arg("find_duckdb").none() = nb::none(), nb::arg("find_launcher").none() = nb::none(),
      nb::arg("open_spark").none() = nb::none(),
      "Runs `opscope ARGS...` (bytes, the first one is the program's name) and returns the exit code. "
      "`host_facts`: called by `doctor`, see opscope.doctor; `find_duckdb`: by what needs SQL, see opscope.sql; "
      "`find_launcher`: by `run`, returns the folder of its "
      "sitecustomize and the folder of the package nanobind_backend; `open_spark`: by `--engine spark`, with the JOB "
      "and the address of Spark, returns an engine as job_answer takes it.");
  module.def("process_identity", &IdentityOfProcess,
             "Rank (-1: unknown), world_size (0: unknown), attempt (0: the first) and host of this process, as its "
             "launcher says them.");
  module.def(
      "is_secure_process", [] { return getauxval(AT_SECURE) != 0; },
      "Whether the kernel has given the program more rights than its user has (setuid, file capabilities).");
}

}  // namespace opscope::python
