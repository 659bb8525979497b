#include "lib/Compiler/Pipelines/Pipeline.h"
#include "lib/Transforms/OpenText.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::nb;

/// The elements of a list, whose commas within brackets do not count.
static SmallVector<StringRef> elementsOf(StringRef list) {
  SmallVector<StringRef> elements;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i != list.size(); ++i) {
    depth += StringRef("({").contains(list[i]) - StringRef(")}").contains(list[i]);
    if (list[i] != ',' || depth != 0)
      continue;
    elements.push_back(list.slice(begin, i).trim());
    begin = i + 1;
  }
  if (!list.substr(begin).trim().empty())
    elements.push_back(list.substr(begin).trim());
  return elements;
}

/// One step for each pass; `before` and `after` are what stands around it: "builtin.module(", ")".
static void addSteps(Pipeline &pipeline, StringRef list, const std::string &before,
                     const std::string &after) {
  for (StringRef element : elementsOf(list)) {
    const size_t bracket = element.find('('), brace = element.find('{');
    // A pass has options in braces, an op has its passes in brackets.
    if (bracket == StringRef::npos || brace < bracket) {
      pipeline.steps.push_back({Stage::User, "", nullptr, before + element.str() + after});
      continue;
    }
    addSteps(pipeline, element.slice(bracket + 1, element.size() - 1),
             before + element.take_front(bracket + 1).str(), ")" + after);
  }
}

llvm::Expected<Pipeline> nb::parsePipeline(StringRef text) {
  text = text.trim();
  if (textDepth(text) > deepestText)
    return llvm::createStringError("the pipeline is nested more than " +
                                   std::to_string(deepestText) + " times");
  // The registry's own parser reads the language, and writes out what named pipelines are made of.
  std::string message;
  llvm::raw_string_ostream stream(message);
  auto parsed = parsePassPipeline(text, stream);
  auto refuse = [&](StringRef why) {
    return llvm::createStringError("the pipeline '" + text.str() +
                                   "' cannot be used: " + why.trim().str());
  };
  if (failed(parsed)) {
    StringRef why = StringRef(message).trim();
    // "<unknown>:0: error: ...", with the text and a caret below.
    const size_t error = why.find("error: ");
    if (error != StringRef::npos)
      why = why.substr(error + strlen("error: "));
    why = why.take_until([](char c) { return c == '\n'; });
    // "'nb-fuze' does not refer to a registered pass or pass pipeline"
    const auto [name, rest] = why.drop_front(why.starts_with("'")).split('\'');
    if (rest.starts_with(" does not refer to a registered pass"))
      return refuse("there is no pass '" + name.str() + "'; the closest is '" + closestPass(name) +
                    "'; nb-opt --help lists all");
    return refuse(why);
  }
  if (parsed->getOpAnchorName() != "builtin.module")
    return refuse("it must be for a module, 'builtin.module(...)', with passes over functions in "
                  "'func.func(...)'");
  std::string expanded;
  llvm::raw_string_ostream written(expanded);
  parsed->printAsTextualPipeline(written);
  StringRef inside = expanded;
  if (!inside.consume_front("builtin.module(") || !inside.consume_back(")"))
    return refuse("it cannot be taken apart");
  Pipeline pipeline;
  addSteps(pipeline, inside, "builtin.module(", ")");
  return pipeline;
}
