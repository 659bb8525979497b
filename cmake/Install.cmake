# What `cmake --install` and CPack install. Components: `runtime`, which maps no LLVM and is where
# everything without a component goes, `compiler`, and where there is MPI `mpi`.

include(CMakePackageConfigHelpers)

install(TARGETS nanobragg EXPORT NanoBragg LIBRARY)
foreach(header nanobragg.h nanobragg.hpp KernelABI.h
               Simulator.h SimulatorOptions.h DeviceChoice.h Run.h Loss.h
               Reflections.h ReflectionColumns.h Engine.h DeadGradient.h
               DerivativeNames.h CullSetting.h Precision.h)
  install(FILES runtime/include/nanobragg/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nanobragg)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/NanoBragg)
install(EXPORT NanoBragg NAMESPACE NanoBragg:: FILE NanoBraggTargets.cmake
        DESTINATION ${package_dir})
configure_package_config_file(cmake/NanoBraggConfig.cmake.in NanoBraggConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(NanoBraggConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/NanoBraggConfig.cmake
              ${CMAKE_BINARY_DIR}/NanoBraggConfigVersion.cmake
        DESTINATION ${package_dir})

# For builds without CMake. Its paths are from where the file stands, so that a tree may be moved.
file(RELATIVE_PATH NB_PC_INCLUDE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/nanobragg.pc.in nanobragg.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/nanobragg.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Completion for bash: one file, which bash looks for under the name of each program.
set(completion ${CMAKE_BINARY_DIR}/completion/nb-sim)
add_custom_command(OUTPUT ${completion}
  COMMAND nb-compile --completion > ${completion}
  DEPENDS nb-compile VERBATIM)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/completion)
add_custom_target(nb-completion ALL DEPENDS ${completion})
set(completion_dir ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion} DESTINATION ${completion_dir})
install(FILES ${completion} DESTINATION ${completion_dir} RENAME nb-compile)

foreach(tool nb-sim nb-compile nb-cache nb-compare nb-bench nb-gradcheck)
  install(FILES docs/man/${tool}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()
foreach(tool nb-run nb-try nb-explore nb-reduce)
  install(FILES docs/man/${tool}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compiler)
endforeach()

install(TARGETS nb-compiler LIBRARY COMPONENT compiler)
install(TARGETS nb-opt RUNTIME COMPONENT compiler)
# Where Debian keeps libMLIR; the compiler has its own.
set_target_properties(nb-opt nb-run nb-try nb-plugin nb-lsp-server
                      PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})

if(NB_STATIC_COMPILER)
  install(TARGETS nb-compiler-shared LIBRARY COMPONENT compiler)
  set_target_properties(nb-compiler-shared PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
else()
  set_target_properties(nb-compiler PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
endif()

# The libraries and headers that plugins and MLIR programs of others are built with: headers under one folder, so
# that "dialect/NB.h" is found there as it is here, and their .td files.
set(mlir_headers ${CMAKE_INSTALL_INCLUDEDIR}/nanobragg/mlir)
set(mlir_libraries Dialect Transforms Conversion Pipelines Interpreter)
foreach(name IN LISTS mlir_libraries)
  string(TOLOWER nb-${name} target)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${mlir_headers}>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${target} EXPORT NanoBraggMLIR ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/nanobragg
          COMPONENT compiler)
endforeach()
# What those are made of.
install(TARGETS nb-experiment nb-culling nb-parallel nb-process nb-target nb-trace EXPORT NanoBraggMLIR
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/nanobragg COMPONENT compiler)
install(FILES cmake/NanoBraggPlugins.cmake DESTINATION ${package_dir} COMPONENT compiler)
install(EXPORT NanoBraggMLIR NAMESPACE NanoBragg:: FILE NanoBraggMLIRTargets.cmake
        DESTINATION ${package_dir} COMPONENT compiler)
install(FILES lib/Compiler/Pipelines/Registration.h DESTINATION ${mlir_headers} COMPONENT compiler)
foreach(root ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  foreach(folder dialect lib/Transforms lib/Conversion lib/Compiler/Pipelines lib/Interpreter
                 lib/Experiment lib/Program lib/Culling lib/Target)
    install(DIRECTORY ${root}/${folder}/ DESTINATION ${mlir_headers}/${folder} COMPONENT compiler
            FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.h.inc"
            PATTERN CMakeFiles EXCLUDE)
  endforeach()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nanobragg)
set(CPACK_PACKAGE_VENDOR nanobragg-mlir)
set(CPACK_PACKAGE_CONTACT "nanobragg-mlir <nobody@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "X-ray diffraction images of crystals")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime compiler)
if(TARGET nb-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME nanobragg)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS nanobragg-compiler)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "nb-sim and its like, the C library and its headers:
  runs compiled kernels and needs no LLVM.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME nanobragg-compiler)
# libLLVM is found through a link that belongs to no package.
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS libllvm22)
set(CPACK_DEBIAN_COMPILER_DESCRIPTION "The compiler that nb-sim and nb-compile open, nb-opt, nb-run")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
foreach(component RUNTIME COMPILER MPI)
  set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/tools/packaging/debian/triggers)
endforeach()
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/tools/packaging/debian/prepare.cmake)
set(CPACK_NB_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_DEBIAN_MPI_PACKAGE_NAME nanobragg-mpi)
set(CPACK_DEBIAN_MPI_DESCRIPTION "The part of nb-sim that mpirun needs")
include(CPack)
cpack_add_component(runtime)
cpack_add_component(compiler DEPENDS runtime)
cpack_add_component(mpi DEPENDS runtime)
