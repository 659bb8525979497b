# House rules for targets.

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(NB_WERROR) # but for names that libstdc++'s own algorithms use, and fields that keep their defaults
  add_compile_options(-Werror -Wno-error=deprecated-declarations -Wno-error=missing-field-initializers)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=lld)
endif()
if(NB_SANITIZE)
  # Not the check of function types: it reads in front of the function, where JITted code has nothing.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=function
                      -fno-omit-frame-pointer -fno-sanitize-recover=undefined
                      -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizer-ignores.txt)
  add_link_options(-fsanitize=address,undefined)
endif()
if(NB_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()
if(NB_FUZZ)
  # Counts which branches an input takes; the programs of test/fuzz link the rest of libFuzzer.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# nb_add_headers(NAME HEADER): a target that precompiles HEADER for others, see nb_precompile. Parsing what
# comes from elsewhere is half of the time that most files take. For compile caches its path is relative, and no
# times are kept.
function(nb_add_headers name header)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/Headers.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_precompile_headers(${name} PRIVATE <${header}>)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
nb_add_headers(nb-headers cmake/Headers.h)
target_link_libraries(nb-headers PRIVATE nlohmann_json::nlohmann_json)
# What libraries, programs and tests of a folder are compiled with, and those over MLIR.
set(NB_HEADERS nb-headers)
set(NB_MLIR_HEADERS nb-mlir-headers)

# nb_precompile(TARGET HEADERS): TARGET's files are compiled with what the target HEADERS has precompiled.
function(nb_precompile target headers)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    # They were precompiled for libraries, with -fPIC and not with a program's -fPIE.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# nb_batch(TARGET): with NB_BATCHES, eight of TARGET's files are compiled as one. They read the same headers and
# instantiate the same templates, and names in them that are for one file are not twice in a target.
function(nb_batch target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  if(NB_BATCHES AND count GREATER 3)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
                                               UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef DEBUG_TYPE")
  endif()
endfunction()

# nb_add_library(NAME SOURCES... [LINK libs...]): a static library that knows nothing of MLIR.
# Headers are included by their path from the root, installed ones as "nanobragg/NAME.h".
function(nb_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  nb_precompile(${name} ${NB_HEADERS})
  nb_batch(${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/runtime/include>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# nb_use_mlir(TARGET): TARGET and who links it get MLIR's headers and the shared libMLIR and libLLVM, or with the
# property NB_STATIC_MLIR none: that is for nb_link_mlir_archives.
function(nb_use_mlir target)
  foreach(folder ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/runtime/include)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  endforeach()
  foreach(folder ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${folder}>)
  endforeach()
  set(own_mlir $<BOOL:$<TARGET_PROPERTY:NB_STATIC_MLIR>>)
  target_link_libraries(${target} PUBLIC $<$<NOT:${own_mlir}>:MLIR> $<$<NOT:${own_mlir}>:LLVM>)
endfunction()

# nb_pass_tablegen(NAME): Passes.h.inc of this folder's Passes.td, with statistics that every build of LLVM counts
# (dialect/PassStatistics.h).
macro(nb_pass_tablegen name)
  mlir_tablegen(PassDecls.h.inc -gen-pass-decls -name ${name})
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/Passes.h.inc
    COMMAND sed "s/::mlir::Pass::Statistic /::mlir::nb::PassStatistic /" PassDecls.h.inc > Passes.h.inc
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/PassDecls.h.inc VERBATIM)
  list(APPEND TABLEGEN_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/Passes.h.inc)
endmacro()

# nb_add_mlir_library(NAME SOURCES... [DEPENDS targets...] [LINK libs...]): a static library over
# MLIR.
function(nb_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  nb_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  nb_precompile(${name} ${NB_MLIR_HEADERS})
  nb_batch(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# nb_take_plugins(TARGETS...): programs and libraries that load plugins, which find there all of the dialect and
# what runs an op of theirs in the interpreter.
function(nb_take_plugins)
  foreach(target ${ARGN})
    target_link_libraries(${target} PRIVATE nb-interpreter)
    target_link_options(${target} PRIVATE LINKER:--whole-archive,$<TARGET_FILE:nb-dialect>
                        $<TARGET_FILE:nb-interpreter> LINKER:--no-whole-archive)
    set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  endforeach()
endfunction()

# A shared library that has what it needs of MLIR and LLVM in itself and shows none of it: it can be
# opened beside others that have theirs (torch, jax, triton). lld takes from the archives what is
# asked for.
function(nb_link_mlir_archives target)
  file(GLOB archives ${LLVM_LIBRARY_DIRS}/libMLIR*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
  if(NOT archives)
    message(FATAL_ERROR "no static MLIR in ${LLVM_LIBRARY_DIRS}; set NB_STATIC_COMPILER=OFF")
  endif()
  set_target_properties(${target} PROPERTIES NB_STATIC_MLIR ON)
  target_link_libraries(${target} PRIVATE ${archives})
  target_link_options(${target} PRIVATE LINKER:--gc-sections LINKER:--icf=all LINKER:--strip-all
                      LINKER:-Bsymbolic)
endfunction()

# A shared library that lacks a symbol is an error when it is linked, not when it is opened. With
# sanitizers their runtime comes from the program.
function(nb_refuse_undefined_symbols target)
  if(NOT NB_SANITIZE AND NOT NB_SANITIZE_THREADS)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# A program that starts in a millisecond: each shared library costs a tenth of that, the C++ one half of it. What
# archives there are come first and are taken. Sanitizers bring their own.
find_library(NB_PNG_ARCHIVE libpng16.a)
find_library(NB_ZLIB_ARCHIVE libz.a)
mark_as_advanced(NB_PNG_ARCHIVE NB_ZLIB_ARCHIVE)
function(nb_link_few_libraries target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "")
  if(NOT NB_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    if(NB_PNG_ARCHIVE AND NB_ZLIB_ARCHIVE)
      target_link_options(${target} PRIVATE ${NB_PNG_ARCHIVE} ${NB_ZLIB_ARCHIVE} LINKER:--as-needed)
    endif()
  endif()
endfunction()

# nb_add_program(NAME SOURCES... [MLIR] [LINK libs...]): a program that can say its version. MLIR: its sources
# include MLIR's headers.
function(nb_add_program name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_definitions(${name} PRIVATE NB_VERSION="${CMAKE_PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    nb_precompile(${name} ${NB_MLIR_HEADERS})
  else()
    nb_precompile(${name} ${NB_HEADERS})
  endif()
  nb_batch(${name})
endfunction()

# nb_add_unit_test(NAME SOURCES... [MLIR] LINK libs...): a GoogleTest program, one ctest entry. MLIR: its
# sources include MLIR's headers.
function(nb_add_unit_test name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  if(ARG_MLIR)
    nb_precompile(${name} ${NB_MLIR_HEADERS})
    nb_batch(${name})
  else()
    nb_precompile(${name} ${NB_HEADERS})
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# nb_label_tests([FULL tests...] [NIGHTLY tests...]): the last line of a folder of tests. The tests named
# are labelled `full` and `nightly`, all others of the folder `quick`: those run together in less than
# a minute. NAME-1, NAME-2, ... are parts of NAME. Slow tests begin first.
function(nb_label_tests)
  cmake_parse_arguments(ARG "" "" "FULL;NIGHTLY" ${ARGN})
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    string(REGEX REPLACE "-[0-9]+$" "" name ${test})
    if(name IN_LIST ARG_NIGHTLY)
      set_property(TEST ${test} APPEND PROPERTY LABELS nightly)
    elseif(name IN_LIST ARG_FULL)
      set_property(TEST ${test} PROPERTY COST 100)
      set_property(TEST ${test} APPEND PROPERTY LABELS full)
    else()
      set_property(TEST ${test} APPEND PROPERTY LABELS quick)
    endif()
  endforeach()
endfunction()
