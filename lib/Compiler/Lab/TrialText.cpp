#include "lib/Compiler/Lab/TrialText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <cstdlib>

using namespace mlir::nb;
namespace json = llvm::json;

/// JSON has no numbers that are not finite: those are text, "nan" or "inf".
static json::Value numberOf(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(std::to_string(value));
}

static double numberIn(const json::Object &object, llvm::StringRef key) {
  if (auto text = object.getString(key))
    return std::strtod(text->str().c_str(), nullptr);
  return object.getNumber(key).value_or(0);
}

static json::Object objectOf(const Deviation &d) {
  return json::Object{
      {"same", d.same},   {"worst", d.worst},           {"relative", d.relative},
      {"where", d.where}, {"value", numberOf(d.value)}, {"reference", numberOf(d.reference)}};
}

static std::optional<Deviation> deviationIn(const json::Object &object, llvm::StringRef key) {
  const json::Object *o = object.getObject(key);
  if (!o)
    return std::nullopt;
  Deviation d;
  d.same = o->getBoolean("same").value_or(false);
  d.worst = o->getNumber("worst").value_or(0);
  d.relative = o->getNumber("relative").value_or(0);
  d.where = o->getString("where").value_or("").str();
  d.value = numberIn(*o, "value");
  d.reference = numberIn(*o, "reference");
  return d;
}

static constexpr const char *faultNames[] = {"image", "gradient", "ends"};

static json::Array numbersOf(llvm::ArrayRef<Statistics> components, bool largest) {
  json::Array numbers;
  for (const Statistics &s : components)
    numbers.push_back(numberOf(s.finite == 0 ? std::nan("") : largest ? s.max : s.min));
  return numbers;
}

static json::Object objectOf(const Blame &blame) {
  json::Object o{{"fault", faultNames[size_t(blame.fault)]}};
  if (!blame.pass)
    return o;
  o["pass"] = blame.pass->name;
  o["number"] = int64_t(blame.pass->number);
  if (const auto &value = blame.pass->value)
    o["value"] = json::Object{{"name", value->name},
                              {"op", value->op},
                              {"before_min", numbersOf(value->before, false)},
                              {"before_max", numbersOf(value->before, true)},
                              {"after_min", numbersOf(value->after, false)},
                              {"after_max", numbersOf(value->after, true)},
                              {"text", value->toString()}};
  return o;
}

std::string mlir::nb::toJson(const TrialResult &r) {
  json::Object o{{"name", r.name},
                 {"pipeline", r.pipeline},
                 {"failure", json::fixUTF8(r.failure)},
                 {"passes", r.passes},
                 {"compile_seconds", r.compileSeconds},
                 {"code_bytes", int64_t(r.codeBytes)},
                 {"code", r.code},
                 {"loop_instructions", r.loopInstructions},
                 {"loop_vector_instructions", r.loopVector},
                 {"loop_spills", r.loopSpills},
                 {"vector_registers", r.vectorRegisters},
                 {"gradient_failure", json::fixUTF8(r.gradientFailure)}};
  if (r.image)
    o["image"] = objectOf(*r.image);
  if (r.gradient)
    o["gradient"] = objectOf(*r.gradient);
  if (r.blame)
    o["blame"] = objectOf(*r.blame);
  if (r.instructionsPerSample)
    o["instructions_per_sample"] = *r.instructionsPerSample;
  if (r.nsPerSample)
    o["ns_per_sample"] = *r.nsPerSample;
  if (r.change)
    o["change"] = json::Object{
        {"median", r.change->median}, {"least", r.change->least}, {"most", r.change->most}};
  o["same_code"] = r.sameCode;
  if (r.shareComputed)
    o["share_computed"] = *r.shareComputed;
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(o));
  return text;
}

