// Forwards to opscope/torch/tensor_keys.h, where this has moved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/torch/tensor_keys.h"
