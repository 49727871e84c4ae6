// Writes MegEngine's memory_flow.svg: a rectangle per tensor, its lifetime across and its addresses down. Units are the
// original's: 100 us of the device's time, and 10^6 bytes. Wide gaps between addresses are left out (address_axis.h),
// and one transform scales the picture to the page. With more than 10,000 tensors the largest 2,500 keep a rectangle
// and the others share the cells of a grid, so the file stays small enough for a browser.
//
//   svg  rect: background | g transform: rect tag:type="tensor" { title } ... | text: axes
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "base/text.h"
#include "base/xml_text.h"
#include "export/megengine/address_axis.h"
#include "export/megengine/device_clock.h"
#include "export/megengine/facts.h"
#include "export/writers.h"

namespace opscope {
namespace {

constexpr size_t kMaxAlone = 10000;     // up to so many tensors each has a rectangle
constexpr size_t kLargestAlone = 2500;  // else so many of the largest have one
constexpr uint32_t kCellsAcross = 250, kCellsDown = 100;
constexpr double kTimeUnit = 1e5, kByteUnit = 1e6;
constexpr int kDecimals = 6;
constexpr double kWidth = 1200, kHeight = 640, kLeft = 150, kTop = 30;  // size and position of the picture on the page

struct Tensor {
  uint32_t life = 0;
  int64_t begin = 0, end = 0;
  uint64_t first = 0, last = 0;  // addresses
  int64_t duration() const { return SaturatingSubtract(end, begin); }
  double area() const { return (static_cast<double>(duration()) + 1) * static_cast<double>(last - first); }
};

struct Unit {
  uint64_t size;
  std::string_view name;
};
constexpr Unit kTimeUnits[] = {{1000000000, "s "}, {1000000, "ms "}, {1000, "us "}, {1, "ns "}};
constexpr Unit kSizeUnits[] = {{uint64_t{1} << 30, "GB "}, {uint64_t{1} << 20, "MB "}, {1024, "KB "}, {1, "B "}};

// "3MB 512KB ": the units that are not zero, largest first.
template <size_t n>
std::string MixedText(uint64_t value, const Unit (&units)[n]) {
  std::string text;
  for (const Unit& unit : units) {
    if (value / unit.size != 0) AppendUint(&text, value / unit.size), text += unit.name;
    value %= unit.size;
  }
  return text;
}

std::string_view FillOf(int64_t ns) {
  constexpr std::pair<int64_t, std::string_view> kFills[] = {{0, "#DDDDDD"},         {100000, "#CCCCCC"},
                                                             {1000000, "#BBBBBB"},   {10000000, "#AAAAAA"},
                                                             {100000000, "#999999"}, {1000000000, "#888888"}};
  for (const auto& [most, fill] : kFills) {
    if (ns <= most) return fill;
  }
  return "#555555";
}

class Picture {
 public:
  explicit Picture(const Trace& trace) : trace_(trace), facts_(trace), lives_(trace.tensor_lives()), axis_({}) {
    Collect();
  }

  std::string Draw() {
    const double width = X(end_);
    const double height = static_cast<double>(axis_.size()) / kByteUnit;
    std::string out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:tag=\"https://megengine.org.cn\" width=\"100%\" "
        "height=\"100%\" "
        "viewBox=\"0 0 1400 740\" font-family=\"sans-serif\" font-size=\"12\">\n<g transform=\"translate(";
    AppendFixed(&out, kLeft, kDecimals);
    out += " ";
    AppendFixed(&out, kTop, kDecimals);
    out += ") scale(";
    AppendFixed(&out, width > 0 ? kWidth / width : 1, kDecimals);
    out += " ";
    AppendFixed(&out, height > 0 ? kHeight / height : 1, kDecimals);
    out += ")\">\n<rect x=\"0\" y=\"0\" width=\"";
    AppendFixed(&out, width, kDecimals);
    out += "\" height=\"";
    AppendFixed(&out, height, kDecimals);
    out += "\" fill=\"blue\">\n</rect>\n";
    const size_t alone = tensors_.size() > kMaxAlone ? kLargestAlone : tensors_.size();
    if (alone < tensors_.size()) {
      std::nth_element(tensors_.begin(), tensors_.begin() + static_cast<std::ptrdiff_t>(alone), tensors_.end(),
                       [](const Tensor& a, const Tensor& b) { return a.area() > b.area(); });
    }
    for (size_t i = 0; i < alone; ++i)
      DrawTensor(tensors_[i], &out);
    DrawCells(alone, &out);
    out += "</g>\n";
    DrawAxes(&out);
    out += "</svg>\n";
    return out;
  }

  uint64_t without_address() const { return without_address_; }

