#include "lib/Compiler/CodeGen/InnerLoop.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace mlir::nb;

namespace {
/// A line of assembly that is an instruction.
struct Instruction {
  explicit Instruction(StringRef line) : text(line.trim()) {
    std::tie(mnemonic, operands) = text.split('\t');
    if (operands.empty())
      std::tie(mnemonic, operands) = text.split(' ');
  }

  bool jumps() const {
    return mnemonic.starts_with("j") || mnemonic == "b" || mnemonic.starts_with("b.") ||
           mnemonic.starts_with("cb") || mnemonic.starts_with("tb");
  }
  /// ".LBB2_17" of a jump.
  StringRef target() const {
    const size_t at = operands.rfind(".L");
    return at == StringRef::npos ? StringRef() : operands.substr(at).trim();
  }

  StringRef text, mnemonic, operands;
};
} // namespace

static bool isInstruction(StringRef line) {
  StringRef text = line.trim();
  return line.starts_with("\t") && !text.empty() && !text.starts_with(".") &&
         !text.starts_with("#") && !text.starts_with("//");
}

/// What an instruction that touches memory moves: one element, or as much as its widest register
/// has.
static unsigned bytesOf(const Instruction &i, bool arm) {
  if (arm) {
    const unsigned one = StringRef(i.operands).contains("q") ? 16
                         : i.operands.contains("s")          ? 4
                                                             : 8;
    return i.mnemonic.starts_with("ldp") || i.mnemonic.starts_with("stp") ? 2 * one : one;
  }
  const bool element = i.operands.contains("{1to") || i.mnemonic.contains("broadcast");
  StringRef name = i.mnemonic;
  if (element || name.ends_with("sd") || name.ends_with("ss"))
    return name.ends_with("s") || name.contains("ss") || name.ends_with("32x2") ? 4 : 8;
  for (auto [width, bytes] :
       {std::pair("%zmm", 64u), std::pair("%ymm", 32u), std::pair("%xmm", 16u)})
    if (i.operands.contains(width))
      return bytes;
  return name.ends_with("b") ? 1 : name.ends_with("w") ? 2 : name.ends_with("l") ? 4 : 8;
}

static void count(InnerLoop &loop, const Instruction &i, StringSet<> &vectors,
                  StringSet<> &general) {
  static Regex x86Vector("%[xyz]mm[0-9]+"), armVector("(^|[^a-zA-Z0-9_])[vqds][0-9]+"),
      x86General("%r?([abcd]x|[sd]i|bp|[abcd]l|[0-9]+[dwb]?)"),
      armGeneral("(^|[^a-zA-Z0-9_])[wx][0-9]+");
  const bool arm = !i.operands.contains('%');
  auto collect = [&](Regex &registers, StringSet<> &into) {
    SmallVector<StringRef> found;
    bool any = false;
    for (StringRef rest = i.operands; registers.match(rest, &found);) {
      any = true;
      StringRef name = found[0].ltrim("%, \t[{");
      // The same register in other widths is one.
      into.insert(arm || name.contains("mm") ? name.drop_front(1) : name.rtrim("dwb"));
      rest = rest.substr(found[0].end() - rest.begin());
    }
    return any;
  };
  const bool isVector = collect(arm ? armVector : x86Vector, vectors);
  collect(arm ? armGeneral : x86General, general);
  ++(isVector ? loop.vector : loop.scalar);
  loop.multiplyAdds +=
      isVector && (i.mnemonic.starts_with("vfm") || i.mnemonic.starts_with("vfnm") ||
                   i.mnemonic.starts_with("fml") || i.mnemonic.starts_with("fmadd") ||
                   i.mnemonic.starts_with("fmsub"));
  const bool stack = i.operands.contains(arm ? "[sp" : "(%rsp") || i.operands.contains("(%rbp");
  if (arm ? i.operands.contains('[') : i.operands.contains('(') && !i.mnemonic.starts_with("lea")) {
    // AT&T puts the destination last.
    const bool store = arm ? i.mnemonic.starts_with("st") : i.operands.ends_with(")");
    ++(store ? loop.stores : loop.loads);
    (store ? loop.storedBytes : loop.loadedBytes) += bytesOf(i, arm);
    if (stack)
      ++(store ? loop.spills : loop.reloads);
  }
}

/// One loop that no other one is in, from its label to the jump back.
static InnerLoop countLoop(ArrayRef<StringRef> lines, size_t first, size_t last) {
  InnerLoop loop;
  loop.label = lines[first].take_until([](char c) { return c == ':'; }).str();
  loop.firstLine = first;
  loop.lastLine = last;
  StringSet<> vectors, general;
  for (StringRef line : lines.slice(first, last - first + 1)) {
    if (!isInstruction(line))
      continue;
    loop.lines.push_back(line.trim().str());
    count(loop, Instruction(line), vectors, general);
  }
  loop.vectorRegisters = vectors.size();
  loop.generalRegisters = general.size();
  return loop;
}

static std::optional<InnerLoop> busiestLoop(ArrayRef<StringRef> lines, StringRef function) {
  StringMap<size_t> labels;
  std::vector<std::pair<size_t, size_t>> loops;
  bool inside = false;
  for (size_t i = 0; i != lines.size(); ++i) {
    StringRef line = lines[i];
    if (!inside) {
      inside = line.take_until([](char c) { return c == ':'; }) == function && line.contains(':');
      continue;
    }
    if (line.starts_with(".Lfunc_end"))
      break;
    if (line.starts_with(".L") && line.contains(':'))
      labels[line.take_until([](char c) { return c == ':'; })] = i;
    if (!isInstruction(line))
      continue;
    const Instruction instruction(line);
    if (!instruction.jumps())
      continue;
    if (auto back = labels.find(instruction.target()); back != labels.end())
      loops.push_back({back->second, i});
  }
  std::optional<InnerLoop> busiest;
  for (auto [first, last] : loops) {
    bool innermost = none_of(loops, [&, first = first, last = last](auto other) {
      return first <= other.first && other.second <= last && other != std::pair(first, last);
    });
    if (!innermost)
      continue;
    InnerLoop loop = countLoop(lines, first, last);
    if (!busiest || busiest->vector < loop.vector)
      busiest = std::move(loop);
  }
  return busiest;
}

std::optional<InnerLoop> mlir::nb::findInnerLoop(StringRef assembly, StringRef function) {
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  return busiestLoop(lines, function);
}

std::string InnerLoop::toString() const {
  return formatv("inner loop              {0}\n"
                 "instructions            {1}\n"
                 "  vector                {2}\n"
                 "  scalar                {3}\n"
                 "multiply-adds           {4}\n"
                 "loads                   {5}\n"
                 "  of spilled registers  {6}\n"
                 "stores                  {7}\n"
                 "  spills                {8}\n"
                 "vector registers        {9}\n"
                 "general registers       {10}\n",
                 label, instructions(), vector, scalar, multiplyAdds, loads, reloads, stores,
                 spills, vectorRegisters, generalRegisters);
}
