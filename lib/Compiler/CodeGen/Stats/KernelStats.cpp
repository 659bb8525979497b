#include "lib/Compiler/CodeGen/Stats/KernelStats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace llvm;
using namespace mlir::nb;

unsigned CodeLoop::count(InstructionKind kind) const {
  const auto &types = kinds[unsigned(kind)];
  return std::accumulate(types.begin(), types.end(), 0u);
}

const CodeLoop *KernelStats::inner() const {
  const CodeLoop *busiest = nullptr;
  for (const CodeLoop &loop : loops)
    if (loop.innermost && (!busiest || busiest->vector < loop.vector))
      busiest = &loop;
  return busiest;
}

std::optional<double> KernelStats::cyclesPerSample() const {
  const CodeLoop *loop = inner();
  const Occupied *most = loop ? longest(loop->parts) : nullptr;
  if (!most)
    return std::nullopt;
  return most->cycles / loop->lanes;
}

std::optional<double> KernelStats::samplesPerSecond() const {
  const auto cycles = cyclesPerSample();
  if (!chip || !cycles)
    return std::nullopt;
  return chip->units * chip->clock * 1e9 * chip->warp / *cycles;
}

LoopText mlir::nb::findLoop(const CodeLoop &loop, StringRef assembly) {
  LoopText found;
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  for (auto [i, line] : enumerate(lines)) {
    if (line.starts_with(loop.label) && line.drop_front(loop.label.size()).starts_with(":"))
      found.first = found.last = i;
    else if (found.first && line.starts_with("\t") && line.rtrim().ends_with(loop.label))
      found.last = i;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

static void addRow(std::string &text, StringRef name, const Twine &value) {
  text += formatv("{0,-24}{1}\n", name, value.str());
}

static std::string digits(double number) { return formatv("{0:f2}", number); }

static std::string describe(const DeviceUse &use, const GpuChip *chip, bool nvidia) {
  std::string text;
  addRow(text, "registers", Twine(use.registers) + " of a thread");
  if (!nvidia)
    addRow(text, "scalar registers", Twine(use.scalarRegisters) + " of a wave");
  addRow(text, "spills", nvidia ? Twine(use.spills) + " bytes" : Twine(use.spills));
  if (!nvidia)
    addRow(text, "scalar spills", Twine(use.scalarSpills));
  addRow(text, "stack", Twine(use.stackBytes) + " bytes of a thread");
  addRow(text, "shared memory", Twine(use.sharedBytes) + " bytes of a block");
  if (!chip)
    return text;
  const Occupancy occupancy = occupancyOf(use, *chip);
  addRow(text, "occupancy",
         formatv("{0} of {1} {2}, limited by {3}", occupancy.warps, chip->warps,
                 nvidia ? "warps of a multiprocessor" : "waves of a SIMD", occupancy.limit)
             .str());
  return text;
}

/// How often instructions of a kind, by type, are executed for a sample.
static std::string kindTable(const CodeLoop &loop) {
  std::string text =
      formatv("\n{0,-24}{1,8}{2,8}{3,8}{4,8}\n", "per sample", "all", "f64", "f32", "other");
  for (unsigned kind = 0; kind != numKinds; ++kind) {
    const unsigned all = loop.count(InstructionKind(kind));
    if (!all)
      continue;
    text +=
        formatv("{0,-24}{1,8}", nameOf(InstructionKind(kind)), digits(double(all) / loop.lanes));
    for (unsigned count : loop.kinds[kind])
      text += formatv("{0,8}", count ? digits(double(count) / loop.lanes) : "");
    while (text.back() == ' ')
      text.pop_back();
    text += '\n';
  }
  text += formatv("{0,-24}{1,8}\n", "bytes loaded", digits(double(loop.loadedBytes) / loop.lanes));
  text += formatv("{0,-24}{1,8}\n", "bytes stored", digits(double(loop.storedBytes) / loop.lanes));
  return text;
}

/// The parts of the machine that limit a loop, the busiest first.
static std::string partTable(const CodeLoop &loop) {
  std::vector<Occupied> parts = loop.parts;
  stable_sort(parts, [](const Occupied &a, const Occupied &b) { return a.cycles > b.cycles; });
  std::string text = formatv("\n{0,-24}{1,8}{2,8}\n", "cycles", "around", "sample");
  for (const Occupied &part : ArrayRef(parts).take_front(8))
    text += formatv("{0,-24}{1,8}{2,8}\n", part.part, digits(part.cycles),
                    digits(part.cycles / loop.lanes));
  return text;
}

static StringRef lineOf(const CodeLoop &loop, ArrayRef<StringRef> lines) {
  return loop.line && loop.line <= lines.size() ? lines[loop.line - 1].trim() : "";
}

/// All loops, with what stands in them and in no loop in them.
static std::string loopTable(ArrayRef<CodeLoop> loops, ArrayRef<StringRef> lines) {
  using Kind = InstructionKind;
  static constexpr std::pair<const char *, Kind> columns[] = {
      {"fma", Kind::MultiplyAdd}, {"add,mul", Kind::AddMultiply}, {"div", Kind::Divide},
      {"conv", Kind::Convert},    {"cmp", Kind::Compare},         {"shuf", Kind::Shuffle},
      {"load", Kind::Load},       {"store", Kind::Store},         {"int", Kind::Integer},
      {"move", Kind::Move},       {"jump", Kind::Branch}};
  std::string text = formatv("\n{0,-14}{1,6}{2,6}", "loop", "depth", "all");
  for (const auto &[name, kind] : columns)
    text += formatv("{0,8}", name);
  text += formatv("{0,8}{1,8}{2,9}  {3}\n", "loaded", "stored", "cycles", "limit, line");
  for (const CodeLoop &loop : loops) {
    text += formatv("{0,-14}{1,6}{2,6}", loop.label, loop.depth, loop.instructions());
    for (const auto &[name, kind] : columns)
      text += formatv("{0,8}", loop.count(kind));
    const Occupied *most = longest(loop.parts);
    text += formatv("{0,8}{1,8}{2,9}  {3}", loop.loadedBytes, loop.storedBytes,
                    most ? digits(most->cycles) : "", most ? most->part : "");
    if (loop.line)
      text += formatv("{0}line {1}: {2}", most ? ", " : "", loop.line,
                      lineOf(loop, lines).substr(0, 60));
    text += '\n';
  }
  return text;
}

std::string KernelStats::toString(ArrayRef<StringRef> lines) const {
  const CodeLoop &loop = *inner();
  const bool nvidia = chip ? !chip->together : StringRef(target).starts_with("nvptx");
  std::string text;
  addRow(text, "function", function);
  addRow(text, "target", target);
  addRow(text, "inner loop", loop.label);
  addRow(text, "samples", Twine(loop.lanes) + (unit == "lane" ? "" : " of each thread"));
  addRow(text, "instructions", Twine(loop.instructions()));
  addRow(text, "  vector", Twine(loop.vector));
  addRow(text, "  scalar", Twine(loop.scalar));
  addRow(text, "multiply-adds", Twine(loop.count(InstructionKind::MultiplyAdd)));
  addRow(text, "loads", Twine(loop.loads));
  addRow(text, "  of spilled registers", Twine(loop.reloads));
  addRow(text, "stores", Twine(loop.stores));
  addRow(text, "  spills", Twine(loop.spills));
  if (unit == "lane") {
    addRow(text, "vector registers", Twine(loop.vectorRegisters));
    addRow(text, "general registers", Twine(loop.generalRegisters));
    addRow(text, "spills of the function", Twine(spills) + ", " + Twine(reloads) + " loads");
  } else if (device) {
    text += describe(*device, chip, nvidia);
  } else if (!noDevice.empty()) {
    addRow(text, "registers", noDevice);
  }
  if (const auto cycles = cyclesPerSample())
    addRow(text, "bound",
           formatv("{0:f2} cycles per sample{1}: {2}", *cycles,
                   unit == "lane" ? "" : " of each thread of a warp", longest(loop.parts)->part)
               .str());
  else
    addRow(text, "bound",
           unit == "lane" ? "LLVM has no model of this processor"
                          : "no speeds of this chip are known");
  if (const auto rate = samplesPerSecond())
    addRow(text, "",
           formatv("{0:f1} G samples/s: {1}, {2} {3} at {4} GHz", *rate / 1e9, chip->card,
                   chip->units, nvidia ? "multiprocessors" : "SIMDs", chip->clock)
               .str());
  return text + kindTable(loop) + (loop.parts.empty() ? "" : partTable(loop)) +
         loopTable(loops, lines);
}

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//

static json::Object jsonOf(const CodeLoop &loop, ArrayRef<StringRef> lines) {
  json::Object kinds;
  static constexpr StringLiteral types[numTypes] = {"f64", "f32", "other"};
  for (unsigned kind = 0; kind != numKinds; ++kind) {
    json::Object counts;
    for (unsigned type = 0; type != numTypes; ++type)
      if (loop.kinds[kind][type])
        counts[types[type]] = loop.kinds[kind][type];
    if (!counts.empty())
      kinds[keyOf(InstructionKind(kind))] = std::move(counts);
  }
  json::Array parts;
  for (const Occupied &part : loop.parts)
    parts.push_back(json::Object{{"part", part.part}, {"cycles", part.cycles}});
  json::Object object{{"label", loop.label},
                      {"depth", loop.depth},
                      {"innermost", loop.innermost},
                      {"samples", loop.lanes},
                      {"instructions", loop.instructions()},
                      {"vector", loop.vector},
                      {"scalar", loop.scalar},
                      {"kinds", std::move(kinds)},
                      {"loads", loop.loads},
                      {"reloads", loop.reloads},
                      {"stores", loop.stores},
                      {"spills", loop.spills},
                      {"loaded_bytes", loop.loadedBytes},
                      {"stored_bytes", loop.storedBytes},
                      {"cycles", std::move(parts)}};
  if (loop.line)
    object["line"] =
        json::Object{{"number", loop.line}, {"text", json::fixUTF8(lineOf(loop, lines))}};
  return object;
}

json::Value KernelStats::toJson(ArrayRef<StringRef> lines) const {
  json::Array all;
  for (const CodeLoop &loop : loops)
    all.push_back(jsonOf(loop, lines));
  const CodeLoop &loop = *inner();
  json::Object object{{"function", function},
                      {"target", target},
                      {"inner_loop", &loop - loops.data()},
                      {"loops", std::move(all)},
                      {"instructions_per_sample", double(loop.instructions()) / loop.lanes},
                      {"loaded_bytes_per_sample", double(loop.loadedBytes) / loop.lanes},
                      {"stored_bytes_per_sample", double(loop.storedBytes) / loop.lanes}};
  if (unit == "lane") {
    object["vector_registers"] = loop.vectorRegisters;
    object["general_registers"] = loop.generalRegisters;
    object["spills"] = spills;
    object["reloads"] = reloads;
  }
  if (device) {
    json::Object use{
        {"registers", device->registers},    {"scalar_registers", device->scalarRegisters},
        {"spills", device->spills},          {"scalar_spills", device->scalarSpills},
        {"stack_bytes", device->stackBytes}, {"shared_bytes", device->sharedBytes},
        {"threads", device->threads}};
    if (chip) {
      const Occupancy occupancy = occupancyOf(*device, *chip);
      use["warps"] = occupancy.warps;
      use["most_warps"] = chip->warps;
      use["limit"] = occupancy.limit;
    }
    object["device"] = std::move(use);
  }
  if (chip)
    object["chip"] = json::Object{{"card", chip->card},
                                  {"units", chip->units},
                                  {"clock_ghz", chip->clock},
                                  {"warp", chip->warp}};
  if (const auto cycles = cyclesPerSample())
    object["bound"] =
        json::Object{{"cycles_per_sample", *cycles}, {"part", longest(loop.parts)->part}};
  if (const auto rate = samplesPerSecond())
    object["samples_per_second"] = *rate;
  return object;
}
