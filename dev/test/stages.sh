# shellcheck shell=bash
# Stages of a test run: each has a name, a time limit, a log and a count of what passed. Sourced; needs log_dir,
# results (a file of NAME, OUTCOME, PASSED, FAILED, SECONDS, LOG, split by tabs) and processes.sh.

note_result() {
  local IFS=$'\t'
  echo "$*" >>"$results"
}

# Runs a command in a process group of its own and waits. usage: run_limited SECONDS LOG WHAT COMMAND...
run_limited() {
  local limit=$1 log=$2 what=$3 pid status=0
  shift 3
  setsid timeout --foreground --kill-after=30 "$limit" "$@" >"$log" 2>&1 </dev/null 9>&- &
  pid=$!
  record_process "$pid" "$what"
  wait "$pid" || status=$?
  # Processes that the stage left running in its group, such as a child of a test, end with it.
  kill -KILL -- "-$pid" 2>/dev/null || true
  forget_process "$pid"
  return "$status"
}

# Prints PASSED and FAILED of vitest's JSON report. A file that could not be loaded has no tests, and failed.
count_vitest() {
  jq -r '
    [.testResults[] | select(.status == "failed" and (.assertionResults | all(.status != "failed")))] as $unloaded |
    "\(.numPassedTests) \(.numFailedTests + ($unloaded | length))"' "$1" 2>/dev/null || echo "0 1"
}

# Prints PASSED and FAILED of `go test -json`. A package that does not build has no tests, and failed.
count_go() {
  jq -Rrs '
    [split("\n")[] | fromjson? | select(type == "object")] as $events |
    ($events | map(select(.Test and .Action == "pass")) | length) as $passed |
    ($events | map(select(.Test and .Action == "fail")) | length) as $failed |
    ($events | map(select((.Test | not) and .Action == "fail")) | length) as $packages |
    "\($passed) \(if $failed == 0 then $packages else $failed end)"' "$1" 2>/dev/null || echo "0 1"
}

# Prints PASSED and FAILED of Schemathesis' JSON report: each operation is a test, however many requests it was sent.
count_schemathesis() {
  jq -r '
    ([.failures[].operations[]] + [.errors[].operation // empty] | unique | length) as $failed |
    "\(.operations.tested - $failed) \($failed)"' "$1" 2>/dev/null || echo "0 1"
}

# A suite without a single test did not run.
count_of() {
  local kind=$1 log=$2 status=$3 passed failed
  case $kind in
    check) [[ $status == 0 ]] && echo "1 0" || echo "0 1"; return ;;
    vitest) read -r passed failed < <(count_vitest "$log.json") || true ;;
    go) read -r passed failed < <(count_go "$log") || true ;;
    schemathesis) read -r passed failed < <(count_schemathesis "$log.json") || true ;;
  esac
  # A report that was never written has neither.
  passed=${passed:-0} failed=${failed:-0}
  if ((failed == 0 && (status != 0 || passed == 0))); then failed=1; fi
  echo "$passed $failed"
}

# usage: stage NAME KIND LIMIT COMMAND...     KIND: check, go (prints JSON), vitest or schemathesis (write LOG.json)
stage() {
  local name=$1 kind=$2 limit=$3 log=$log_dir/$1.log started=$SECONDS status=0 passed failed took
  shift 3
  rm -f "$log" "$log.json"
  printf '… %s\n' "$name"
  run_limited "$limit" "$log" "stage $name" "$@" || status=$?
  took=$((SECONDS - started))
  read -r passed failed < <(count_of "$kind" "$log" "$status")
  if ((failed)); then
    note_result "$name" failed "$passed" "$failed" "$took" "${log#"$PWD/"}"
    printf '✗ %s: %s passed, %s failed, %s s' "$name" "$passed" "$failed" "$took"
    ((status == 124)) && printf ', stopped after its limit of %s s' "$limit"
    printf '\n'
    tail -n 60 "$log" | sed 's/^/    /'
    return 1
  fi
  note_result "$name" passed "$passed" 0 "$took" "${log#"$PWD/"}"
  printf '✓ %s: %s passed, %s s\n' "$name" "$passed" "$took"
}

# A stage that cannot run because an earlier one failed: not run is not passed.
skip_stage() {
  note_result "$1" "not run" 0 1 0 -
  printf '✗ %s: not run\n' "$1"
}

all_passed() { awk -F'\t' '$2 != "passed" { exit 1 }' "$results"; }

print_summary() {
  printf '\n%-14s %-8s %7s %7s %7s  %s\n' stage outcome passed failed seconds log
  awk -F'\t' '{ printf "%-14s %-8s %7s %7s %7s  %s\n", $1, $2, $3, $4, $5, $6; p += $3; f += $4; s += $5 }
    END { printf "%-14s %-8s %7s %7s %7s\n\n", "all", (f ? "failed" : "passed"), p, f, s }' "$results"
}
