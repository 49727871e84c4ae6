// Forwards to opscope/torch/memory_timeline.h, where this has moved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/torch/memory_timeline.h"
