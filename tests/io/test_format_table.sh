#!/usr/bin/env bash
# Every format there and back on real data, as a table: format_table.py.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
/usr/bin/python3 -c 'import h5py, numpy, scipy' 2>/dev/null || { echo "skipped: needs h5py and scipy"; exit 77; }
[ -r "${IKT_TEST_DATA:-}/digits.h5" ] || { echo "skipped: the real data are not there"; exit 77; }
/usr/bin/python3 "$IKT_SOURCE/tests/io/format_table.py" "$IKT_PROGRAM" "$IKT_TEST_DATA"
