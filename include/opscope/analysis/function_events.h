// Forwards to opscope/torch/function_events.h, where this has moved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/torch/function_events.h"
