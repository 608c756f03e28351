# SPDX-License-Identifier: Apache-2.0
# ktpu_verilate(target PREFIX V<top> TOP <module> SOURCES a.sv ... [OPT -O2] [PARAMETERS N=1 ...] [ARGS -Wno-fatal ...] [NO_LINT]):
# one static library of Verilated code with the class PREFIX. Failing assertions throw (rtl_models/twin.h);
# NO_LINT is for sources that a tool has written.
# With KTPU_RTL_COVERAGE the code counts its lines (rtl_models/coverage.h)
# and is hardly optimised.
#
# -fno-reloop: Verilator 5.006 emits an undeclared loop variable when it rolls the copies of a wide sampled input
# into a loop. The generated files are small and share large headers, hence one unity file a target; Verilator's
# own runtime is built once (ktpu_verilated).
function(ktpu_verilate target)
  cmake_parse_arguments(ARG "NO_LINT" "PREFIX;TOP;OPT" "SOURCES;PARAMETERS;ARGS" ${ARGN})
  if(NOT ARG_OPT)
    set(ARG_OPT -O2)
  endif()
  set(trace "")
  if(KTPU_WAVES)
    set(trace TRACE TRACE_STRUCTS)
  endif()
  set(checks -Wall --assert)
  if(ARG_NO_LINT)
    set(checks -Wno-lint -Wno-style -Wno-ENUMVALUE -Wno-UNOPTFLAT --assert)
  endif()
  set(coverage "")
  if(KTPU_RTL_COVERAGE AND NOT ARG_NO_LINT)
    # Of always blocks that are split, one part counts branches by what another part has changed. Whole ones make
    # loops that settle.
    set(coverage --coverage-line -fno-split -fno-reorder -Wno-UNOPTFLAT)
    set(ARG_OPT -O1)
  endif()
  set(parameters "")
  foreach(parameter ${ARG_PARAMETERS})
    list(APPEND parameters "-G${parameter}")
  endforeach()
  add_library(${target} STATIC)
  verilate(${target} SOURCES ${ARG_SOURCES} TOP_MODULE ${ARG_TOP} PREFIX ${ARG_PREFIX} ${trace}
    VERILATOR_ARGS -O3 -fno-reloop ${checks} ${coverage} --x-assign fast --x-initial fast
      "-I${CMAKE_CURRENT_FUNCTION_LIST_DIR}/prim" ${parameters} ${ARG_ARGS})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "/include/verilated[a-z_]*[.]cpp$")
  set_target_properties(${target} PROPERTIES SOURCES "${sources}" UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  # Generated code is not looked at by the sanitizers: it takes minutes and a gigabyte to instrument.
  target_compile_options(${target} PRIVATE -w ${ARG_OPT} -fno-sanitize=all)
  target_link_libraries(${target} PUBLIC ktpu::rtl_twin)
  # Verilated headers are not ours: no warnings from them.
  get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${directories}")
endfunction()
