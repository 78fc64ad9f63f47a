# Sourced by the scripts beside it. Makes the checkout the working directory, puts the
# tools of .venv first on PATH, and defines functions that several scripts use.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="$PWD/.venv/bin:$PATH"
CACHE="${WAYBILL_CACHE:-$HOME/.cache/waybill}"
SKIPPED_FILE="$PWD/build/skipped.txt"
# Thousands of processes import the package. Without cached bytecode each would compile
# it, and take three times as long to start.
unset PYTHONDONTWRITEBYTECODE
# Most installed modules are never imported; others are compiled when imported.
export PIP_COMPILE=0

say() { printf '\033[1m== %s\033[0m\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# Reports something that is not available: now, and at the end of test-all (show_skipped).
skip() {
  mkdir -p build
  printf 'SKIPPED: %s\n' "$*" | tee -a "$SKIPPED_FILE" >&2
}

show_skipped() {
  [ -s "$SKIPPED_FILE" ] || return 0
  say "skipped"
  sort -u "$SKIPPED_FILE"
}

# Runs a command as root, or fails.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Installs Debian packages; fails silently on other machines. One process at a time: apt
# would not wait for another.
apt_install() {
  command -v apt-get >/dev/null && as_root true 2>/dev/null || return 1
  mkdir -p "$CACHE"
  exec 8>"$CACHE/apt.lock"
  flock 8
  if [ -z "${APT_UPDATED:-}" ]; then
    as_root apt-get update -qq 8>&- || true
    APT_UPDATED=1
  fi
  local status=0
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 8>&- || status=$?
  exec 8>&-
  return "$status"
}

# Waits until fewer jobs run in the background than there are processors.
wait_for_processor() {
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
}

# The Python tests, as many at a time as there are processors; arguments go to pytest.
parallel_pytest() {
  local options=()
  ! python -c "import xdist" 2>/dev/null ||
    options=(-n "$(nproc)" --dist worksteal)
  python -m pytest -q "${options[@]}" "$@"
}

# The largest tests: they combine many cases with many others, or test all of a library,
# or each allocation.
PRODUCTS=(tests/python/{cache,classes,imports/discovery}
  tests/python/functions/test_stdlib_functions.py
  tests/python/process/test_{leaks_of_kinds,failing_allocations}.py)
# Tests whose cases depend little on the version of Python.
OF_BYTES=(tests/python/{api,explain,streams,untrusted})

# The C++ tests of the build in folder `$1`; their output only where one fails.
cpp_tests() {
  local log="$1/ctest.log"
  if ! ctest --test-dir "$1" --output-on-failure --no-tests=error -j "$(nproc)" \
    >"$log" 2>&1; then
    cat "$log"
    return 1
  fi
  tail -n 3 "$log"
}

# Installs Python packages into a virtual environment, once per list of that name. Reports
# those that are not available.
#   pip_install <venv> <name> <package>...
pip_install() {
  local python="$1/bin/python" stamp="$1/.$2" package
  shift 2
  [ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && return
  "$python" -m pip install -qq "$@" || for package in "$@"; do
    "$python" -m pip install -qq "$package" ||
      skip "no $package for Python $(version_of "$python") from pip"
  done
  echo "$*" >"$stamp"
}

# A virtual environment `$1` with pytest and these packages alone; fails without pytest.
venv_with() {
  local venv="$1"
  shift
  [ "$(cat "$venv/.packages" 2>/dev/null)" = "pytest $*" ] && return
  say "fetching $*"
  .venv/bin/python -m venv --clear "$venv"
  pip_install "$venv" packages pytest "$@"
  "$venv/bin/python" -c "import pytest" || { rm "$venv/.packages"; return 1; }
}

# Prints a clang++ that can link libFuzzer and the sanitizers, installed if need be;
# fails if none can be had.
sanitizing_clang() {
  find_sanitizing_clang || {
    apt_install clang >&2 || return 1
    # Debian keeps the runtime of the sanitizers in a package of its own.
    apt_install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" >&2 || true
    find_sanitizing_clang
  }
}

# The compiler for what is neither measured nor shipped: without optimisation clang takes
# half as long as GCC.
quick_compiler() {
  command -v clang++ || command -v g++
}

find_sanitizing_clang() {
  local candidate binary
  binary=$(mktemp)
  for candidate in clang++ $(compgen -c clang++- | sort -urV); do
    if echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' |
      "$candidate" -fsanitize=fuzzer,address,undefined -x c++ - -o "$binary" 2>/dev/null
    then
      rm "$binary"
      echo "$candidate"
      return
    fi
  done
  rm "$binary"
  return 1
}

# True if `$1` is a released CPython, 3.11 or newer, with its GIL.
usable_python() {
  "$1" -c 'import sys, sysconfig
v = sys.version_info
sys.exit(not (v >= (3, 11) and v.releaselevel == "final"
              and sys.implementation.name == "cpython"
              and not sysconfig.get_config_var("Py_GIL_DISABLED")))' 2>/dev/null
}

# True if extensions can be built for `$1` and virtual environments made with it.
complete_python() {
  "$1" -c 'import ensurepip, venv, os, sys, sysconfig
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(not os.path.exists(header))' 2>/dev/null
}

# "3.12" for an interpreter of that version.
version_of() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}

# Lets the interpreter `$1` import what lies in the folder `$2`.
link_site() {
  local site
  site=$("$1" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
  echo "$2" >"$site/waybill-checkout.pth"
}

# The Debian suite that has Python `$1`.
suite_of() {
  case "$1" in
    3.13) echo trixie ;;
    3.14 | 3.15) echo forky ;;
    *) return 1 ;;
  esac
}

# All versions of Python that are used from a suite: a chroot is made once, with all.
versions_in() {
  case "$1" in
    trixie) echo 3.13 ;;
    forky) echo 3.14 3.15 ;;
  esac
}

# Fetches packages for another Python outside of the chroot, where pip is set up. Packages
# that are not available are reported when they are installed.
#   fetch_wheels <version> <folder> <package>...
fetch_wheels() {
  local version="$1" folder="$2" package
  shift 2
  [ -e "$folder/.complete" ] && [ "$(cat "$folder/.complete")" = "$*" ] && return
  rm -rf "$folder"
  mkdir -p "$folder"
  local all=1
  for package in "$@"; do
    python -m pip download -qq --only-binary=:all: --python-version "$version" \
      --dest "$folder" "$package" 2>/dev/null || all=0
  done
  [ "$all" = 0 ] || echo "$*" >"$folder/.complete"
}
