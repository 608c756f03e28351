#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the release preset and runs the main job: a 256x256x256 matmul on the eight
# clusters of topologies/mesh8.yaml.
set -eu
cd "$(dirname "$0")/.."
scripts/install_packages.sh
cmake --preset release -DKTPU_BUILD_TESTS=OFF
cmake --build --preset release
build/release/bin/ktpu-sim --topology topologies/mesh8.yaml build/release/examples/matmul_256x256x256.bin
