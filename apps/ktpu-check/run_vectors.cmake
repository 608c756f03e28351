# SPDX-License-Identifier: Apache-2.0
# Runs ktpu-check over a folder of recorded files, or one of them:
# cmake -DCHECK=... -DGROUP=formats [-DOPTIONS=--replay] [-DSAYS=regex] -DDEFAULT_VECTORS=... -P this
# SAYS: what its output must contain.
if(DEFINED ENV{KTPU_VECTORS})
  set(vectors "$ENV{KTPU_VECTORS}")
else()
  get_filename_component(vectors "${DEFAULT_VECTORS}" ABSOLUTE)
endif()
if(NOT EXISTS "${vectors}/${GROUP}")
  message("vectors not found: ${vectors}/${GROUP}")
  return()
endif()
execute_process(COMMAND "${CHECK}" ${OPTIONS} "${vectors}/${GROUP}" RESULT_VARIABLE status
  OUTPUT_VARIABLE output)
message("${output}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "ktpu-check ended with ${status}")
endif()
if(DEFINED SAYS AND NOT output MATCHES "${SAYS}")
  message(FATAL_ERROR "ktpu-check did not say: ${SAYS}")
endif()
