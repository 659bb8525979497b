#include "tools/nb-explore/Page.h"

#include "lib/Compiler/Lab/TrialText.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <zlib.h>

namespace nanobragg {

using namespace mlir::nb;
namespace json = llvm::json;

static const char *const page =
#include "tools/nb-explore/page.html.inc"
    ;

static json::Value valueOf(const TrialResult &trial) { return *json::parse(toJson(trial)); }

static json::Object stageOf(const RecordedStage &stage) {
  json::Array lines, remarks;
  for (const RecordedLine &line : stage.lines)
    lines.push_back(json::Array{json::fixUTF8(line.text), line.depends, line.name});
  for (const PassRemark &r : stage.remarks)
    remarks.push_back(json::Object{{"kind", r.kind},
                                   {"pass", r.pass},
                                   {"message", json::fixUTF8(r.message)},
                                   {"name", r.value}});
  json::Object ops;
  for (const auto &[name, count] : stage.opsPerSample)
    ops[name] = count;
  json::Object object{
      {"pass", stage.pass},        {"stage", stage.stage},          {"changed", stage.changed},
      {"lines", std::move(lines)}, {"remarks", std::move(remarks)}, {"ops", std::move(ops)}};
  if (stage.trial)
    object["trial"] = valueOf(*stage.trial);
  return object;
}

/// Grey values of the first panel's rows, at most 512 along an edge, of the logarithm.
static json::Object imageOf(const RenderedImage &image) {
  const auto [panels, slow, fast] = image.shape;
  const int64_t step = std::max<int64_t>(1, (std::max(slow, fast) + 511) / 512);
  const int64_t width = (fast + step - 1) / step, height = (slow + step - 1) / step;
  double largest = 0;
  for (double value : image.pixels)
    if (std::isfinite(value))
      largest = std::max(largest, value);
  std::vector<char> grey;
  for (int64_t y = 0; y != height; ++y)
    for (int64_t x = 0; x != width; ++x) {
      double value = 0;
      for (int64_t v = y * step; v < std::min(slow, (y + 1) * step); ++v)
        for (int64_t u = x * step; u < std::min(fast, (x + 1) * step); ++u)
          value = std::max(value, image.pixels[size_t(v * fast + u)]);
      // Four orders of magnitude.
      const double shown = largest > 0 && value > 0 ? 1 + std::log10(value / largest) / 4 : 0;
      grey.push_back(char(std::clamp(int(shown * 255), 0, 255)));
    }
  return json::Object{{"width", width}, {"height", height}, {"data", llvm::encodeBase64(grey)}};
}

static std::string digits(double value, const char *format = "%.3g") {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

static std::vector<std::pair<std::string, std::string>> summaryOf(const Recording &r) {
  const TrialResult &whole = r.whole;
  std::vector<std::pair<std::string, std::string>> rows;
  const auto add = [&](const char *what, const std::string &text) {
    rows.emplace_back(what, text);
  };
  if (!whole.failure.empty())
    add("no kernel", whole.failure);
  const auto deviation = [](const std::optional<Deviation> &d) {
    return !d        ? std::string("-")
           : d->same ? "right, off by " + digits(d->relative) + " of the largest"
                     : "WRONG at " + d->where;
  };
  add("image", deviation(whole.image));
  add("gradient",
      whole.gradientFailure.empty() ? deviation(whole.gradient) : whole.gradientFailure);
  if (whole.instructionsPerSample)
    add("instructions per sample", digits(*whole.instructionsPerSample, "%.2f"));
  if (whole.nsPerSample)
    add("ns per sample", digits(*whole.nsPerSample, "%.3f"));
  if (whole.instructionsPerSample && whole.nsPerSample)
    add("instructions per ns", digits(*whole.instructionsPerSample / *whole.nsPerSample, "%.2f"));
  add("compile seconds", digits(whole.compileSeconds));
  add("code bytes", std::to_string(whole.codeBytes));
  add("bytes written", std::to_string(r.bytesWritten) + " (the image)");
  if (const auto samples = r.samplesAround()) {
    add("samples each time around the inner loop", digits(*samples));
    add("bytes loaded per sample, in the inner loop", digits(r.statistics->loadedBytes / *samples));
    add("bytes stored per sample, in the inner loop", digits(r.statistics->storedBytes / *samples));
  }
  return rows;
}

static std::vector<std::pair<std::string, std::string>> statisticsOf(const CodeLoop &loop) {
  const auto number = [](unsigned n) { return std::to_string(n); };
  return {{"label", loop.label},
          {"instructions", number(loop.instructions())},
          {"vector", number(loop.vector)},
          {"scalar", number(loop.scalar)},
          {"multiply-adds", number(loop.count(InstructionKind::MultiplyAdd))},
          {"loads", number(loop.loads)},
          {"of spilled registers", number(loop.reloads)},
          {"bytes loaded", number(loop.loadedBytes)},
          {"stores", number(loop.stores)},
          {"spills", number(loop.spills)},
          {"bytes stored", number(loop.storedBytes)},
          {"vector registers", number(loop.vectorRegisters)},
          {"general registers", number(loop.generalRegisters)}};
}

static json::Array rowsOf(const std::vector<std::pair<std::string, std::string>> &pairs) {
  json::Array rows;
  for (const auto &[name, value] : pairs)
    rows.push_back(json::Array{name, json::fixUTF8(value)});
  return rows;
}

/// The parts of the processor with the cycles that the inner loop occupies them, each time around.
static json::Array portsOf(const Recording &recording) {
  json::Array rows;
  if (recording.statistics)
    for (const Occupied &part : recording.statistics->parts)
      rows.push_back(json::Array{part.part, part.cycles});
  return rows;
}

static std::string gzip(const std::string &text) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot be used");
  std::string packed(deflateBound(&stream, text.size()) + 32, 0);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = uInt(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END)
    throw std::runtime_error("the page cannot be compressed");
  return packed;
}

std::string pageOf(const Recording &recording) {
  json::Array stages, llvmLines, loop;
  for (const RecordedStage &stage : recording.stages)
    stages.push_back(stageOf(stage));
  for (const std::string &line : recording.llvm)
    llvmLines.push_back(json::fixUTF8(line));
  for (const NamedInstruction &instruction : recording.loop)
    loop.push_back(json::Array{instruction.text, instruction.name});
  json::Object data{{"title", json::fixUTF8(recording.title)},
                    {"stages", std::move(stages)},
                    {"llvm", std::move(llvmLines)},
                    {"loop", std::move(loop)},
                    {"ports", portsOf(recording)},
                    {"summary", rowsOf(summaryOf(recording))},
                    {"image", imageOf(recording.image)}};
  if (recording.statistics)
    data["statistics"] = rowsOf(statisticsOf(*recording.statistics));
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(data));
  std::string html = page;
  const std::string mark = "@DATA@";
  html.replace(html.find(mark), mark.size(), llvm::encodeBase64(gzip(text)));
  return html;
}

