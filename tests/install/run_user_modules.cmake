# SPDX-License-Identifier: Apache-2.0
# As somebody who only installed ktpu-sim: builds the examples with modules of one's own, and modules that are wrong,
# and runs them. PREFIX, EXAMPLES, PROGRAM, VECTOR_PROGRAM, SOURCE, WORK, LAUNCHER.
function(expect status words)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE got OUTPUT_VARIABLE output ERROR_VARIABLE output
    WORKING_DIRECTORY "${WORK}")
  # CMake breaks its messages into lines.
  string(REGEX REPLACE "[ \n]+" " " flat "${output}")
  if((status STREQUAL failure AND got EQUAL 0) OR (NOT status STREQUAL failure AND NOT got EQUAL status))
    message(FATAL_ERROR "${ARGN}: status ${got}, not ${status}\n${output}")
  endif()
  foreach(word IN LISTS words)
    string(FIND "${flat}" "${word}" at)
    if(at LESS 0)
      message(FATAL_ERROR "${ARGN}: does not say \"${word}\"\n${output}")
    endif()
  endforeach()
endfunction()
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(sim "${PREFIX}/bin/ktpu-sim")
set(configure "-DCMAKE_BUILD_TYPE=Release" "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
foreach(example user_router pins_router)
  file(COPY "${EXAMPLES}/${example}" DESTINATION "${WORK}")
  expect(2 "is not built: there is no plugin" "${sim}" "${PROGRAM}" -t "${example}/machine.yaml")
  expect(0 "" "${CMAKE_COMMAND}" -S ${example} -B ${example}/build ${configure})
  expect(0 "" "${CMAKE_COMMAND}" --build ${example}/build)
  expect(0 "run.machine_cycles" "${sim}" "${PROGRAM}" -t "${example}/machine.yaml" --table)
endforeach()
expect(0 "router@1,1.lockstep.values" "${sim}" "${PROGRAM}" -t mesh1 --table
  --impl router=lockstep:pins_router/pins_router.cpp:PinsRouter)

# A source that changed afterwards, rightly and wrongly.
file(READ "${WORK}/user_router/my_router.sv" text)
execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)
string(REPLACE "output logic [4:0]        in_busy_o" "output logic [3:0]        in_busy_o" wrong "${text}")
file(WRITE "${WORK}/user_router/my_router.sv" "${wrong}")
expect(2 "has changed since" "${sim}" "${PROGRAM}" -t user_router/machine.yaml)
expect(failure "user_router/my_router.sv: module my_router, port in_busy_o: expected output of 5 bits, found output of 4 bits. Make it `output logic [4:0] in_busy_o`"
  "${CMAKE_COMMAND}" --build user_router/build)
file(WRITE "${WORK}/user_router/my_router.sv" "${text}")
expect(0 "" "${CMAKE_COMMAND}" --build user_router/build)
expect(0 "" "${sim}" "${PROGRAM}" -t user_router/machine.yaml)

set(wrong "wrong_router.sv: module wrong_router, port")
expect(failure "${wrong} in_busy_o: expected output of 5 bits, found output of 4 bits. Make it `output logic [4:0] in_busy_o`;${wrong} out_busy_i: expected input of 5 bits, found no such port. Add `input logic [4:0] out_busy_i`;${wrong} place_i: expected input of 24 bits, found output of 24 bits;${wrong} in_data_i: expected input of 1440 bits, found an unpacked array. Pack it: `input logic [1439:0] in_data_i`;${wrong} test_mode_i: expected none of this name, found input of 1 bits;rtl_models/router/README.md"
  "${CMAKE_COMMAND}" -S "${SOURCE}/user_modules" -B wrong ${configure} -DWRONG=router)
foreach(wrong
    "agent;quiet_o: expected output of 1 bits, found output of 2 bits. Make it `output logic quiet_o`;out_taken_i: expected input of 1 bits, found no such port. Add `input logic out_taken_i`"
    "command_engine;pc_last_i: expected input of 7 bits, found input of 8 bits. Make it `input logic [6:0] pc_last_i`;bus_data_i: expected input of 64 bits, found no such port. Add `input logic [63:0] bus_data_i`"
    "memory;at_i: expected input of 32 bits, found input of 33 bits. Make it `input logic [31:0] at_i`;b_valid_i: expected input of 1 bits, found no such port. Add `input logic b_valid_i`")
  list(POP_FRONT wrong kind)
  list(TRANSFORM wrong PREPEND "wrapped_${kind}.sv: module wrapped_${kind}, port ")
  expect(failure "${wrong};port scan_i: expected none of this name, found input of 1 bits. A ${kind} has no such port;rtl_models/${kind}/README.md"
    "${CMAKE_COMMAND}" -S "${SOURCE}/user_modules" -B wrong_${kind} ${configure} -DWRONG=${kind})
endforeach()
expect(0 "" "${CMAKE_COMMAND}" -S "${SOURCE}/user_modules" -B wrapped ${configure})
expect(0 "" "${CMAKE_COMMAND}" --build wrapped)
expect(0 "router@1,1.lockstep.values" "${sim}" "${PROGRAM}" -t mesh1 --table
  --impl router=lockstep:wrapped/wrapped_router.so)
expect(0 "cluster@1,1.lockstep.values" "${sim}" "${PROGRAM}" -t mesh1 --table
  --impl cluster=lockstep:wrapped/ktpu_cluster.so)
expect(0 "vector@3,1.lockstep.values" "${sim}" "${VECTOR_PROGRAM}" -t mesh8 --table
  --impl vector=lockstep:wrapped/ktpu_vector.so)

# What is no node of the picture: memory agent, control agent, command engine; alone, in lock-step, on their benches,
# and in a topology's words.
set(parts memory agent engine)
foreach(part IN LISTS parts)
  set(kind ${part})
  if(part STREQUAL engine)
    set(kind command_engine)
  endif()
  set(module "wrapped/wrapped_${kind}.so")
  expect(0 "run.machine_cycles" "${sim}" "${PROGRAM}" -t mesh1 --table --impl ${part}=rtl:${module})
  expect(0 "0 differences" "${PREFIX}/bin/ktpu-cosim" ${part} --cycles 4000 --module ${module})
  expect(2 "is for nodes of the kind router, and this is of the kind ${kind}"
    "${sim}" -t mesh8 --elaborate-only --impl ${part}=rtl:wrapped/wrapped_router.so)
  expect(2 "a SystemC module with pins can stand for a router or a node with one link pair, not for a"
    "${sim}" -t mesh8 --elaborate-only --impl ${part}=pins:pins_router/pins_router.cpp:PinsRouter)
endforeach()
expect(0 "memory.lockstep.values;engine.lockstep.values" "${sim}" "${PROGRAM}" -t mesh1 --table
  --impl memory=lockstep:wrapped/wrapped_memory.so --impl agent=lockstep:wrapped/wrapped_agent.so
  --impl engine=lockstep:wrapped/wrapped_command_engine.so)
expect(0 "run.machine_cycles" "${sim}" "${PROGRAM}" -t mesh1 --table
  --set "meshes.0.agent.control_agent.impl={lockstep: wrapped/wrapped_agent.so, top: wrapped_agent}"
  --set "meshes.0.agent.command_engine.impl={rtl: wrapped/wrapped_command_engine.so, top: wrapped_command_engine}")
