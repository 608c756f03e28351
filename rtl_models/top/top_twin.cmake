# SPDX-License-Identifier: Apache-2.0
# Tops as ktpu-rtlgen writes them, Verilated at build time (the writer has to be built first). Class V<name>_top;
# <target>.inc has its header.
#   ktpu_top_twin(TARGET NAME TOPOLOGY [OPT -O1])
function(ktpu_top_twin target name topology)
  cmake_parse_arguments(ARG "" "OPT" "" ${ARGN})
  if(NOT ARG_OPT)
    set(ARG_OPT -O1)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/tops/${name}")
  set(prefix "V${name}_top")
  set(trace "")
  if(KTPU_WAVES)
    set(trace --trace --trace-structs)
  endif()
  set(depends "")
  foreach(block AGENT CLUSTER COMMAND_ENGINE MEMORY ROUTER VECTOR)
    get_property(sources GLOBAL PROPERTY KTPU_${block}_SV)
    list(APPEND depends ${sources})
  endforeach()
  list(REMOVE_DUPLICATES depends)
  if(EXISTS "${topology}")
    list(APPEND depends "${topology}")
  endif()
  set(cache "")
  if(CCACHE_PROGRAM)
    set(cache "OBJCACHE=${CCACHE_PROGRAM}")
  endif()
  add_custom_command(OUTPUT "${folder}/obj/${prefix}__ALL.a" "${folder}/obj/${prefix}.h"
    COMMAND ktpu-rtlgen -t "${topology}" -o "${folder}" --copy
    COMMAND "${VERILATOR_BIN}" --cc -O3 -fno-reloop -Wall --assert --x-assign fast --x-initial fast ${trace}
      --prefix ${prefix} --top-module ${name}_top --Mdir "${folder}/obj" -F "${folder}/${name}.f"
    COMMAND make -s -C "${folder}/obj" -f ${prefix}.mk ${prefix}__ALL.a ${cache} OPT_FAST=${ARG_OPT} OPT_SLOW=-O0
      "USER_CPPFLAGS=-w -fPIC -DVL_TIME_CONTEXT"
    DEPENDS ktpu-rtlgen ${depends}
    COMMENT "Verilating the generated top of ${name}" VERBATIM)
  add_custom_target(${target}_made DEPENDS "${folder}/obj/${prefix}__ALL.a")
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_made)
  target_include_directories(${target} SYSTEM INTERFACE "${folder}/obj")
  target_link_libraries(${target} INTERFACE "${folder}/obj/${prefix}__ALL.a" ktpu::rtl_twin ktpu_verilated)
  file(CONFIGURE OUTPUT ${target}.inc CONTENT "#include \"${prefix}.h\"\n" @ONLY)
endfunction()