static std::string padded(std::string text, std::size_t width) {
  text.append(text.size() < width ? width - text.size() : 1, ' ');
  return text;
}

std::string textOf(const Recording &recording) {
  std::string text = recording.title + "\n\n";
  const std::map<std::string, unsigned> none;
  for (std::size_t i = 0; i != recording.stages.size(); ++i) {
    const RecordedStage &stage = recording.stages[i];
    text +=
        std::to_string(i) + " " + stage.pass + (stage.changed ? "" : " (nothing changed)") + "\n";
    for (const PassRemark &r : stage.remarks)
      text +=
          "    " + r.kind + ": " + (r.value.empty() ? "" : "%" + r.value + ": ") + r.message + "\n";
    unsigned ops = 0;
    for (const auto &[name, count] : stage.opsPerSample)
      ops += count;
    text += "    " + std::to_string(ops) + " ops in the innermost loops";
    const auto &before = i ? recording.stages[i - 1].opsPerSample : none;
    std::string changes;
    std::map<std::string, unsigned> all = stage.opsPerSample;
    all.insert(before.begin(), before.end());
    for (const auto &[name, unused] : all) {
      const auto find = [&, key = name](const auto &in) {
        const auto found = in.find(key);
        return found == in.end() ? 0 : int(found->second);
      };
      if (const int change = find(stage.opsPerSample) - find(before); change != 0 && i != 0)
        changes += (changes.empty() ? ": " : ", ") + std::string(change > 0 ? "+" : "") +
                   std::to_string(change) + " " + name;
    }
    text += changes + "\n";
    if (stage.trial)
      text += "    a kernel from the end of stage '" + stage.stage + "' on: " +
              (!stage.trial->failure.empty()                   ? stage.trial->failure
               : stage.trial->right() && stage.trial->gradient ? "image and gradient are right"
               : stage.trial->right()                          ? "the image is right"
                                                               : "WRONG") +
              (stage.trial->nsPerSample
                   ? ", " + digits(*stage.trial->nsPerSample, "%.3f") + " ns per sample"
                   : "") +
              "\n";
  }
  text += "\n";
  for (const auto &[name, value] : summaryOf(recording))
    text += padded(name, 50) + value + "\n";
  if (!recording.statistics)
    return text;
  text += "\n";
  for (const auto &[name, value] : statisticsOf(*recording.statistics))
    text += padded(name, 50) + value + "\n";
  text += "\ninstruction                                       value\n";
  for (const NamedInstruction &instruction : recording.loop) {
    std::string shown = instruction.text;
    std::replace(shown.begin(), shown.end(), '\t', ' ');
    text += padded(shown, 50) + instruction.name + "\n";
  }
  return text;
}

} // namespace nanobragg
