# SPDX-License-Identifier: Apache-2.0
# Modules of your own in a machine of ktpu-sim (docs/rtl.md). Both functions make a plugin NAME, a shared object
# <last word of TOP or CLASS>.so in the current binary folder, which ktpu-sim finds by the topology's `impl`.
#
# ktpu_add_user_rtl(NAME KIND router|cluster|vector|memory|agent|command_engine TOP module SOURCES a.sv ...
#                   [PARAMETERS N=1 ...] [VERILATOR_ARGS -Ifolder ...] [OPT -O2])
#   SystemVerilog through Verilator. Ports and widths have to be those of the project's own module of that kind
#   (rtl_models/<kind>/README.md); that is checked here and whenever a source has changed. SOURCES in the order in
#   which Verilator has to read them. ktpu_rtl_sources(router OUT) sets OUT to the files of the project's own module,
#   for modules that use it or parts of it; ${KTPU_RTL_ROOT}/ktpu_pkg.sv is the package of flits and numbers.
#
# ktpu_add_user_pins(NAME KIND router|endpoint CLASS class HEADER a.h SOURCES a.cpp ...)
#   A SystemC module: CLASS, declared in HEADER, derives from ktpu::pins::RouterPins (tlm/pins/router_pins.h) or
#   ktpu::pins::EndpointPins (tlm/pins/endpoint_pins.h) and is constructed from its name and its parameters.

set(KTPU_USER_MODULES_DIR "${CMAKE_CURRENT_LIST_DIR}")

function(ktpu_rtl_sources kind out)
  string(TOUPPER ${kind} upper)
  get_property(sources GLOBAL PROPERTY KTPU_${upper}_SV)
  if(NOT sources)
    include("${KTPU_RTL_ROOT}/sources.cmake")
    set(sources "${KTPU_${upper}_SV}")
  endif()
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()

function(ktpu_user_sources out)
  set(absolute "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${source}")
      message(FATAL_ERROR "${name}: there is no source ${source}")
    endif()
    list(APPEND absolute "${source}")
  endforeach()
  set(${out} "${absolute}" PARENT_SCOPE)
endfunction()

# The shared object from ${plugin_*}, which the template reads.
function(ktpu_user_plugin name top)
  string(REGEX REPLACE ".*::" "" word "${top}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}_plugin.cpp")
  list(JOIN plugin_sources "\\n" plugin_sources)
  configure_file("${KTPU_USER_MODULES_DIR}/user_plugin.cpp.in" "${source}" @ONLY)
  add_library(${name} MODULE "${source}")
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME "${word}" SUFFIX ".so"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${name} PRIVATE cxx_std_20)
  # Two plugins, and the program that loads them, must not see each other's copies of anything.
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")  # whose runtime is in the program
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  target_link_libraries(${name} PRIVATE ${ARGN} ktpu::plugin)
endfunction()

