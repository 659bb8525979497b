# What pip installs: the bindings, nb-sim, and where the machine has LLVM the compiler library too. In the package's folders bin and lib
# is what is in those of an installed tree.

add_custom_target(nb-python-package DEPENDS nb-python nb-python-stub)

# Files of reflections other than lists.
find_path(GEMMI_INCLUDE_DIR gemmi/mtz.hpp)
find_path(PEGTL_INCLUDE_DIR tao/pegtl.hpp)
if(GEMMI_INCLUDE_DIR AND PEGTL_INCLUDE_DIR)
  add_subdirectory(lib/Gemmi)
  add_dependencies(nb-python-package nb-gemmi)
  install(TARGETS nb-gemmi LIBRARY DESTINATION nanobragg/lib COMPONENT python)
else()
  message(STATUS "no gemmi here: the package reads no MTZ, mmCIF and PDB files")
endif()

# NeXus. The wheels have HDF5 inside (NB_STATIC_HDF5): the shared one would bring half of a system along.
find_package(HDF5 QUIET COMPONENTS C)
if(HDF5_FOUND)
  add_subdirectory(lib/HDF5)
  add_dependencies(nb-python-package nb-hdf5)
  install(TARGETS nb-hdf5 LIBRARY DESTINATION nanobragg/lib COMPONENT python)
else()
  message(STATUS "no HDF5 here: the package reads and writes no NeXus files")
endif()

find_package(CLI11 QUIET)
if(CLI11_FOUND)
  add_subdirectory(tools/shared)
  add_subdirectory(tools/nb-sim)
  add_dependencies(nb-python-package nb-sim)
  install(TARGETS nb-sim RUNTIME DESTINATION nanobragg/bin COMPONENT python)
else()
  message(STATUS "no CLI11 here: the package has no nb-sim")
endif()

if(NOT NB_PYTHON_COMPILER)
  return()
endif()

# One that ./bootstrap build has made of the same sources will do.
set(ready ${CMAKE_SOURCE_DIR}/build/lib/libnb-compiler.so)
if(EXISTS ${ready})
  file(GLOB_RECURSE sources ${CMAKE_SOURCE_DIR}/lib/*.cpp ${CMAKE_SOURCE_DIR}/lib/*.h ${CMAKE_SOURCE_DIR}/lib/*.td
       ${CMAKE_SOURCE_DIR}/dialect/*.cpp ${CMAKE_SOURCE_DIR}/dialect/*.h ${CMAKE_SOURCE_DIR}/dialect/*.td
       ${CMAKE_SOURCE_DIR}/runtime/include/*.h)
  foreach(source IN LISTS sources)
    if(${source} IS_NEWER_THAN ${ready})
      unset(ready)
      break()
    endif()
  endforeach()
else()
  unset(ready)
endif()
if(ready)
  message(STATUS "the compiler library is ${ready}")
  install(PROGRAMS ${ready} DESTINATION nanobragg/lib COMPONENT python)
  return()
endif()

find_package(MLIR QUIET CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT MLIR_FOUND AND NB_PYTHON_COMPILER STREQUAL "AUTO")
  message(STATUS "no MLIR here: the package has no compiler; nanobragg-compiler brings one")
  return()
endif()
include(UseMLIR)
foreach(folder dialect lib/Frontend lib/Transforms lib/Conversion lib/Interpreter lib/Compiler)
  add_subdirectory(${folder})
endforeach()
add_dependencies(nb-python-package nb-compiler)
install(TARGETS nb-compiler LIBRARY DESTINATION nanobragg/lib COMPONENT python)
