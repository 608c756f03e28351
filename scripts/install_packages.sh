#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what scripts/packages.txt lists, on Debian 12. Does nothing when all of it is there.
set -eu
cd "$(dirname "$0")"
packages=$(sed -e 's/#.*//' packages.txt | tr -s '\n ' ' ')
missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
as_root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "install_packages.sh: not root and no sudo; as root run: apt-get install$missing" >&2
    exit 1
  }
  as_root="sudo"
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update
# shellcheck disable=SC2086
$as_root apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $missing
