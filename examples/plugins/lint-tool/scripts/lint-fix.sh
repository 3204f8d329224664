#!/bin/sh
# Takes blanks from the ends of lines. The working directory is the root of the workspace, the
# input stands in STELLA_INPUT_PATH (and, as JSON, on standard input, which is not needed here).
set -eu
case $STELLA_INPUT_PATH in
/* | .. | ../* | */.. | */../*)
    echo "$STELLA_INPUT_PATH: not a path inside the workspace" >&2
    exit 2
    ;;
esac
if [ ! -f "./$STELLA_INPUT_PATH" ] || [ -L "./$STELLA_INPUT_PATH" ]; then
    echo "$STELLA_INPUT_PATH: not a file" >&2
    exit 2
fi
found=$(grep -c '[[:blank:]]$' "./$STELLA_INPUT_PATH" || true)
if [ "$found" -gt 0 ] && grep -q '^trailing-blanks: fix$' "$RULESET"; then
    mended=$(mktemp)
    trap 'rm -f "$mended"' EXIT
    sed 's/[[:blank:]]*$//' "./$STELLA_INPUT_PATH" >"$mended"
    cat "$mended" >"./$STELLA_INPUT_PATH"
fi
echo "$STELLA_INPUT_PATH: $found lines ended with blanks"
