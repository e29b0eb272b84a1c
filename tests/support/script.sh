# For test scripts; sourced. A folder of their own that is removed in the end, and fail(), which prints
# what out.txt and err.txt hold and leaves 1 in `failed`.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
touch out.txt err.txt
failed=0

fail() {
    echo "FAILED: $*"
    cat out.txt err.txt
    failed=1
}
