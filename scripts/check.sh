#!/usr/bin/env bash
# Builds and passes the tests, installing what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
./scripts/install-dependencies.sh tests
./scripts/build.sh release
exec ctest --test-dir build/release --output-on-failure -j "$(nproc)"
