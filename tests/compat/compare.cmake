# Runs PROGRAM, and compares what it prints with what OTHER prints, or with the file EXPECTED.
# SPDX-License-Identifier: BSD-3-Clause
function(output_of program result)
  execute_process(COMMAND ${program} OUTPUT_VARIABLE text RESULT_VARIABLE status TIMEOUT 100)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${program} ended with ${status}; it has printed:\n${text}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

output_of(${PROGRAM} printed)
if(OTHER)
  output_of(${OTHER} expected)
else()
  file(READ ${EXPECTED} expected)
endif()
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "Expected:\n${expected}\nPrinted:\n${printed}")
endif()
