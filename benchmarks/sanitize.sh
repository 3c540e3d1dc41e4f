#!/usr/bin/env bash
# Build the kernels with AddressSanitizer and UndefinedBehaviorSanitizer, in a copy of the repository, and run the
# tests of the inference under them. Any report fails. Needs gcc and a Python with the project's `dev` requirements:
#
#     bash benchmarks/sanitize.sh [PYTHON] [arguments of pytest ...]
set -euo pipefail
cd "$(dirname "$0")/.."
python="${1:-python}"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
cp -r pyproject.toml README.md LICENSE spacy_mtt tests "$copy"
find "$copy" \( -name '*.so' -o -name '*.c' \) -delete
cd "$copy"

# -fno-wrapv: Python compiles with -fwrapv, under which overflow of signed integers would go unseen.
export CFLAGS="-O1 -g -fno-omit-frame-pointer -fno-wrapv -fsanitize=address,undefined -fno-sanitize-recover=all"
export LDFLAGS="-fsanitize=address,undefined"
CC=gcc LDSHARED="gcc -shared" "$python" -W ignore -c \
    "import setuptools, sys; sys.argv = ['setup', '-q', 'egg_info', 'build_ext', '-i']; setuptools.setup()"

# Python itself leaks by design and is not instrumented, so the runtimes must be loaded before it.
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1" UBSAN_OPTIONS="print_stacktrace=1"
export PYTHONPATH="$copy" PYTHONMALLOC=malloc OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$python" -m pytest -q -p no:cacheprovider tests/inference "${@:2}"
