# SPDX-License-Identifier: Apache-2.0
# Installs BUILD into a fresh folder, builds the consumer against it, runs it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
endfunction()
file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" -S "${SOURCE}/consumer" -B "${WORK}/consumer" -DCMAKE_BUILD_TYPE=Release
  "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
run("${CMAKE_COMMAND}" --build "${WORK}/consumer")
run("${CMAKE_COMMAND}" -E chdir "${WORK}" "${WORK}/consumer/consumer")
run("${CMAKE_COMMAND}" -E chdir "${WORK}" "${WORK}/consumer/kernel")
run("${CMAKE_COMMAND}" -E chdir "${WORK}" "${WORK}/prefix/bin/ktpu-cc" kernels.softmax -t mesh8 -s x=4x32 -o softmax.bin)
run("${CMAKE_COMMAND}" -E chdir "${WORK}" "${WORK}/prefix/bin/ktpu-objdump" softmax.bin)
run("${CMAKE_COMMAND}" -E chdir "${WORK}" "${WORK}/prefix/bin/ktpu-sim" --list-topologies)
