// Calls an engine of Python. The answers of a JOB run without the GIL, so each call takes it and gives it back.
// SPDX-License-Identifier: Apache-2.0
#include "job_engine.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "bindings.h"

namespace opscope::python {
namespace {

// The text of opscope.Error and ImportError is meant for users; that of another exception follows its name.
Error ErrorOf(const nb::python_error& error) {
  const std::string text = FromText(nb::str(error.value()));
  if (error.matches(PyExc_ImportError)) return {ErrorCode::kUnsupported, text};
  if (error.matches(nb::module_::import_("opscope").attr("Error"))) return {ErrorCode::kInvalidArgument, text};
  return {ErrorCode::kInvalidArgument, FromText(nb::str(error.type().attr("__name__"))) + ": " + text};
}

template <typename T, typename Call>
Result<T> CallPython(Call&& call) {
  nb::gil_scoped_acquire held;
  try {
    return call();
  } catch (const nb::python_error& error) {
    return ErrorOf(error);
  } catch (const std::exception& error) {  // an answer of another type
    return Error{ErrorCode::kInvalidArgument, std::string("the engine gave no answer that fits: ") + error.what()};
  }
}

class PythonEngine : public JobEngine {
 public:
  PythonEngine(nb::object engine, size_t parts) : engine_(std::move(engine)), parts_(parts) {}
  ~PythonEngine() override {
    nb::gil_scoped_acquire held;
    engine_.reset();
  }

  size_t parts() const override { return parts_; }

  Status Define(const std::string& name, const std::string& select, bool is_kept) override {
    const Result<bool> done = CallPython<bool>([&]() -> Result<bool> {
      engine_.attr("define")(name, select, is_kept);
      return true;
    });
    return done.ok() ? Status() : Status(done.error());
  }

  Result<JobRows> Query(const std::string& select) override {
    return CallPython<JobRows>([&]() -> Result<JobRows> {
      const nb::tuple answer = nb::cast<nb::tuple>(engine_.attr("query")(select));
      return JobRows{.columns = nb::cast<std::vector<std::string>>(answer[0]), .json = FromText(answer[1])};
    });
  }

 private:
  nb::object engine_;
  const size_t parts_;
};

}  // namespace

Result<std::unique_ptr<JobEngine>> WrapEngine(nb::handle engine, const std::string& job) {
  const Result<std::vector<JobTableFiles>> tables = ListJobFiles(job);
  if (!tables.ok()) return tables.error();
  std::unique_ptr<JobEngine> wrapped;
  {
    nb::gil_scoped_acquire held;
    wrapped = std::make_unique<PythonEngine>(nb::borrow(engine), CountJobParts(tables.value()));
  }
  OPSCOPE_TRY(DeriveJobTables(tables.value(), wrapped.get()));
  return wrapped;
}

Result<std::unique_ptr<JobEngine>> OpenPythonEngine(nb::handle host, const std::string& job,
                                                    const std::string& master) {
  nb::gil_scoped_acquire held;
  const Result<nb::object> engine = CallPython<nb::object>(
      [&]() -> Result<nb::object> { return host.attr("open_spark")(ToText(job), ToText(master)); });
  if (!engine.ok()) return engine.error();
  return WrapEngine(engine.value(), job);
}

}  // namespace opscope::python
