// Forwards to opscope/torch/function_event_table.h, where this has moved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/torch/function_event_table.h"
