// The dialect and its passes for other programs: mlir-opt --load-dialect-plugin,
// --load-pass-plugin.

#include "dialect/NB.h"
#include "lib/Compiler/Pipelines/Registration.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NanoBragg", NB_VERSION, [] { nb::registerAllPasses(); }};
}

extern "C" __attribute__((visibility("default"))) DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NanoBragg", NB_VERSION,
          [](DialectRegistry *registry) { nb::registerAllDialects(*registry); }};
}

/// T of !nb.vec3<T>, !nb.mat3<T>, !nb.table<..xT> and !nb.hkl_grid<T>; null of another type. For
/// the types in Python.
extern "C" __attribute__((visibility("default"))) MlirType nanobraggElementType(MlirType type) {
  return wrap(llvm::TypeSwitch<Type, Type>(unwrap(type))
                  .Case<nb::Vec3Type, nb::Mat3Type, nb::TableType, nb::HklGridType>(
                      [](auto known) { return known.getElementType(); })
                  .Default(Type()));
}
