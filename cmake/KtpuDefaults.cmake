# SPDX-License-Identifier: Apache-2.0
# Compiler settings and the two helpers every folder uses.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
option(KTPU_WERROR "Treat warnings as errors" ON)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(ktpu_warnings INTERFACE)
target_compile_options(ktpu_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${KTPU_WERROR}>:-Werror>)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  # What the sanitizers add makes GCC 12 see uninitialised values in <regex>.
  target_compile_options(ktpu_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# ktpu_add_library(name SOURCES a.cpp ... [DEPS ktpu::x ...] [PRIVATE_DEPS ...])
# makes library ktpu_<name> with the alias ktpu::<name>; includes are rooted at
# the repository, so an #include shows its full path and the layering test can read it.
function(ktpu_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(ktpu_${name} STATIC ${ARG_SOURCES})
  add_library(ktpu::${name} ALIAS ktpu_${name})
  target_include_directories(ktpu_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  target_link_libraries(ktpu_${name} PUBLIC ${ARG_DEPS}
    PRIVATE ${ARG_PRIVATE_DEPS} $<BUILD_INTERFACE:ktpu_warnings>)
  set_target_properties(ktpu_${name} PROPERTIES EXPORT_NAME ${name})
  # What others build on: the contract, the reader of machines, the models and the compiler. Tools and RTL twins
  # stay here.
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  if(folder MATCHES "^(arch|topologies|tlm|compiler)(/|$)")
    target_include_directories(ktpu_${name} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ktpu>)
    install(TARGETS ktpu_${name} EXPORT ktpu_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endfunction()

# ktpu_add_test(name SOURCES ... DEPS ... [SYSTEMC] [LABELS ...]): one GoogleTest executable,
# every case its own ctest entry and process (SystemC allows one elaboration a process).
function(ktpu_add_test name)
  cmake_parse_arguments(ARG "SYSTEMC" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_SYSTEMC)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/systemc_main.cpp)
    target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock SystemC::systemc ktpu_warnings)
  else()
    target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main GTest::gmock ktpu_warnings)
  endif()
  target_compile_definitions(${name} PRIVATE
    KTPU_SOURCE_DIR="${PROJECT_SOURCE_DIR}" KTPU_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set(properties TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1)
  if(ARG_LABELS)  # an empty value would make the next word the label
    list(APPEND properties LABELS ${ARG_LABELS})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
