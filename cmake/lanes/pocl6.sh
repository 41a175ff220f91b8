#!/bin/bash
# pocl6.sh CLCOOK FOLDER: the whole conformance test on Debian 13's PoCL 6.
set -u
export CLCOOK_DEVICE=pocl
exec "$(dirname "$0")/root.sh" "$2" "$1" check