std::optional<TrialResult> mlir::nb::trialFromJson(llvm::StringRef text) {
  auto parsed = json::parse(text);
  if (!parsed || !parsed->getAsObject()) {
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  const json::Object &o = *parsed->getAsObject();
  auto string = [&](llvm::StringRef key) { return o.getString(key).value_or("").str(); };
  auto whole = [&](llvm::StringRef key) { return o.getInteger(key).value_or(0); };
  TrialResult r;
  r.name = string("name");
  r.pipeline = string("pipeline");
  r.failure = string("failure");
  r.passes = string("passes");
  r.compileSeconds = o.getNumber("compile_seconds").value_or(0);
  r.codeBytes = size_t(whole("code_bytes"));
  r.code = o.getString("code").value_or("").str();
  r.loopInstructions = unsigned(whole("loop_instructions"));
  r.loopVector = unsigned(whole("loop_vector_instructions"));
  r.loopSpills = unsigned(whole("loop_spills"));
  r.vectorRegisters = unsigned(whole("vector_registers"));
  r.gradientFailure = string("gradient_failure");
  r.image = deviationIn(o, "image");
  r.gradient = deviationIn(o, "gradient");
  r.instructionsPerSample = o.getNumber("instructions_per_sample");
  r.nsPerSample = o.getNumber("ns_per_sample");
  r.shareComputed = o.getNumber("share_computed");
  return r;
}

static std::string deviationText(const std::optional<Deviation> &d) {
  if (!d)
    return "-";
  if (d->worst == 0)
    return "identical";
  return llvm::formatv("{0} {1:e1}", d->same ? "same" : "WRONG", d->relative).str();
}

template <typename T>
static std::string numberOr(const std::optional<T> &number, const char *format) {
  if (!number)
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, *number);
  return text;
}

/// Where nearly all samples are left out, it takes next to nothing for each.
static std::string digitsOf(const std::optional<double> &number) {
  return numberOr(number, number && *number < 0.1 ? "%.2g" : "%.3f");
}

std::string mlir::nb::textOf(const Ratio &change) {
  return llvm::formatv("{0:f1} % ({1:f1} to {2:f1})", 100 * (change.median - 1),
                       100 * (change.least - 1), 100 * (change.most - 1))
      .str();
}

static std::string changeText(const TrialResult &r) {
  return r.sameCode ? "same code" : r.change ? textOf(*r.change) : "-";
}

std::string mlir::nb::tableOf(const std::vector<TrialResult> &results) {
  std::vector<std::vector<std::string>> rows{{"pipeline", "compiles", "image", "gradient",
                                              "instr/sample", "ns/sample", "time", "loop", "spills",
                                              "compile s", "code bytes"}};
  for (const TrialResult &r : results) {
    const bool ok = r.compiles();
    auto shown = [&](std::string text) { return ok ? text : std::string("-"); };
    rows.push_back({r.name, ok ? "yes" : "NO", deviationText(r.image),
                    !r.gradientFailure.empty() ? "FAILS" : deviationText(r.gradient),
                    digitsOf(r.instructionsPerSample), digitsOf(r.nsPerSample), changeText(r),
                    shown(std::to_string(r.loopInstructions)), shown(std::to_string(r.loopSpills)),
                    shown(numberOr(std::optional(r.compileSeconds), "%.3f")),
                    shown(std::to_string(r.codeBytes))});
  }
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (size_t i = 0; i != row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i != row.size(); ++i) {
      // Numbers end where they end.
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += i < 4 ? row[i] + padding + "  " : padding + row[i] + "  ";
    }
    text += llvm::StringRef(line).rtrim().str() + "\n";
  }
  // Most pipelines have the same share.
  std::string last;
  for (const TrialResult &r : results)
    if (r.shareComputed)
      if (auto share = numberOr(r.shareComputed, "%.2g"); share != last)
        text += r.name + (last.empty() ? ": of all samples, which the numbers are for, " : ": ") +
                (last = share) + " is computed, the others have no light\n";
  return text;
}
