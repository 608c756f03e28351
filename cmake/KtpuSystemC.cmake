# SPDX-License-Identifier: Apache-2.0
# Finds SystemC and proves at configure time that the library accepts the C++ dialect we
# tell it: SystemC checks that with a versioned symbol, so a mismatch would otherwise
# surface as an undefined reference in the last link step.
find_path(SYSTEMC_INCLUDE_DIR systemc)
find_library(SYSTEMC_LIBRARY systemc)
if(NOT SYSTEMC_INCLUDE_DIR OR NOT SYSTEMC_LIBRARY)
  message(FATAL_ERROR "SystemC was not found. On Debian 12: apt-get install libsystemc-dev. "
    "Elsewhere set SYSTEMC_INCLUDE_DIR and SYSTEMC_LIBRARY.")
endif()
set(KTPU_SYSTEMC_CPLUSPLUS 201703L CACHE STRING
  "Value of SC_CPLUSPLUS: the C++ standard the installed SystemC library was built with")

add_library(SystemC::systemc UNKNOWN IMPORTED)
set_target_properties(SystemC::systemc PROPERTIES
  IMPORTED_LOCATION "${SYSTEMC_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${SYSTEMC_INCLUDE_DIR}"
  INTERFACE_COMPILE_DEFINITIONS "SC_CPLUSPLUS=${KTPU_SYSTEMC_CPLUSPLUS};SC_INCLUDE_DYNAMIC_PROCESSES")

function(ktpu_systemc_links cplusplus result)
  file(WRITE "${CMAKE_BINARY_DIR}/systemc_probe/probe.cpp"
    "#include <systemc>\nint sc_main(int, char**) { return 0; }\n")
  try_compile(ok "${CMAKE_BINARY_DIR}/systemc_probe/${cplusplus}"
    SOURCES "${CMAKE_BINARY_DIR}/systemc_probe/probe.cpp"
    COMPILE_DEFINITIONS -DSC_CPLUSPLUS=${cplusplus} -DSC_INCLUDE_DYNAMIC_PROCESSES
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${SYSTEMC_INCLUDE_DIR}"
    LINK_LIBRARIES "${SYSTEMC_LIBRARY}" pthread
    CXX_STANDARD 20)
  set(${result} ${ok} PARENT_SCOPE)
endfunction()

if(NOT KTPU_SYSTEMC_PROBED STREQUAL "${KTPU_SYSTEMC_CPLUSPLUS}:${SYSTEMC_LIBRARY}")
  ktpu_systemc_links(${KTPU_SYSTEMC_CPLUSPLUS} ktpu_sc_ok)
  if(NOT ktpu_sc_ok)
    set(ktpu_sc_found "none of 199711L 201103L 201402L 201703L 202002L")
    foreach(candidate 199711L 201103L 201402L 201703L 202002L)
      ktpu_systemc_links(${candidate} ktpu_sc_ok)
      if(ktpu_sc_ok)
        set(ktpu_sc_found ${candidate})
        break()
      endif()
    endforeach()
    message(FATAL_ERROR "SystemC at ${SYSTEMC_LIBRARY} does not link with SC_CPLUSPLUS="
      "${KTPU_SYSTEMC_CPLUSPLUS}: it was built with another C++ standard. It links with "
      "${ktpu_sc_found}. Configure again with -DKTPU_SYSTEMC_CPLUSPLUS=${ktpu_sc_found} "
      "(a number), or install a SystemC built with C++17.")
  endif()
  set(KTPU_SYSTEMC_PROBED "${KTPU_SYSTEMC_CPLUSPLUS}:${SYSTEMC_LIBRARY}" CACHE INTERNAL "")
endif()
