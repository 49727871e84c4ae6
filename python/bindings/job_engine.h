// An engine for a JOB that is an object of Python with two methods: define(name, select, is_kept), and query(select),
// which returns the names of the columns and the rows as JSON. An opscope.Error of theirs is the error of the engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "opscope/job_engine.h"
#include "opscope/result.h"

namespace opscope::python {

// Called without the GIL, as the engine is.
[[nodiscard]] Result<std::unique_ptr<JobEngine>> WrapEngine(nanobind::handle engine, const std::string& job);

// The engine that `host.open_spark(job, master)` returns.
[[nodiscard]] Result<std::unique_ptr<JobEngine>> OpenPythonEngine(nanobind::handle host, const std::string& job,
                                                                  const std::string& master);

}  // namespace opscope::python