function(ktpu_add_user_rtl name)
  cmake_parse_arguments(ARG "" "KIND;TOP;OPT" "SOURCES;PARAMETERS;VERILATOR_ARGS" ${ARGN})
  if(NOT TARGET ktpu::rtl_twin)
    message(FATAL_ERROR "${name}: this ktpu-sim was built without RTL (KTPU_RTL=OFF)")
  endif()
  set(kinds router cluster vector memory agent command_engine)
  if(NOT ARG_KIND IN_LIST kinds)
    message(FATAL_ERROR "${name}: KIND \"${ARG_KIND}\": it is one of ${kinds}")
  endif()
  if(NOT ARG_TOP OR NOT ARG_SOURCES OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: give KIND, TOP and SOURCES${ARG_UNPARSED_ARGUMENTS}")
  endif()
  ktpu_user_sources(sources ${ARG_SOURCES})
  find_package(verilator CONFIG REQUIRED)
  if(NOT verilator_VERSION VERSION_EQUAL KTPU_VERILATOR_VERSION)
    message(FATAL_ERROR "${name}: this ktpu-sim was built with Verilator ${KTPU_VERILATOR_VERSION}, and Verilator "
      "${verilator_VERSION} was found: use one version for both")
  endif()
  if(NOT COMMAND ktpu_verilate)
    include("${KTPU_RTL_ROOT}/verilate.cmake")
  endif()
  # No warnings of style in code that is not ours, and none ends the build.
  if(NOT ARG_OPT)
    set(ARG_OPT -O2)
  endif()
  ktpu_verilate(${name}_v PREFIX V${name} TOP ${ARG_TOP} OPT ${ARG_OPT} SOURCES ${sources}
    PARAMETERS ${ARG_PARAMETERS} ARGS -Wno-fatal -Wno-style ${ARG_VERILATOR_ARGS})
  set_target_properties(${name}_v PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)

  # The ports, as Verilator understood them, now and whenever it runs again.
  get_target_property(generated ${name}_v SOURCES)
  list(FILTER generated INCLUDE REGEX "/V${name}[.]cpp$")
  string(REGEX REPLACE "[.]cpp$" ".h" header "${generated}")
  get_property(contract GLOBAL PROPERTY KTPU_CONTRACT_${ARG_KIND})
  if(NOT contract)
    set(contract "${KTPU_RTL_ROOT}/contract/Vktpu_${ARG_KIND}.h")
  endif()
  set(readme "${KTPU_RTL_ROOT}/${ARG_KIND}/README.md")
  list(JOIN sources "\\;" joined)
  set(check "${CMAKE_COMMAND}" "-DKIND=${ARG_KIND}" "-DTOP=${ARG_TOP}" "-DSOURCES=${joined}" "-DREADME=${readme}"
    "-DCONTRACT=${contract}" "-DFOUND=${header}" -P "${KTPU_USER_MODULES_DIR}/check_ports.cmake")
  execute_process(COMMAND ${check} RESULT_VARIABLE status ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name}: ports differ from the contract\n${text}")
  endif()
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${name}_ports.checked")
  list(JOIN sources "$<SEMICOLON>" escaped)
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" "-DKIND=${ARG_KIND}" "-DTOP=${ARG_TOP}" "-DSOURCES=${escaped}" "-DREADME=${readme}"
      "-DCONTRACT=${contract}" "-DFOUND=${header}" -P "${KTPU_USER_MODULES_DIR}/check_ports.cmake"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${header}" "${contract}" "${KTPU_USER_MODULES_DIR}/check_ports.cmake"
    COMMENT "Ports of ${ARG_TOP}" VERBATIM)

  set(plugin_includes "#include \"V${name}.h\"\n#include \"rtl_models/${ARG_KIND}/${ARG_KIND}_twin_impl.h\"")
  if(ARG_KIND STREQUAL memory)  # whose staging memory can be loaded and read from outside
    string(PREPEND plugin_includes "#include \"V${name}___024root.h\"\n")
  endif()
  set(twins RouterTwinOf ClusterTwinOf VectorTwinOf MemoryTwinOf AgentTwinOf CommandEngineTwinOf)
  list(FIND kinds ${ARG_KIND} at)
  list(GET twins ${at} twin)
  set(twin "ktpu::rtl::${twin}<V${name}>")
  set(plugin_instance "template class ${twin};")
  set(plugin_made kRtl)
  set(plugin_kind ${ARG_KIND})
  set(plugin_top ${ARG_TOP})
  set(plugin_sources ${sources})
  if(ARG_KIND MATCHES "^(router|memory|agent|command_engine)$")
    set(plugin_maker ".${ARG_KIND} = ktpu::plugin::make_${ARG_KIND}<${twin}>")
  else()
    set(plugin_maker ".endpoint = ktpu::plugin::make_${ARG_KIND}<${twin}>")
  endif()
  ktpu_user_plugin(${name} ${ARG_TOP} ${name}_v ktpu::rtl_twin ktpu::sim)
  # In front of compiling what would fail without them.
  set_property(SOURCE "${CMAKE_CURRENT_BINARY_DIR}/${name}_plugin.cpp" APPEND PROPERTY OBJECT_DEPENDS "${stamp}")
endfunction()

function(ktpu_add_user_pins name)
  cmake_parse_arguments(ARG "" "KIND;CLASS;HEADER" "SOURCES" ${ARGN})
  set(kinds router endpoint)
  if(NOT ARG_KIND IN_LIST kinds)
    message(FATAL_ERROR "${name}: KIND \"${ARG_KIND}\": it is one of ${kinds}")
  endif()
  if(NOT ARG_CLASS OR NOT ARG_HEADER OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: give KIND, CLASS, HEADER and SOURCES${ARG_UNPARSED_ARGUMENTS}")
  endif()
  ktpu_user_sources(plugin_sources ${ARG_SOURCES} ${ARG_HEADER})
  ktpu_user_sources(header ${ARG_HEADER})
  set(plugin_includes "#include \"${header}\"\n#include \"tlm/pins/plugin_of_pins.h\"")
  set(plugin_made kPins)
  set(plugin_kind ${ARG_KIND})
  set(plugin_top ${ARG_CLASS})
  set(plugin_maker ".${ARG_KIND} = ktpu::pins::make_${ARG_KIND}<${ARG_CLASS}>")
  ktpu_user_plugin(${name} ${ARG_CLASS} ktpu::pins)
  target_sources(${name} PRIVATE ${plugin_sources})
endfunction()
