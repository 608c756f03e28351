# SPDX-License-Identifier: Apache-2.0
# ktpu_mutation_test(BLOCK TEST twin_x [INSIDE TOP]): the tests of `twin_x`, linked with a SystemVerilog BLOCK that
# carries faults, and run once with none of them and once with each (mutants_main.cpp). The faults are listed in
# BLOCK.cmake, written by scripts/mutants.py, and in BLOCK_by_hand.cmake. Each has a selector, so one Verilated library
# holds all of them. INSIDE: the Verilated block is TOP, of which BLOCK is a part.
#
# A fault whose text is no longer in its file is left out and counted as stale; the test says how many and fails if
# they are many.

# A fault of BLOCK.cmake: `text` of the file is replaced by `mutated`. `sound` and `faulty` are for the report.
function(ktpu_mutant name class file text mutated sound faulty)
  set(number "0x${name}")
  ktpu_mutate()
endfunction()

# A fault of BLOCK_by_hand.cmake: the expression `text`, found once in the file, becomes `faulty`. With STATEMENT both are
# statements.
function(ktpu_fault name file text faulty what)
  set(class "by hand")
  set(sound "${what}")
  string(SHA1 hash "${name}")
  string(SUBSTRING "${hash}" 0 5 hash)  # below all numbers of BLOCK.cmake
  set(number "0x${hash}")
  if("${ARGN}" STREQUAL "STATEMENT")
    set(mutated "begin if (`KTPU_FAULT(${hash})) begin ${faulty} end else begin ${text} end end")
  else()
    set(mutated "(`KTPU_FAULT(${hash}) ? (${faulty}) : (${text}))")
  endif()
  set(faulty "")
  ktpu_mutate()
endfunction()

# The work of both, with the variables of its caller: the file's text with the fault, and a row of the table. Line 0 says
# that the text is not there.
macro(ktpu_mutate)
  set(line 0)
  string(FIND "${mutants_text_${file}}" "${text}" at)
  if(NOT at LESS 0)
    string(FIND "${mutants_text_${file}}" "${text}" last REVERSE)
    if(NOT at EQUAL last)
      message(FATAL_ERROR "fault ${name}: ${file} contains more than once: ${text}")
    endif()
    string(FIND "${mutants_original_${file}}" "${text}" at)
    string(SUBSTRING "${mutants_original_${file}}" 0 ${at} before)
    string(REGEX REPLACE "[^\n]" "" before "${before}")
    string(LENGTH "${before}" line)
    math(EXPR line "${line} + 1")
    string(REPLACE "${text}" "${mutated}" replaced "${mutants_text_${file}}")
    set(mutants_text_${file} "${replaced}" PARENT_SCOPE)
  endif()
  set(mutants_rows "${mutants_rows}    {\"${name}\", ${number}, \"${class}\", \"${file}\", ${line}, R\"m(${sound})m\", R\"m(${faulty})m\"},\n"
    PARENT_SCOPE)
endmacro()

function(ktpu_write_if_changed path text)
  set(old "")
  if(EXISTS "${path}")
    file(READ "${path}" old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE "${path}" "${text}")
  endif()
endfunction()

function(ktpu_mutation_test block)
  cmake_parse_arguments(ARG "" "TEST;INSIDE" "" ${ARGN})
  set(top ${block})
  if(ARG_INSIDE)
    set(top ${ARG_INSIDE})
  endif()
  string(TOUPPER ${top} upper)
  get_property(sources GLOBAL PROPERTY KTPU_${upper}_SV)
  set(mutants_rows "")
  foreach(source IN LISTS sources)
    get_filename_component(base "${source}" NAME)
    file(READ "${source}" mutants_text_${base})
    set(mutants_original_${base} "${mutants_text_${base}}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  endforeach()
  foreach(table ${block}_by_hand ${block})
    include(${CMAKE_CURRENT_SOURCE_DIR}/${table}.cmake OPTIONAL)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${table}.cmake")
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${block}")
  set(mutated_sources "${CMAKE_CURRENT_SOURCE_DIR}/selector.sv")
  foreach(source IN LISTS sources)
    get_filename_component(base "${source}" NAME)
    ktpu_write_if_changed("${folder}/${base}" "${mutants_text_${base}}")
    list(APPEND mutated_sources "${folder}/${base}")
  endforeach()
  ktpu_write_if_changed("${folder}/mutants_table.inc" "${mutants_rows}")

  # The same class as of the sound block, so that the adapter and whoever uses it are linked with this one: objects and
  # libraries named first win over ktpu_rtl_TOP_v, of which nothing is left to take.
  ktpu_verilate(ktpu_mutated_${block}_v NO_LINT PREFIX Vktpu_${top} TOP ktpu_${top} OPT -O1 SOURCES ${mutated_sources})
  target_compile_options(ktpu_mutated_${block}_v PRIVATE -include "${CMAKE_CURRENT_SOURCE_DIR}/selected.h")
  # Of the adapters that of this class; another class of the same library stays as it is.
  get_target_property(adapter_folder ktpu_rtl_${top} SOURCE_DIR)
  get_target_property(adapters ktpu_rtl_${top} SOURCES)
  set(all "")
  foreach(adapter IN LISTS adapters)
    file(STRINGS "${adapter_folder}/${adapter}" includes REGEX "#include \"Vktpu_${top}\\.h\"")
    if(includes)
      list(APPEND all "${adapter_folder}/${adapter}")
    endif()
  endforeach()
  get_target_property(test_folder ${ARG_TEST} SOURCE_DIR)
  get_target_property(test_sources ${ARG_TEST} SOURCES)
  list(TRANSFORM test_sources PREPEND "${test_folder}/")
  list(APPEND all ${test_sources})
  get_target_property(libraries ${ARG_TEST} LINK_LIBRARIES)
  list(REMOVE_ITEM libraries GTest::gtest_main)
  get_target_property(definitions ${ARG_TEST} COMPILE_DEFINITIONS)
  add_executable(mutants_${block} mutants_main.cpp ${all})
  target_link_libraries(mutants_${block} PRIVATE ktpu_mutated_${block}_v ${libraries} GTest::gtest)
  target_compile_definitions(mutants_${block} PRIVATE ${definitions} KTPU_BLOCK="${block}")
  target_include_directories(mutants_${block} PRIVATE "${folder}")
  add_test(NAME mutants_${block} COMMAND mutants_${block})
  set_tests_properties(mutants_${block} PROPERTIES LABELS twin TIMEOUT 1200)
  add_test(NAME mutants_${block}_explained COMMAND mutants_${block} --explained)
  set_tests_properties(mutants_${block}_explained PROPERTIES LABELS nightly TIMEOUT 2400)
endfunction()