 private:
  void Collect() {
    const std::vector<DeviceClock> clocks = DeviceClock::OfTracks(trace_, facts_);
    const auto released = [&](uint32_t life) {
      return SaturatingAdd(lives_.produced[life].ns, std::max<int64_t>(lives_.duration[life].ns, 0));
    };
    const auto on_device = [&](uint32_t life, int64_t time) {
      return lives_.track[life] == TrackId::kNone ? time : clocks[Row(lives_.track[life])].OnDevice(time);
    };
    int64_t window_end = 0;
    for (uint32_t i = 0; i < lives_.size(); ++i)
      window_end = std::max(window_end, released(i));
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    begin_ = INT64_MAX, end_ = INT64_MIN;
    for (uint32_t i = 0; i < lives_.size(); ++i) {
      const uint64_t first = lives_.address[i], last = first + lives_.bytes[i];
      if (first == 0 || last <= first) {
        without_address_ += first == 0 && lives_.bytes[i] != 0 ? 1 : 0;
        continue;
      }
      const int64_t until = lives_.duration[i].ns < 0 ? window_end : released(i);
      const int64_t begin = on_device(i, lives_.produced[i].ns), end = std::max(begin, on_device(i, until));
      tensors_.push_back({i, begin, end, first, last});
      ranges.emplace_back(first, last);
      begin_ = std::min(begin_, begin), end_ = std::max(end_, end);
    }
    if (tensors_.empty()) begin_ = end_ = 0;
    axis_ = AddressAxis(std::move(ranges));
  }

  double X(int64_t time) const { return static_cast<double>(SaturatingSubtract(time, begin_)) / kTimeUnit; }
  double Y(uint64_t address) const { return static_cast<double>(axis_.Offset(address)) / kByteUnit; }

  // Begins an element: `<rect x= y= height= width= fill=`.
  void BeginRect(double x, double y, double height, double width, std::string_view fill, std::string* out) const {
    out->append("<rect x=\"");
    AppendFixed(out, x, kDecimals);
    out->append("\" y=\"");
    AppendFixed(out, y, kDecimals);
    out->append("\" height=\"");
    AppendFixed(out, height, kDecimals);
    out->append("\" width=\"");
    AppendFixed(out, width, kDecimals);
    out->append("\" fill=\"").append(fill).append("\"");
  }

  std::string LayoutText(ArgsId args) const {
    const std::span<const Argument> list = trace_.arguments(args);
    if (list.empty()) return "{}";
    const Argument& tensor = list[0];
    std::vector<int64_t> strides(tensor.strides.begin(), tensor.strides.end());
    if (strides.size() != tensor.sizes.size()) {
      strides.assign(tensor.sizes.size(), 1);
      for (size_t i = strides.size(); i-- > 1;)
        strides[i - 1] = WrappingMultiply(strides[i], tensor.sizes[i]);
    }
    std::string text = "{";
    for (size_t i = 0; i < strides.size(); ++i) {
      if (i != 0) text += ",";
      AppendInt(&text, tensor.sizes[i]);
      text += "(";
      AppendInt(&text, strides[i]);
      text += ")";
    }
    return text.append(" ").append(trace_.text(tensor.dtype)).append("}");
  }

  void DrawTensor(const Tensor& tensor, std::string* out) const {
    const uint32_t i = tensor.life;
    const auto attribute = [&](std::string_view name, std::string_view value) {
      out->append(" tag:").append(name).append("=\"");
      AppendXml(value, out);
      out->append("\"");
    };
    BeginRect(X(tensor.begin), Y(tensor.first), static_cast<double>(tensor.last - tensor.first) / kByteUnit,
              X(tensor.end) - X(tensor.begin), FillOf(tensor.duration()), out);
    const std::string_view name = lives_.name[i] == StringId::kNone ? "" : trace_.text(lives_.name[i]);
    const std::string size = MixedText(tensor.last - tensor.first, kSizeUnits), layout = LayoutText(lives_.args[i]),
                      produced = MixedText(Positive(tensor.begin), kTimeUnits),
                      erased = MixedText(Positive(tensor.end), kTimeUnits),
                      duration = MixedText(Positive(tensor.duration()), kTimeUnits);
    std::string address = "0x";
    AppendHex(&address, tensor.first);
    attribute("type", "tensor");
    attribute("name", name);
    attribute("address", address);
    attribute("size", size);
    attribute("layout", layout);
    attribute("produced", produced);
    attribute("erased", erased);
    attribute("duration", duration);
    if (lives_.op[i] != 0) attribute("group", std::to_string(lives_.op[i]));
    out->append("><title>");
    AppendXml(TitleOf(i, name, size, layout, produced, duration), out);
    out->append("</title></rect>\n");
  }

