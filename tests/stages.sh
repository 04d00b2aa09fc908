# SPDX-License-Identifier: Apache-2.0
#
# The stages of `./dev test`, cheapest first; part of ./dev, which sources it.
#
# A stage is a function stage_NAME below, or a folder tests/NAME with a run.sh: adding such a folder
# adds a stage. Each runs as `./dev _stage NAME`, its output goes to the screen and to a log, and it
# leaves "passed failed" in a count file. The first stage that fails ends the run. Tests of real processes wait
# more than they work, so two of them run at a time; their output is shown when they end. A stage that depends on
# how fast a JVM or a browser starts is run once more, alone, if it fails; if it passes then, the summary calls it
# unsteady: the test should be fixed, but the product is not broken. Stages that look for lost writes and
# impossible histories are never repeated.
logs=$root/build/test-logs
stages_at_once=2
asked_once=(chaos durability)
quick_stages=(format layering release quick_sim smoke)
ctest_under=()  # a command to run ctest under
fuzz_seconds_in_test=20
sim_seeds_in_test=500                          # of the commit's own
sim_seeds_that_failed=tests/sim/failed_seeds.txt  # and every one that ever failed

# Tests of real processes, in this order when they exist, and then whatever else has a run.sh.
process_stages() {
  local name
  local -a first=(compat durability server_script)
  for name in "${first[@]}"; do
    [[ ! -e $root/tests/$name/run.sh ]] || echo "$name"
  done
  for name in "$root"/tests/*/run.sh; do
    [[ -e $name ]] || continue
    name=$(basename "$(dirname "$name")")
    contains "$name" "${first[@]}" || echo "$name"
  done
}

all_stages() {
  printf '%s\n' format layering release asan tsan sim
  [[ -z $(fuzz_targets) ]] || echo fuzz
  process_stages
}

# ---- the stages ----------------------------------------------------------------------------------

stage_format() { format_command --check; }

stage_layering() {
  setup build
  python3 "$root/tests/layering/layering_test.py"
  python3 "$root/tests/layering/layering.py" "$root"
}

stage_release() {
  setup build
  build release
  run_ctest release --label-exclude layering
}

# With the second compiler, whose warnings are errors too: one build for both questions.
stage_asan() {
  setup_for asan
  build asan unit_tests
  ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1 \
    UBSAN_OPTIONS=print_stacktrace=1 run_ctest asan --label-exclude layering
}

stage_tsan() {
  setup build
  build tsan thread_tests
  # On kernels with much address randomisation GCC 12's thread sanitizer finds its shadow memory taken.
  if setarch -R true 2>/dev/null; then ctest_under=(setarch -R); fi
  TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
    run_ctest tsan --label-regex threads
}

# As many seeds as CI has time for, from the commit's hash, so that each commit tries others and everybody who tests
# it the same; from 1 on where there is no git.
sim_seeds() {
  local hash first=1
  if hash=$(git -C "$root" rev-parse --verify --quiet HEAD 2>/dev/null); then first=$((16#${hash:0:12})); fi
  printf '%d..%d\n' "$first" "$((first + sim_seeds_in_test - 1))"
}

# Whole clusters on virtual time: random ones, and crashes at every step of some. A failure prints the command that replays it.
stage_sim() {
  setup build
  build release drover-sim
  python3 "$root/tests/mutants/mutants.py" --check
  local status=0 sim=$root/build/release/bin/drover-sim seeds
  seeds=$(sim_seeds)
  echo "seeds $seeds, and those of $sim_seeds_that_failed"
  "$sim" --jobs "$jobs" --list "$root/$sim_seeds_that_failed" --seeds "$seeds" --tally --all-kinds |
    tee "$logs/sim.out" || status=$?
  "$sim" --jobs "$jobs" --sweep | tee -a "$logs/sim.out" || status=$?
  # A run is one case, and the whole sweep is one.
  sed -nE 's/^([0-9]+) runs, ([0-9]+) failed.*/\1 \2/p; s/^[0-9]+ crash points, ([0-9]+) failed.*/1 \1/p' \
    "$logs/sim.out" | awk '{ failed += $2 > $1 ? $1 : $2; total += $1 } END { if (NR == 2) print total - failed, failed }' \
    >"$logs/sim.count"
  [[ -s $logs/sim.count ]] || rm -f "$logs/sim.count"
  return "$status"
}

