// Declares a variable with the value of a Result, or returns the error to the caller.
//
//   OPSCOPE_ASSIGN(const RowValues rows, job->RunFile("ranks.sql"));
//
// It expands to several statements, so it cannot be the body of an `if` or a loop without braces.
//
// Thread rule: a macro without state.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "opscope/result.h"

#define OPSCOPE_ASSIGN(declaration, ...) OPSCOPE_ASSIGN_IN_LINE(__LINE__, declaration, __VA_ARGS__)
#define OPSCOPE_ASSIGN_IN_LINE(line, ...) OPSCOPE_ASSIGN_NAMED(line, __VA_ARGS__)  // __LINE__ becomes a number here
#define OPSCOPE_ASSIGN_NAMED(line, declaration, ...)                     \
  auto opscope_result_##line = (__VA_ARGS__);                            \
  if (!opscope_result_##line.ok()) return opscope_result_##line.error(); \
  declaration = std::move(opscope_result_##line).value()
