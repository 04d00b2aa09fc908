# SPDX-License-Identifier: Apache-2.0
#
# Runs test programs one by one and adds up what they count; part of each run.sh that sources it.
#
#   . "$here/../suites.sh"
#   suite kill9 python3 "$here/kill9_test.py"      prints its output only if it fails
#   end_suites                                     prints "N passed, M failed"; status 0 if nothing failed
passed=0 failed=0
suite_log=$(mktemp)
trap 'rm -f "$suite_log"' EXIT

# add_suite NAME STATUS LOG SECONDS: the last "N passed, M failed" of LOG counts, or Python's "Ran N tests". False if it
# failed.
add_suite() {
  local counts good bad
  counts=$(sed -nE 's/.*\b([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p; s/^Ran ([0-9]+) tests? in .*/\1 0/p' "$3" | tail -n 1)
  read -r good bad <<<"${counts:-0 0}"
  # A test that dies before it has counted is a failure too.
  (($2 == 0 || bad > 0)) || bad=1
  ((good + bad > 0)) || bad=1
  printf '%-12s %3d passed %3d failed %4d s\n' "$1" "$good" "$bad" "$4"
  passed=$((passed + good)) failed=$((failed + bad))
  ((bad == 0))
}

suite() {
  local name=$1 began=$SECONDS status=0
  shift
  "$@" >"$suite_log" 2>&1 || status=$?
  add_suite "$name" "$status" "$suite_log" $((SECONDS - began)) || cat "$suite_log"
}

# The same for a long one: its output is shown while it runs.
suite_aloud() {
  local name=$1 began=$SECONDS status=0
  shift
  "$@" 2>&1 | tee "$suite_log" || status=$?
  add_suite "$name" "$status" "$suite_log" $((SECONDS - began)) || true
}

end_suites() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0))
}
