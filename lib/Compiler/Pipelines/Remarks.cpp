#include "lib/Compiler/Pipelines/Remarks.h"

#include "dialect/Remarks.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
struct Collector : remark::detail::MLIRRemarkStreamerBase {
  explicit Collector(std::function<void(PassRemark)> take) : take(std::move(take)) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    PassRemark said;
    said.kind = remark.getRemarkTypeString().str();
    said.pass = remark.getCombinedCategoryName().str();
    for (const auto &argument : remark.getArgs())
      if (argument.key == remarkValueKey)
        said.value = argument.val;
      else if (argument.key == remarkFlagsKey)
        said.message += " (" + argument.val + ")";
      else
        said.message += (said.message.empty() ? "" : ", ") +
                        (argument.key == "Remark" ? "" : argument.key + "=") + argument.val;
    const Location location = remark.getLocation();
    if (auto name = location->findInstanceOf<NameLoc>())
      said.value = name.getName().str();
    if (auto file = location->findInstanceOf<FileLineColLoc>()) {
      said.line = file.getLine();
      said.column = file.getColumn();
    }
    take(std::move(said));
  }

  std::function<void(PassRemark)> take;
};
} // namespace

LogicalResult nb::collectRemarks(MLIRContext &context, std::function<void(PassRemark)> take) {
  const std::string any = ".*";
  return remark::enableOptimizationRemarks(context, std::make_unique<Collector>(std::move(take)),
                                           std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                           remark::RemarkCategories{any, any, any, any, any});
}