# The short forms, for ./dev test --quick.
stage_quick_sim() {
  setup build
  build release drover-sim
  "$root/build/release/bin/drover-sim" --jobs "$jobs" --list "$root/$sim_seeds_that_failed" \
    --seeds "$(sim_seeds_in_test=50 sim_seeds)" | tee "$logs/sim.out"
  sed -nE 's/^([0-9]+) runs, 0 failed.*/\1 0/p' "$logs/sim.out" >"$logs/quick_sim.count"
}

# A real client of somebody else.
stage_smoke() {
  setup build smoke
  build release drover
  DROVER=$root/build/release/bin/drover /usr/bin/python3 "$root/tests/compat/kazoo_test.py"
}

stage_fuzz() {
  fuzz_command "$fuzz_seconds_in_test"
  printf '%d 0\n' "$(fuzz_targets | wc -l)" >"$logs/fuzz.count"
}

stage_preparation() {  # of all process stages; not one of the list
  setup build test
  build release
}

stage_process() {  # stage_process NAME
  [[ ${DROVER_PREPARED:-} == 1 ]] || stage_preparation
  DROVER=$root/build/release/bin/drover bash "$root/tests/$1/run.sh"
}

# Runs ctest in build/PRESET and counts the cases inside the test programs, not the programs.
run_ctest() {  # run_ctest PRESET [CTEST ARGUMENT...]
  local preset=$1 status=0
  shift
  "${ctest_under[@]}" ctest --test-dir "$root/build/$preset" --parallel "$jobs" --timeout 900 \
    --no-tests=error --output-on-failure "$@" || status=$?
  awk '/^\[  PASSED  \] [0-9]+ test/ { cases = $4 }
       /^\[  FAILED  \] [0-9]+ test.*listed below/ { broken = $4 }
       /^Test Passed\./ { passed += cases == "" ? 1 : cases; cases = broken = "" }
       /^Test (Failed|Timeout)/ { passed += cases; failed += broken == "" ? 1 : broken; cases = broken = "" }
       END { print passed + 0, failed + 0 }' \
    "$root/build/$preset/Testing/Temporary/LastTest.log" >"$logs/$preset.count"
  return "$status"
}

stage_command() {  # one stage, in this process
  if declare -F "stage_$1" >/dev/null; then
    "stage_$1"
  else
    stage_process "$1"
  fi
}

# ---- running them --------------------------------------------------------------------------------

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# Sums the lines "N passed, M failed" (and Python's "Ran N tests") of a log. When the log ends with such a
# line, that one is the total already.
count_in_log() {  # count_in_log FILE
  awk '{ counts = 0 }
       match($0, /[0-9]+ passed, [0-9]+ failed/) {
         split(substr($0, RSTART, RLENGTH), word, " ")
         counts = 1; last_passed = word[1]; last_failed = word[3]
       }
       /^Ran [0-9]+ tests? in / { counts = 1; last_passed = $2; last_failed = 0 }
       counts { passed += last_passed; failed += last_failed }
       END { print (counts ? last_passed : passed) + 0, (counts ? last_failed : failed) + 0 }' "$1"
}

# Prints "passed failed" of a stage that ended with STATUS: what it counted itself, else what its log says;
# a stage that says nothing counts as one test.
count_of() {  # count_of NAME STATUS
  local name=$1 status=$2 passed failed
  if [[ -e $logs/$name.count ]]; then
    read -r passed failed <"$logs/$name.count"
  else
    read -r passed failed <<<"$(count_in_log "$logs/$name.log")"
  fi
  ((status == 0 || failed > 0)) || failed=1
  ((status != 0 || passed > 0)) || passed=1
  echo "$passed $failed"
}

tell_stage() {  # tell_stage NAME STATUS SECONDS [WORD]: adds a row to the summary; fails as the stage did
  local name=$1 status=$2 passed failed result=${4:-ok}
  read -r passed failed <<<"$(count_of "$name" "$status")"
  ((status == 0)) || result=FAILED
  printf '==== %s: %s, %s\n' "$name" "$result" "$(minutes "$3")"
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
  summary+=$(printf '%-16s %-8s %6d passed %4d failed %8s' "$name" "$result" "$passed" "$failed" \
    "$(minutes "$3")")$'\n'
  return "$status"
}

