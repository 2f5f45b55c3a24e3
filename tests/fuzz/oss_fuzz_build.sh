#!/usr/bin/env bash
# Builds the fuzz targets by the conventions of OSS-Fuzz: CC, CXX, CFLAGS, CXXFLAGS and
# LIB_FUZZING_ENGINE say how; programs, seed corpora and dictionaries go to $OUT. Needs cmake, ninja,
# and the headers of Boost, OpenSSL, simdjson and zstd (Debian: libboost-dev libssl-dev libsimdjson-dev libzstd-dev).
# To try it: OUT=/tmp/out CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
#            CXXFLAGS=-fsanitize=address,fuzzer-no-link tests/fuzz/oss_fuzz_build.sh
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
: "${OUT:?is the folder for the programs}" "${LIB_FUZZING_ENGINE:?says what to link}"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${WORK:-$root/build}/oss-fuzz
# The programs run on a machine without these libraries: those are copied to $OUT/lib.
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPUBSUB_FUZZ=ON -DPUBSUB_CCACHE=OFF \
  -DCMAKE_EXE_LINKER_FLAGS='-Wl,-rpath,$ORIGIN/lib'
cmake --build "$build" --target fuzz_targets

mkdir -p "$OUT/lib"
"$build/tests/fuzz/fuzz_seeds" "$build/corpus"
for program in "$build"/tests/fuzz/fuzz_*; do
  name=$(basename "$program")
  [[ -f $program && -x $program && $name != fuzz_seeds ]] || continue
  cp "$program" "$OUT/"
  ldd "$program" | awk '/libsimdjson|libssl|libcrypto|libzstd/ { print $3 }' | xargs -r cp -L -n -t "$OUT/lib"
  cp "$build/corpus/${name#fuzz_}.dict" "$OUT/$name.dict"
  (cd "$build/corpus/${name#fuzz_}" && cmake -E tar cf "$OUT/${name}_seed_corpus.zip" --format=zip -- *)
done
