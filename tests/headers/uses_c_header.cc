// SPDX-License-Identifier: Apache-2.0
#include "uses_c_header.c"