  // A tensor's name is its scope, the operator that made it, and the number of the output: backward[3].ADD:0.
  std::string TitleOf(uint32_t life, std::string_view name, const std::string& size, const std::string& layout,
                      const std::string& produced, const std::string& duration) const {
    const size_t dot = name.rfind('.');
    std::string text(name);
    text.append(" ").append(size).append(layout);
    if (const MegEngineCall* op = facts_.OperatorNumbered(lives_.track[life], lives_.op[life]); op != nullptr) {
      if (op->execute != kNoRow) text.append(" | made by ").append(trace_.text(trace_.spans().name[op->execute]));
    }
    if (dot != std::string_view::npos) text.append(" | in ").append(name.substr(0, dot));
    return text.append(" | from ").append(produced).append("for ").append(duration);
  }

  static uint64_t Positive(int64_t value) { return value < 0 ? 0 : static_cast<uint64_t>(value); }

  // Draws the tensors from index `first` on as cells of a grid, each tensor in the cell in which it begins.
  void DrawCells(size_t first, std::string* out) const {
    if (first >= tensors_.size()) return;
    struct Cell {
      uint32_t count = 0;
      uint64_t bytes = 0;
      double end = 0, bottom = 0;
    };
    std::vector<Cell> cells(size_t{kCellsAcross} * kCellsDown);
    const double across = X(end_) / kCellsAcross, down = static_cast<double>(axis_.size()) / kByteUnit / kCellsDown;
    const auto place = [](double at, double step, uint32_t count) {
      return step <= 0 ? 0 : std::min<uint32_t>(static_cast<uint32_t>(at / step), count - 1);
    };
    for (size_t i = first; i < tensors_.size(); ++i) {
      const Tensor& tensor = tensors_[i];
      Cell& cell = cells[size_t{place(Y(tensor.first), down, kCellsDown)} * kCellsAcross +
                         place(X(tensor.begin), across, kCellsAcross)];
      ++cell.count, cell.bytes += tensor.last - tensor.first;
      cell.end = std::max(cell.end, X(tensor.end));
      cell.bottom = std::max(cell.bottom, Y(tensor.last));
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      const Cell& cell = cells[i];
      if (cell.count == 0) continue;
      const double x = static_cast<double>(i % kCellsAcross) * across, y = static_cast<double>(i / kCellsAcross) * down;
      BeginRect(x, y, std::min(std::max(cell.bottom - y, 0.0), down), std::min(std::max(cell.end - x, 0.0), across),
                "#CCCCCC", out);
      out->append(" tag:type=\"tensors\" tag:count=\"");
      AppendUint(out, cell.count);
      out->append("\"><title>");
      AppendUint(out, cell.count);
      out->append(" tensors, together ").append(MixedText(cell.bytes, kSizeUnits)).append("</title></rect>\n");
    }
  }

  static void Label(double x, double y, std::string_view anchor, std::string_view text, std::string* out) {
    out->append("<text x=\"");
    AppendFixed(out, x, kDecimals);
    out->append("\" y=\"");
    AppendFixed(out, y, kDecimals);
    out->append("\" text-anchor=\"").append(anchor).append("\">");
    AppendXml(text, out);
    out->append("</text>\n");
  }

  void DrawAxes(std::string* out) const {
    constexpr int kTicks = 6;
    for (int tick = 0; tick <= kTicks; ++tick) {
      const double share = static_cast<double>(tick) / kTicks;
      const auto whole = static_cast<double>(SaturatingSubtract(end_, begin_));
      const int64_t time = SaturatingAdd(begin_, ClampToInt64(whole * share));
      std::string text;
      AppendFixed(&text, static_cast<double>(time) / 1e6, kDecimals);
      text.resize(text.size() - 3);
      Label(kLeft + kWidth * share, kTop + kHeight + 18, "middle", text + " ms", out);
    }
    Label(kLeft + kWidth / 2, kTop + kHeight + 40, "middle", "time since the start of the window (ms)", out);
    Label(10, kTop - 12, "start", "address (wide gaps are left out), " + MixedText(axis_.size(), kSizeUnits), out);
    double below = -20;
    for (const AddressAxis::Segment& segment : axis_.segments()) {
      const double y =
          static_cast<double>(segment.offset) / static_cast<double>(std::max<uint64_t>(axis_.size(), 1)) * kHeight;
      if (y < below + 14) continue;
      below = y;
      std::string text = "0x";
      AppendHex(&text, segment.first);
      Label(kLeft - 6, kTop + y + 10, "end", text, out);
    }
  }

  const Trace& trace_;
  const MegEngineFacts facts_;
  const TensorLifeColumns& lives_;
  AddressAxis axis_;
  std::vector<Tensor> tensors_;
  int64_t begin_ = 0, end_ = 0;
  uint64_t without_address_ = 0;
};

}  // namespace

void WriteMegEngineSvg(const Trace& trace, const ExportOptions&, ExportOutput* out) {
  Picture picture(trace);
  out->Write(picture.Draw());
  out->CountOmitted("tensors without an address", picture.without_address());
}

}  // namespace opscope
