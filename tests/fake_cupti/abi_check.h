// What the abi_check_*.cc say, in macros: our declarations agree with NVIDIA's headers, of whatever version is given.
// These files are only parsed, by the test cupti_abi.agrees_with_headers (check_abi.cmake); a disagreement is a failing
// static_assert.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <cupti_version.h>

#include <cstddef>

#include "later_records.h"
#include "sources/cuda/cupti_abi.h"

using CUpti_ActivityApi = CUpti_ActivityAPI;

// A record is CUpti_Activity and its name here; other structs are named in full.
#define SAME_OFFSET_IN(type, ours, their_type, theirs) \
  static_assert(offsetof(opscope::cuda::cupti::type, ours) == offsetof(their_type, theirs))
#define SAME_MEMBER_IN(type, ours, their_type, theirs)                             \
  SAME_OFFSET_IN(type, ours, their_type, theirs);                                  \
  static_assert(sizeof(static_cast<opscope::cuda::cupti::type*>(nullptr)->ours) == \
                sizeof(static_cast<their_type*>(nullptr)->theirs))
#define SAME_SIZE_AS(type, their_type) static_assert(sizeof(opscope::cuda::cupti::type) == sizeof(their_type))
#define SAME_OFFSET(type, ours, theirs) SAME_OFFSET_IN(type, ours, CUpti_Activity##type, theirs)
#define SAME_MEMBER(type, ours, theirs) SAME_MEMBER_IN(type, ours, CUpti_Activity##type, theirs)
#define SAME_SIZE(type) SAME_SIZE_AS(type, CUpti_Activity##type)
#define WRITTEN_SINCE(type, version) static_assert(opscope::cuda::cupti::type::kSince == version)
#define SAME_VALUE(ours, theirs) \
  static_assert(static_cast<unsigned>(opscope::cuda::cupti::ours) == static_cast<unsigned>(theirs))
