# What tools/quickstart, tools/test, tools/wheels and .ci/run share: setting up a machine, building, testing,
# installing.
# Sourced by bash; leaves the shell in the project's folder. Every step can be repeated and is short
# when nothing has changed.
# SPDX-License-Identifier: BSD-3-Clause

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
venv=$root/.venv
logs=$root/build/logs
mkdir -p "$logs"
jobs=$(nproc 2>/dev/null || echo 2)
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$jobs}
export PIP_DISABLE_PIP_VERSION_CHECK=1
# One name for the compiler in every build, or ccache takes it for two.
export CXX=${CXX:-c++}
# pip's Python sets LC_CTYPE where no locale is set: that changes no object file. Nor does the time at
# which a precompiled header was made. What it was made of does, comments too: GCC knows a file that is
# in it by its bytes, and would read a changed one twice; so files are compared, not what the
# preprocessor leaves of them.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}locale,pch_defines,time_macros
export CCACHE_DEPEND=1
# The build of the package, as deep in build/ as the others, takes from the cache what they have compiled.
export CCACHE_BASEDIR=$root
# A home that is missing or not ours must not end the build.
if [[ ! -w ${HOME:-/nowhere} ]]; then
  export HOME=$root/build/home CCACHE_DIR=$root/build/ccache
  mkdir -p "$HOME"
fi
# Programs started from here must see the project's environment, not one that happens to be active.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV

bold= green= red= dim= plain=
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' dim=$'\e[2m' plain=$'\e[0m'
fi
started=$SECONDS

step() { printf '%s==> %s%s %s(%d s)%s\n' "$bold$green" "$*" "$plain" "$dim" $((SECONDS - started)) "$plain"; }
note() { printf '    %s\n' "$*"; }
# One sentence on what is wrong, then the end.
die() {
  printf '%s%s: %s%s\n' "$bold$red" "$(basename "$0")" "$*" "$plain" >&2
  exit 1
}

# run_logged NAME COMMAND...: the command's output goes to build/logs/NAME.log, and its end is shown
# if the command fails. Set VERBOSE=1 to see all of it at once.
run_logged() {
  local log=$logs/$1.log
  shift
  if [[ -n ${VERBOSE:-} ]]; then
    "$@" </dev/null 2>&1 | tee "$log"
    [[ ${PIPESTATUS[0]} -eq 0 ]] || die "'$*' failed."
  elif ! "$@" </dev/null >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "'$*' failed; all it said is in ${log#"$root"/}."
  fi
}

# --- what the machine has to offer -----------------------------------------------------------------

# Debian packages of the commands and headers that are not there.
missing_packages() {
  local command package
  while read -r command package; do
    command -v "$command" >/dev/null || echo "$package"
  done <<'LIST'
c++ g++
cmake cmake
ninja ninja-build
pkg-config pkg-config
openssl openssl
LIST
  missing_headers
  [[ -n $(find_python) ]] || printf '%s\n' python3 python3-dev python3-venv
}

# Not looked for, since nothing else needs them: the peers of `pubsub bench compare`, which are
# libnng-dev libnats-dev nats-server libbroker-dev libcaf-dev (docs/performance.md), and Aeron, which
# needs default-jdk-headless and comes from Maven (bench/README.md).

# Asks the compiler, so that libraries which did not come from apt count too.
missing_headers() {
  local header package
  while read -r header package; do
    printf '#if !__has_include(<%s>)\nmissing: %s\n#endif\n' "$header" "$package"
  done <<'LIST' | "$CXX" -E -P -x c++ - 2>/dev/null | sed -n 's/^missing: //p' || true
boost/asio.hpp libboost-dev
openssl/ssl.h libssl-dev
simdjson.h libsimdjson-dev
toml++/toml.h libtomlplusplus-dev
CLI/CLI.hpp libcli11-dev
fmt/format.h libfmt-dev
doctest/doctest.h doctest-dev
pcap/pcap.h libpcap-dev
zmq.hpp cppzmq-dev
zstd.h libzstd-dev
re2/re2.h libre2-dev
LIST
}

# The first Python that can make virtual environments and build extensions; nothing if there is none.
# PYTHON=... names the one to take.
find_python() {
  local candidate
  for candidate in ${PYTHON:-python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9}; do
    "$candidate" -I - <<'CHECK' 2>/dev/null && return
import os, sys, sysconfig
import ensurepip, venv
assert sys.version_info >= (3, 9)
assert os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
print(sys.executable)
CHECK
  done
}

# apt_install PACKAGE...: as root, or through sudo. Refreshes the package lists where they may be old.
apt_install() {
  local as_root=()
  [[ $(id -u) -eq 0 ]] || as_root=(sudo)
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"
}

can_install() {
  command -v apt-get >/dev/null || return 1
  [[ $(id -u) -eq 0 ]] && return
  command -v sudo >/dev/null || return 1
  # A password can be asked for at a terminal only.
  sudo -n true 2>/dev/null || { [[ -t 0 && -z ${CI:-} ]] && sudo -v; }
}

# Installs what is missing, and nothing else.
install_missing() {
  local missing=() extra=()
  # Without a compiler the headers cannot be asked for: all of them are wanted then.
  if command -v "$CXX" >/dev/null; then
    mapfile -t missing < <(missing_packages)
  else
    mapfile -t missing < <(missing_packages; printf '%s\n' libboost-dev libssl-dev libsimdjson-dev libtomlplusplus-dev \
      libcli11-dev \
      libfmt-dev doctest-dev libpcap-dev cppzmq-dev libzstd-dev libre2-dev)
  fi
  command -v ccache >/dev/null || extra=(ccache) # only saves time
  # Without it there are no probes for tracers.
  "$CXX" -E -x c++ - <<<'#include <sys/sdt.h>' >/dev/null 2>&1 || extra+=(systemtap-sdt-dev)
  if ((${#missing[@]} + ${#extra[@]} == 0)); then
    note "everything needed is installed"
    return
  fi
  if ! can_install; then
    ((${#missing[@]} == 0)) && return
    die "missing, and not installable from here (that takes apt-get and root or sudo): ${missing[*]} (names of Debian packages)."
  fi
  note "installing: ${missing[*]} ${extra[*]}"
  run_logged apt apt_install "${missing[@]}" "${extra[@]}"
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || die "still missing after installing through apt-get: ${missing[*]}."
}

# Clang with its runtime libraries, which Debian packs separately: tools/fuzz and .ci/run need it.
has_libfuzzer() {
  local probe=$root/build/libfuzzer-probe
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address -x c++ - -o "$probe" >"$logs/libfuzzer-probe.log" 2>&1 && rm "$probe"
}

set_up_clang() {
  has_libfuzzer && return
  can_install || die "clang with libFuzzer is needed, and not installable from here (that takes apt-get and root or sudo)."
  note "installing: clang"
  run_logged apt-clang apt_install clang
  has_libfuzzer || run_logged apt-clang-rt apt_install "libclang-rt-$(clang++ -dumpversion | cut -d . -f 1)-dev"
  has_libfuzzer || die "clang cannot link libFuzzer; what it says is in build/logs/libfuzzer-probe.log."
}

# A browser for the test of the status page, gdb for that of probes, and Prometheus for those of what it
# reads: .ci/run has them looked for. Prometheus is only unpacked, for as a package it would start a service. Where they cannot be
# had their tests are skipped.
set_up_monitoring() {
  command -v chromium >/dev/null || ! can_install || apt_install chromium >"$logs/apt-chromium.log" 2>&1 ||
    note "chromium could not be installed"
  command -v gdb >/dev/null || ! can_install || apt_install gdb >"$logs/apt-gdb.log" 2>&1 || note "gdb could not be installed"
  local place=$root/build/prometheus
  if ! command -v promtool >/dev/null && [[ ! -x $place/usr/bin/promtool ]] && command -v apt-get >/dev/null; then
    mkdir -p "$place"
    (cd "$place" && apt-get -q download prometheus && dpkg -x prometheus_*.deb .) >"$logs/prometheus.log" 2>&1 ||
      note "prometheus could not be fetched"
  fi
  export PATH=$PATH:$place/usr/bin
}

# Shells whose completion is tested, and what finds mistakes in pages of the manual; where they cannot be had
# their tests are skipped.
set_up_shells() {
  local missing
  mapfile -t missing < <(for each in zsh fish mandoc groff; do command -v $each >/dev/null || echo ${each/groff/groff-base}; done)
  ((${#missing[@]} == 0)) || ! can_install || apt_install "${missing[@]}" >"$logs/apt-shells.log" 2>&1 ||
    note "${missing[*]} could not be installed"
}

# Broker and the actor framework that it stands on, for which there are components; where they cannot be had those are left out.
set_up_broker() {
  printf '#include <broker/broker.hh>\n#include <caf/all.hpp>\n' | "$CXX" -std=c++20 -E -x c++ - >/dev/null 2>&1 || ! can_install ||
    apt_install libbroker-dev libcaf-dev >"$logs/apt-broker.log" 2>&1 || note "libbroker-dev could not be installed"
}

# Engines that there are bridges to: the libraries of their clients, without which the component is left out, and servers for
# the tests, without which those are skipped. The packages nats-server and redis-server would start services: the first is
# only unpacked, and the program of the second is in redis-tools, under the name of another that it is as well.
set_up_engines() {
  local missing=() place=$root/build/engines
  printf '#include <librdkafka/rdkafka.h>\n#include <nats/nats.h>\n#include <hiredis/hiredis.h>\n' | "$CXX" -E -x c++ - >/dev/null 2>&1 ||
    missing+=(librdkafka-dev libnats-dev libhiredis-dev)
  command -v kcat >/dev/null || missing+=(kcat)
  command -v redis-server >/dev/null || command -v redis-check-rdb >/dev/null || missing+=(redis-tools)
  ((${#missing[@]} == 0)) || ! can_install || apt_install "${missing[@]}" >"$logs/apt-engines.log" 2>&1 ||
    note "${missing[*]} could not be installed"
  mkdir -p "$place/usr/sbin"
  command -v redis-server >/dev/null || ! command -v redis-check-rdb >/dev/null ||
    ln -sf "$(command -v redis-check-rdb)" "$place/usr/sbin/redis-server"
  if ! PATH=$PATH:/usr/sbin command -v nats-server >/dev/null && [[ ! -x $place/usr/sbin/nats-server ]] && command -v apt-get >/dev/null; then
    (cd "$place" && apt-get -q download nats-server && dpkg -x nats-server_*.deb .) >"$logs/nats-server.log" 2>&1 ||
      note "nats-server could not be fetched"
  fi
  export PATH=$PATH:$place/usr/sbin
}

check_versions() {
  local cmake_version
  cmake_version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  [[ $(printf '%s\n' 3.22 "$cmake_version" | sort -V | head -n 1) == 3.22 ]] ||
    die "CMake 3.22 or later is needed, and this is $cmake_version."
  "$CXX" -std=c++20 -fsyntax-only -x c++ - <<<'#include <concepts>
#include <span>' 2>/dev/null || die "a compiler for C++20 is needed (such as GCC 12), and $CXX is none."
}

set_up_machine() {
  step "Looking for what is needed"
  install_missing
  check_versions
}

# --- building ----------------------------------------------------------------------------------------

# configure PRESET [-DNAME=VALUE...]
configure() {
  local preset=$1
  shift
  run_logged "configure-$preset" cmake --preset "$preset" "$@"
}

# build PRESET [TARGET...]: shows ninja's progress at a terminal.
build() {
  local preset=$1 command=(cmake --build --preset "$1")
  shift
  (($# == 0)) || command+=(--target "$@")
  if [[ -t 1 && -z ${CI:-} ]]; then
    "${command[@]}" </dev/null || die "the build of preset $preset failed."
  else
    run_logged "build-$preset" "${command[@]}"
  fi
}

# --- testing -----------------------------------------------------------------------------------------

results=$root/build/test-results # as JUnit
failed=0

# run_ctest NAME PRESET [ctest option...]: results are in NAME.xml; where a test fails `failed` is 1 from then on.
run_ctest() {
  local name=$1 preset=$2 wrapper=()
  shift 2
  # The thread sanitizer of GCC 12 does not know how far new kernels spread addresses.
  [[ $preset != tsan ]] || ! setarch -R true 2>/dev/null || wrapper=(setarch -R)
  "${wrapper[@]}" ctest --preset "$preset" --parallel 2 --output-junit "$results/$name.xml" --no-tests=error \
    --test-output-size-passed 1000000 --timeout 600 "$@" </dev/null 2>&1 |
    tee "$logs/ctest-$name.log" | grep -v '^ *Start ' || failed=1
}

# --- the Python package ------------------------------------------------------------------------------

make_venv() {
  if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    local python
    python=$(find_python)
    [[ -n $python ]] || die "no Python of version 3.9 or later with venv and headers: ${PYTHON:-python3} (Debian: python3-dev python3-venv)."
    run_logged venv "$python" -m venv --clear "$venv"
  fi
}

# package_fingerprint PYTHON: changes with everything the package is made of.
package_fingerprint() {
  {
    "$1" --version
    printf '%s\n' "${SKBUILD_CMAKE_DEFINE:-}"
    find CMakeLists.txt pyproject.toml README.md LICENSE cmake libpubsub bindings tools/CMakeLists.txt tools/pubsub \
      tools/zeek_logs bench -name __pycache__ -prune -o -path bench/data -prune -o -type f -print0 | LC_ALL=C sort -z |
      xargs -0 sha256sum
  } | sha256sum | cut -d ' ' -f 1
}

# build_wheel PYTHON: sets wheel to the package's wheel for this Python and this machine, built if anything changed.
build_wheel() {
  local python=$1 folder now
  folder=$root/build/wheels/local/$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  now=$(package_fingerprint "$python")
  if [[ ! -f $folder/fingerprint || $(<"$folder/fingerprint") != "$now" ]]; then
    rm -rf "$folder"
    run_logged "wheel-${folder##*/}" "$python" -m pip wheel --no-input --no-deps --wheel-dir "$folder" .
    echo "$now" >"$folder/fingerprint"
  fi
  wheel=$(echo "$folder"/*.whl)
}

# install_package EXTRA...: pip-installs the package with these extras into .venv, if anything changed.
install_package() {
  local extra now stale= wheel
  make_venv
  now=$(package_fingerprint "$venv/bin/python")
  for extra in "$@"; do
    [[ -f $venv/libpubsub-$extra.stamp && $(<"$venv/libpubsub-$extra.stamp") == "$now" ]] || stale=1
  done
  if [[ -z $stale ]]; then
    note "the package in .venv is up to date"
    return
  fi
  # Half an installation must not pass for a whole one.
  for extra in "$venv"/libpubsub-*.stamp; do
    [[ -f $extra && $(<"$extra") == "$now" ]] || rm -f "$extra"
  done
  build_wheel "$venv/bin/python"
  # A package of the same version counts as installed, even if it is not the same.
  run_logged pip-uninstall "$venv/bin/python" -m pip uninstall --yes libpubsub
  run_logged pip "$venv/bin/python" -m pip install --no-input "libpubsub[$(IFS=, && echo "$*")] @ file://$wheel"
  for extra in "$@"; do
    echo "$now" >"$venv/libpubsub-$extra.stamp"
  done
}
