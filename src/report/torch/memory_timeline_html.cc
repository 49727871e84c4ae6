// Draws the memory timeline as a self-contained page with one SVG.
//
// Memory changes in steps, so each category is a polygon with a corner at every change, stacked on the categories
// below. A screen has a few thousand columns; of the changes within one column the largest total is drawn, so that no
// peak is lost and a run with a million allocations stays a small file.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "base/text.h"
#include "opscope/torch/memory_timeline.h"
#include "opscope/torch/memory_timeline_text.h"
#include "opscope/torch/table.h"
#include "report/human_units.h"

namespace opscope {
namespace {

using Bytes = std::array<int64_t, kMemoryCategories>;

constexpr double kLeft = 90, kTop = 20, kWidth = 1400, kHeight = 700;
constexpr size_t kColumns = 2800;
constexpr std::string_view kColors[kMemoryCategories] = {"darkgreen", "goldenrod",  "black",     "mediumpurple",
                                                         "red",       "mediumblue", "royalblue", "grey"};

// Bytes of the categories before this one.
int64_t Below(const Bytes& bytes, size_t category) {
  return std::accumulate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(category), int64_t{0},
                         SaturatingAdd);
}

int64_t Total(const Bytes& bytes) {
  return Below(bytes, bytes.size());
}

struct Point {
  double at = 0;  // time as a share of the run, 0 to 1
  Bytes bytes{};
};

// At most one point per column, the one with the largest total, and a last point with the final state.
std::vector<Point> PointsOf(const MemoryByCategory& sums) {
  std::vector<Point> points;
  if (sums.times_us.empty()) return points;
  const int64_t first = sums.times_us.front();
  const double span = std::max<double>(1, static_cast<double>(sums.times_us.back() - first));
  size_t last_column = kColumns + 1;
  for (size_t i = 0; i < sums.times_us.size(); ++i) {
    const double at = std::clamp(static_cast<double>(sums.times_us[i] - first) / span, 0.0, 1.0);
    const auto column = static_cast<size_t>(at * kColumns);
    if (column != last_column) {
      points.push_back({at, sums.bytes[i]});
      last_column = column;
    } else if (Total(sums.bytes[i]) > Total(points.back().bytes)) {
      points.back().bytes = sums.bytes[i];
    }
  }
  points.push_back({1, sums.bytes.back()});
  return points;
}

// Appends two decimals, independent of the locale.
void AppendHundredths(std::string* out, double value) {
  const int64_t hundredths = ClampToInt64(value * 100 + (value < 0 ? -0.5 : 0.5));
  if (hundredths < 0) out->push_back('-');
  const int64_t magnitude = SaturatingAbs(hundredths);
  AppendInt(out, magnitude / 100);
  out->push_back('.');
  out->push_back(static_cast<char>('0' + magnitude / 10 % 10));
  out->push_back(static_cast<char>('0' + magnitude % 10));
}

void AppendPlace(std::string* out, double x, double y) {
  out->push_back(' ');
  AppendHundredths(out, x);
  out->push_back(',');
  AppendHundredths(out, y);
}

class Picture {
 public:
  explicit Picture(const MemoryByCategory& sums) : sums_(sums), points_(PointsOf(sums)) {
    for (const Bytes& bytes : sums.bytes) {
      if (Total(bytes) > Total(peak_)) peak_ = bytes;
    }
  }

  std::string Draw(std::string_view title) {
    out_ =
        "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>Memory timeline</title>\n<style>"
        "body{font-family:sans-serif}table{border-collapse:collapse}td,th{padding:2px 12px;text-align:right}"
        "td:first-child,th:first-child{text-align:left}.key{display:inline-block;width:12px;height:12px;"
        "margin-right:6px;opacity:.7}</style></head>\n<body>\n<h1>";
    AppendEscaped(title);
    out_ += "</h1>\n<p>Largest total: " + HumanBytes(Total(peak_)) +
            "</p>\n<svg viewBox=\"0 0 1520 780\" "
            "width=\"100%\" xmlns=\"http://www.w3.org/2000/svg\">\n";
    DrawAxes();
    for (size_t category = 0; category < kMemoryCategories; ++category)
      DrawArea(category);
    out_ += "</svg>\n";
    WriteTable();
    return out_ += "</body>\n</html>\n";
  }

