# SPDX-License-Identifier: Apache-2.0
# ktpu_verilate(target PREFIX V<top> TOP <module> SOURCES a.sv ... [DEFINES ...] [OPT -O2] [PARAMETERS N=1 ...]):
# one static library of Verilated code with the class PREFIX. Failing assertions throw (rtl_models/twin.h).
set(KTPU_RTL_PRIM_DIR "${CMAKE_CURRENT_LIST_DIR}/prim")
set(KTPU_RTL_DIR "${CMAKE_CURRENT_LIST_DIR}")

# -fno-reloop: Verilator 5.006 emits an undeclared loop variable when it rolls the copies of a wide sampled input
# into a loop.
function(ktpu_verilate target)
  cmake_parse_arguments(ARG "" "PREFIX;TOP;OPT" "SOURCES;PARAMETERS" ${ARGN})
  if(NOT ARG_OPT)
    set(ARG_OPT -O2)
  endif()
  set(trace "")
  if(KTPU_WAVES)
    set(trace TRACE TRACE_STRUCTS)
  endif()
  set(parameters "")
  foreach(parameter ${ARG_PARAMETERS})
    list(APPEND parameters "-G${parameter}")
  endforeach()
  add_library(${target} STATIC)
  verilate(${target} SOURCES ${ARG_SOURCES} TOP_MODULE ${ARG_TOP} PREFIX ${ARG_PREFIX} ${trace}
    VERILATOR_ARGS -O3 -fno-reloop -Wall --assert --x-assign fast --x-initial fast -I${KTPU_RTL_PRIM_DIR} ${parameters}
    OPT_FAST ${ARG_OPT} OPT_SLOW -O0 OPT_GLOBAL ${ARG_OPT})
  target_compile_definitions(${target} PUBLIC VL_TIME_CONTEXT PRIVATE VL_USER_STOP VL_USER_FATAL)
  target_compile_options(${target} PRIVATE -w -include "${KTPU_RTL_DIR}/verilated_print.h")
  target_link_libraries(${target} PUBLIC ktpu::rtl_twin)
  # Verilated headers are not ours: no warnings from them.
  get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${directories}")
endfunction()
