// CUPTI's headers include it and need nothing of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
