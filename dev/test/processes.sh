# shellcheck shell=bash
# Processes that a run starts, remembered so that they are stopped by their ids: by the run itself, or, where it was
# killed, by the next one. Sourced; needs processes_dir and tests_processes_dir.
#
# A file named by the pid of each holds its start time in clock ticks since boot, so that a pid which the
# kernel has given to someone else meanwhile is never taken for ours.

# For process_start_time.
source "$(dirname "${BASH_SOURCE[0]}")/../cluster/process.sh"

# usage: record_process PID WHAT
record_process() {
  mkdir -p "$processes_dir"
  echo "$(process_start_time "$1") $2" >"$processes_dir/$1"
}

forget_process() { rm -f "$processes_dir/$1"; }

# Ends a process and, where it leads a group, the group: politely, then after ten seconds by force.
end_group() {
  local pid=$1 deadline=$((SECONDS + 10))
  kill -TERM -- "-$pid" 2>/dev/null || kill -TERM "$pid" 2>/dev/null || return 0
  while process_start_time "$pid" >/dev/null; do
    ((SECONDS < deadline)) || {
      kill -KILL -- "-$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null || true
      break
    }
    sleep 0.1
  done
  # Members that outlive their leader.
  kill -KILL -- "-$pid" 2>/dev/null || true
}

# Ends everything that is recorded and still the process that it was: stages of this script first, then what the tests
# themselves recorded (test/cluster/harness/process-record.ts), except for test runs that are alive.
end_recorded() {
  local file pid started runner runner_started what
  for file in "$processes_dir"/*; do
    [[ -f $file ]] || continue
    pid=${file##*/}
    read -r started what <"$file"
    end_if_same "$pid" "$started" "$what"
    rm -f "$file"
  done
  for file in "$tests_processes_dir"/*; do
    [[ -f $file ]] || continue
    pid=${file##*/}
    read -r started runner runner_started what <"$file"
    [[ $(process_start_time "$runner") != "$runner_started" ]] || continue
    end_if_same "$pid" "$started" "$what"
    rm -f "$file"
  done
}

# usage: end_if_same PID START-TIME WHAT
end_if_same() {
  if [[ $(process_start_time "$1") == "$2" ]]; then
    echo "stopping $3, process $1" >&2
    end_group "$1"
  fi
}
