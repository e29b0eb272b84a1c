# For test scripts that let other programs read what ours writes; sourced.

# find_python MODULE...: prints a python3 that has them all; fails where there is none.
find_python() {
    local candidate module
    for candidate in python3 /usr/bin/python3; do
        for module in "$@"; do
            $candidate -c "import $module" >/dev/null 2>&1 || continue 2
        done
        command -v $candidate
        return 0
    done
    return 1
}
