# shellcheck shell=bash
# Tests that passed only when they were tried again, over the last runs of each stage on this machine. Sourced; needs
# log_dir, results and retry_history (a file of {STAGE: [[TEST…] of a run, … the latest last]}).

# How many runs of a stage are looked at, and in how many of them one test may be tried again.
retry_runs=3
retry_most=1

# Prints a line STAGE, TEST (split by a tab) for each test of this run that passed only when it was tried again.
retried_tests() {
  local name
  while IFS=$'\t' read -r name _; do
    [[ -f $log_dir/$name.log.json ]] || continue
    jq -r --arg stage "$name" '
      .testResults[]?.assertionResults[]? | select(.status == "passed" and (.failureMessages | length) > 0) |
      [$stage, .fullName] | @tsv' "$log_dir/$name.log.json" 2>/dev/null || true
  done <"$results"
}

# Stages of this run that tell which tests were tried again.
stages_with_reports() {
  local name
  while IFS=$'\t' read -r name _; do
    if jq -e 'has("testResults")' "$log_dir/$name.log.json" >/dev/null 2>&1; then echo "$name"; fi
  done <"$results"
}

# Adds this run to the history and prints the history. A file that is missing or broken is begun anew.
remember_retries() {
  local earlier
  mkdir -p "$(dirname "$retry_history")"
  exec 7>>"$retry_history.lock"
  flock 7
  earlier=$(jq -ce 'select(type == "object")' "$retry_history" 2>/dev/null) || earlier='{}'
  jq -cn --argjson earlier "$earlier" --argjson runs "$retry_runs" \
    --arg stages "$(stages_with_reports)" --arg retried "$(retried_tests)" '
    ($retried | split("\n") | map(select(. != "") | split("\t"))) as $now |
    reduce ($stages | split("\n")[] | select(. != "")) as $stage ($earlier;
      .[$stage] = ((.[$stage] // []) + [[$now[] | select(.[0] == $stage) | .[1]]] | .[-$runs:]))' >"$retry_history.new"
  mv "$retry_history.new" "$retry_history"
  exec 7>&-
  cat "$retry_history"
}

# Names what was tried again, and fails when one test was in more runs of its stage than it may be: then it is the test
# or the product that is at fault, not the machine.
judge_retries() {
  local history repeated stage name
  while IFS=$'\t' read -r stage name; do
    echo "↻ passed only when tried again: $stage: $name"
  done < <(retried_tests)
  history=$(remember_retries)
  repeated=$(
    jq -r --argjson most "$retry_most" --arg stages "$(stages_with_reports)" '
      ($stages | split("\n")) as $now | to_entries[] | .key as $stage | select($now | index([$stage])) | (.value[-1] // []) as $latest | [.value[][]] | group_by(.)[] |
      select(length > $most and (.[0] as $test | $latest | index([$test]))) |
      "✗ tried again in \(length) of the last runs: \($stage): \(.[0])"' <<<"$history"
  )
  [[ -z $repeated ]] || {
    echo "$repeated"
    return 1
  }
}

# Prints the files of a vitest report in which something failed; nothing where more than three did: then it is the product.
failed_files() {
  jq -r '[.testResults[] | select(.status == "failed") | .name] | if length <= 3 then .[] else empty end' "$1" 2>/dev/null
}

# Rewrites a report whose failed files have passed since: their tests count as passed when they were tried again. A file
# that failed outside its tests is in the history under a test of its own.
forgive() {
  jq '
    .testResults |= map(if .status != "failed" then . else
      .status = "passed" |
      if all(.assertionResults[]; .status != "failed")
      then .assertionResults += [{fullName: "\(.name) as a whole", status: "passed", failureMessages: ["failed outside its tests"]}]
      else .assertionResults |= map(if .status == "failed" then .status = "passed" else . end) end
    end) |
    .numPassedTests = ([.testResults[].assertionResults[] | select(.status == "passed")] | length) |
    .numFailedTests = 0' "$1" >"$1.new" && mv "$1.new" "$1"
}