 private:
  double Y(int64_t bytes) const {
    return kTop + kHeight * (1 - static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, Total(peak_))));
  }

  // The polygon: right along the upper edge, back along the lower edge, with two corners per change.
  void DrawArea(size_t category) {
    const bool is_seen = std::any_of(points_.begin(), points_.end(),
                                     [category](const Point& point) { return point.bytes[category] != 0; });
    if (!is_seen) return;
    out_.append("<polygon fill=\"").append(kColors[category]).append("\" fill-opacity=\"0.7\" points=\"");
    for (size_t i = 0; i < points_.size(); ++i) {
      const double x = kLeft + kWidth * points_[i].at;
      if (i > 0) AppendPlace(&out_, x, Y(Below(points_[i - 1].bytes, category + 1)));
      AppendPlace(&out_, x, Y(Below(points_[i].bytes, category + 1)));
    }
    for (size_t i = points_.size(); i-- > 0;) {
      const double x = kLeft + kWidth * points_[i].at;
      AppendPlace(&out_, x, Y(Below(points_[i].bytes, category)));
      if (i > 0) AppendPlace(&out_, x, Y(Below(points_[i - 1].bytes, category)));
    }
    out_.append("\"><title>").append(MemoryCategoryName(static_cast<MemoryCategory>(category)));
    out_.append("</title></polygon>\n");
  }

  void DrawAxes() {
    constexpr int kTicks = 5;
    const double span_ms =
        sums_.times_us.empty() ? 0 : static_cast<double>(sums_.times_us.back() - sums_.times_us.front()) / 1000;
    for (int tick = 0; tick <= kTicks; ++tick) {
      const double share = static_cast<double>(tick) / kTicks;
      out_ += "<text text-anchor=\"middle\" y=\"740\" x=\"";
      AppendHundredths(&out_, kLeft + kWidth * share);
      out_ += "\">";
      AppendHundredths(&out_, span_ms * share);
      out_ += "</text><text text-anchor=\"end\" x=\"84\" y=\"";
      AppendHundredths(&out_, kTop + kHeight * (1 - share) + 5);
      out_ += "\">" + HumanBytes(ClampToInt64(static_cast<double>(Total(peak_)) * share)) + "</text>\n";
    }
    out_ += "<text text-anchor=\"middle\" x=\"790\" y=\"770\">Time (ms)</text>\n";
    out_ += "<path d=\"M90 20V720H1490\" fill=\"none\" stroke=\"black\"/>\n";
  }

  void WriteTable() {
    out_ += "<table><tr><th>category</th><th>at the largest total</th><th>largest</th><th>at the end</th></tr>\n";
    for (size_t category = 0; category < kMemoryCategories; ++category) {
      int64_t largest = 0;
      for (const Bytes& bytes : sums_.bytes)
        largest = std::max(largest, bytes[category]);
      out_.append("<tr><td><span class=\"key\" style=\"background:").append(kColors[category]).append("\"></span>");
      out_.append(MemoryCategoryName(static_cast<MemoryCategory>(category)));
      for (const int64_t bytes :
           {peak_[category], largest, sums_.bytes.empty() ? int64_t{0} : sums_.bytes.back()[category]}) {
        out_ += "</td><td>" + HumanBytes(bytes);
      }
      out_ += "</td></tr>\n";
    }
    out_ += "</table>\n";
  }

  void AppendEscaped(std::string_view text) {
    for (const char c : text) {
      if (c == '&') {
        out_ += "&amp;";
      } else if (c == '<') {
        out_ += "&lt;";
      } else {
        out_ += c;
      }
    }
  }

  const MemoryByCategory& sums_;
  const std::vector<Point> points_;
  Bytes peak_{};
  std::string out_;
};

}  // namespace

std::string MemoryTimelineHtml(const MemoryByCategory& sums, std::string_view title) {
  return Picture(sums).Draw(title);
}

}  // namespace opscope
