// Errors and text: how an Error is raised and how bytes become str. Names of a trace are bytes of the recorded program
// and need not be UTF-8. Python has such bytes as lone surrogates, so that a name can come back as an argument;
// nanobind's std::string refuses them.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <string>
#include <system_error>

#include "bindings.h"

namespace opscope::python {
namespace {

PyObject* error_class = nullptr;  // opscope.Error, kept by the module for the life of the process

const char* CodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kMalformed:
      return "malformed";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
  }
  return "invalid_argument";
}

[[noreturn]] void RaiseSystemRefusal(const Error& error, nb::handle path) {
  int number = error.system_errno;
  if (number == 0) number = error.code == ErrorCode::kNotFound ? ENOENT : EIO;
  nb::object os_error = nb::module_::import_("builtins").attr("OSError");
  // OSError itself picks FileNotFoundError, PermissionError, IsADirectoryError, ... by the number.
  nb::object raised = path.is_valid() ? os_error(number, ToText(std::generic_category().message(number)), path)
                                      : os_error(number, ToText(error.message));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw nb::python_error();
}

}  // namespace

void Raise(const Error& error, nb::handle path) {
  if (error.code == ErrorCode::kIo || error.code == ErrorCode::kNotFound) RaiseSystemRefusal(error, path);
  if (error.code == ErrorCode::kOutOfMemory) {
    PyErr_SetObject(PyExc_MemoryError, ToText(error.message).ptr());
    throw nb::python_error();
  }
  nb::object raised = nb::handle(error_class)(ToText(error.message));
  raised.attr("code") = CodeName(error.code);
  PyErr_SetObject(error_class, raised.ptr());
  throw nb::python_error();
}

nb::object ToText(std::string_view bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

std::string FromText(nb::handle text) {
  PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (bytes == nullptr && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();  // a lone surrogate outside the range of surrogateescape
    bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass");
  }
  if (bytes == nullptr) throw nb::python_error();
  nb::bytes owner = nb::steal<nb::bytes>(bytes);
  return {owner.c_str(), owner.size()};
}

std::string TextArgument(nb::handle argument, const char* name) {
  if (PyUnicode_Check(argument.ptr())) return FromText(argument);
  PyErr_Format(PyExc_TypeError, "%s must be a str, not %U", name, nb::str(argument.type().attr("__name__")).ptr());
  throw nb::python_error();
}

std::optional<std::string> WhereArgument(nb::handle argument) {
  if (argument.is_none()) return std::nullopt;
  return TextArgument(argument, "where");
}

Result<SpanFilter> ParseWhere(const std::string& condition) {
  Result<SpanFilter> filter = SpanFilter::Parse(condition);
  if (!filter.ok()) return Error{filter.error().code, "where: " + filter.error().message};
  return filter;
}

bool TextBytes(PyObject* text, std::string* keep, std::string_view* bytes) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data != nullptr) {
    *bytes = {data, static_cast<size_t>(size)};
    return true;
  }
  if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return false;
  PyErr_Clear();
  try {
    *keep = FromText(text);
  } catch (nb::python_error& error) {
    error.restore();
    return false;
  }
  *bytes = *keep;
  return true;
}

std::string FromPath(nb::handle path) {
  nb::bytes encoded = nb::borrow<nb::bytes>(nb::module_::import_("os").attr("fsencode")(path));
  std::string bytes(encoded.c_str(), encoded.size());
  if (bytes.find('\0') != std::string::npos) {  // the system would use the part before it as the name
    PyErr_Format(PyExc_ValueError, "a path cannot contain a NUL character: %R", path.ptr());
    throw nb::python_error();
  }
  return bytes;
}

nb::object ToPath(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

void BindErrors(nb::module_& module) {
  error_class = PyErr_NewExceptionWithDoc(
      "opscope.Error",
      "Input that is not what its format promises, or a request that cannot be met. `code` is one of\n"
      "'invalid_argument', 'malformed', 'unsupported'; the message names the file and the byte.",
      PyExc_ValueError, nullptr);
  if (error_class == nullptr) throw nb::python_error();
  module.attr("Error") = nb::handle(error_class);
  module.def(
      "path_text", [](nb::handle path) { return ToPath(FromPath(path)); }, nb::arg("path"),
      "A path as str. ValueError: it contains a NUL character.");
}

}  // namespace opscope::python
