# Writes the generated pages of the documentation into OUT; with COMPARE, checks that the pages in
# that folder are the same.
#   cmake -DSOURCE= -DTBLGEN= -DMLIR_INCLUDE= -DTABLE= -DTOOLS= -DPYTHON= -DOUT= [-DCOMPARE=]
#         -P generate.cmake
# TOOLS is the folder of the programs.

cmake_minimum_required(VERSION 3.25)

set(pages "")

# Of passes and ops mlir-tblgen writes sections alone: TITLE and PURPOSE begin their page.
function(tblgen page title purpose)
  file(MAKE_DIRECTORY ${OUT}/reference)
  execute_process(
    COMMAND ${TBLGEN} ${ARGN} -I ${MLIR_INCLUDE} -I ${SOURCE}/dialect -I ${SOURCE}
            -o ${OUT}/reference/${page}
    COMMAND_ERROR_IS_FATAL ANY)
  # mlir.llvm.org expands this; everyone else shows it.
  file(READ ${OUT}/reference/${page} text)
  string(REPLACE "[TOC]\n\n" "" text "${text}")
  if(title)
    string(REGEX REPLACE "^(<!--[^\n]*-->\n)" "\\1\n# ${title}\n\n${purpose}\n" text "${text}")
  endif()
  file(WRITE ${OUT}/reference/${page} "${text}")
  set(pages ${pages} reference/${page} PARENT_SCOPE)
endfunction()

tblgen(dialect.md "" "" --gen-dialect-doc --dialect=nb ${SOURCE}/dialect/NBOps.td)
tblgen(schedule.md "Ops of schedules"
       "The ops of which schedules consist. [Rewriting programs](../rewriting.md#schedules) explains schedules."
       --gen-op-doc ${SOURCE}/lib/Transforms/Schedule/ScheduleOps.td)
tblgen(transforms.md "Passes over nb"
       "What each pass does to a program of the nb dialect, and its options."
       --gen-pass-doc ${SOURCE}/lib/Transforms/Passes.td)
tblgen(conversion.md "Passes out of nb"
       "The passes that lower a program of the nb dialect to loops, vectors and arithmetic, and their options."
       --gen-pass-doc ${SOURCE}/lib/Conversion/Passes.td)

execute_process(COMMAND ${TOOLS}/nb-sim --list-flags OUTPUT_FILE ${OUT}/reference/nb-sim.md
                COMMAND_ERROR_IS_FATAL ANY)
list(APPEND pages reference/nb-sim.md)

execute_process(COMMAND ${TABLE} OUTPUT_VARIABLE switches COMMAND_ERROR_IS_FATAL ANY)
file(READ ${SOURCE}/docs/semantics.md.in text)
string(REPLACE "@SWITCHES@\n" "${switches}" text "${text}")
file(WRITE ${OUT}/semantics.md "${text}")
list(APPEND pages semantics.md)

execute_process(COMMAND ${PYTHON} ${SOURCE}/docs/kernel_tables.py ${SOURCE}/test/bench/instructions.json
                OUTPUT_FILE ${OUT}/reference/kernel-numbers.md COMMAND_ERROR_IS_FATAL ANY)
list(APPEND pages reference/kernel-numbers.md)

function(man tool summary)
  file(MAKE_DIRECTORY ${OUT}/man)
  execute_process(COMMAND ${TOOLS}/${tool} --help
                  COMMAND ${PYTHON} ${SOURCE}/docs/man.py ${tool} ${summary}
                  OUTPUT_FILE ${OUT}/man/${tool}.1 COMMAND_ERROR_IS_FATAL ANY)
  set(pages ${pages} man/${tool}.1 PARENT_SCOPE)
endfunction()

man(nb-sim "simulate X-ray diffraction images of crystals")
man(nb-compile "compile kernels of nb-sim ahead of time")
man(nb-cache "manage the cache of compiled kernels")
man(nb-compare "compare two images pixel by pixel and peak by peak")
man(nb-bench "time nb-sim beside a nanoBragg program")
man(nb-gradcheck "compare derivatives with finite differences")
man(nb-run "run a function of an nb program")
man(nb-try "judge pass pipelines by image, gradient and speed")
man(nb-explore "show a compilation as a page")
man(nb-reduce "reduce a program that shows a fault")

if(COMPARE)
  foreach(page IN LISTS pages)
    execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${OUT}/${page} ${COMPARE}/${page}
                    RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
    if(differs)
      message(SEND_ERROR "docs/${page} is out of date; run: cmake --build build --target nb-docs")
    endif()
  endforeach()
endif()