run_stage() {  # run_stage NAME [WORD]: the word is for the summary, if it passes
  local name=$1 status=0 began=$SECONDS
  printf '\n==== %s\n' "$name"
  rm -f "$logs/$name.count"
  "$root/dev" _stage "$name" 2>&1 | tee "$logs/$name.log" || status=$?
  tell_stage "$name" "$status" $((SECONDS - began)) "${2:-ok}"
}

# Takes process stages from the front of `stages`, some at a time, until one fails or another kind is next. Those
# that run already are waited for.
run_process_stages() {
  local name pid status=0 ended
  local -A running=() began=()
  local -a again=()
  # A process of its own: in this one `set -e` is off, and a build that fails would go unnoticed.
  "$root/dev" _stage preparation || { failed_stage=preparation; return 1; }
  export DROVER_PREPARED=1
  while ((${#running[@]})) || { ((status == 0 && ${#stages[@]})) && is_process_stage "${stages[0]}"; }; do
    while ((status == 0 && ${#stages[@]} && ${#running[@]} < stages_at_once)) && is_process_stage "${stages[0]}"; do
      name=${stages[0]}
      stages=("${stages[@]:1}")
      rm -f "$logs/$name.count"
      "$root/dev" _stage "$name" >"$logs/$name.log" 2>&1 &
      running[$!]=$name
      began[$name]=$SECONDS
    done
    ended=0
    wait -n -p pid "${!running[@]}" || ended=$?
    name=${running[$pid]}
    unset "running[$pid]"
    printf '\n==== %s\n' "$name"
    cat "$logs/$name.log"
    if ((ended)) && ! contains "$name" "${asked_once[@]}"; then
      printf '==== %s: FAILED beside another stage, %s; it is run again, alone\n' "$name" "$(minutes $((SECONDS - began[$name])))"
      cp "$logs/$name.log" "$logs/$name.first.log"
      again+=("$name")
      continue
    fi
    tell_stage "$name" "$ended" $((SECONDS - began[$name])) || { status=1 failed_stage=$name; }
  done
  for name in "${again[@]}"; do
    ((status == 0)) || { stages+=("$name"); continue; }
    run_stage "$name" unsteady || { status=1 failed_stage=$name; }
  done
  return "$status"
}

is_process_stage() { ! declare -F "stage_$1" >/dev/null; }

test_command() {  # ./dev test [--list | --quick | STAGE...]
  local name status=0 failed_stage='' total_passed=0 total_failed=0 summary=''
  local -a all stages=("$@")
  mapfile -t all < <(all_stages)
  if [[ ${1:-} == --list ]]; then
    printf '%s\n' "${all[@]}"
    return
  fi
  if [[ ${1:-} == --quick ]]; then
    (($# == 1)) || die "--quick has its own stages (${quick_stages[*]})"
    all+=("${quick_stages[@]}")
    set -- "${quick_stages[@]}"
    stages=("$@")
  fi
  for name in "$@"; do
    contains "$name" "${all[@]}" || die "no test stage '$name' (${all[*]})"
  done
  if ((!$#)); then
    stages=("${all[@]}")
    setup build test clang
  fi

  mkdir -p "$logs"
  SECONDS=0
  while ((${#stages[@]} && status == 0)); do
    if is_process_stage "${stages[0]}"; then
      run_process_stages || status=$?
    else
      failed_stage=${stages[0]}
      stages=("${stages[@]:1}")
      run_stage "$failed_stage" || status=$?
    fi
  done
  printf '\n%stotal %s\n' "$summary" "$(minutes "$SECONDS")"
  ((status == 0)) || printf 'FAILED: %s, see above or %s\n' "$failed_stage" "$logs"
  ((!${#stages[@]})) || printf 'not run: %s\n' "${stages[*]}"
  printf '%d passed, %d failed\n' "$total_passed" "$total_failed"
  ((status == 0)) || return 1
}
