// The page as it was built, for a server that answers its questions later.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/html.h"
#include "report/html/page_template.h"

namespace opscope {

std::string_view PageWithoutData() {
  return kPageTemplate;
}

}  // namespace opscope
