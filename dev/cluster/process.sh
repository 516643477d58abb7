# shellcheck shell=bash
# Long-running programs of a native cluster. Sourced.
#
# A program is remembered as "pid start-time" in run/NAME.pid. The start time, in clock ticks since boot, makes sure
# that a pid which the kernel has given to someone else meanwhile is never taken for ours, nor killed.

# The start time of a live process; fails for one that is gone or a zombie.
process_start_time() {
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  # The second field, the program's name, may hold spaces: count from the closing parenthesis.
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[0]} != Z ]] && echo "${fields[19]}"
}

# Prints the pid of a named program that runs; fails otherwise.
running_pid() {
  local pid started
  [[ -f $cluster_dir/run/$1.pid ]] || return 1
  read -r pid started <"$cluster_dir/run/$1.pid" || return 1
  [[ $(process_start_time "$pid") == "$started" ]] && echo "$pid"
}

# Closes the files that we or our caller opened: `flock FILE make up` would hold its lock until `make down`.
close_files() {
  local file
  for file in "/proc/$BASHPID/fd"/*; do
    ((${file##*/} < 3)) || eval "exec ${file##*/}>&-"
  done
}

# Starts a program in the background unless it runs. usage: start_process NAME COMMAND...
start_process() {
  local name=$1 log=$cluster_dir/log/$1.log pid
  shift
  running_pid "$name" >/dev/null && return 0
  mkdir -p "$cluster_dir/run" "$cluster_dir/log"
  [[ -f $log ]] && mv "$log" "$log.1"
  # Its own session, so that Ctrl-C here does not reach it; and without a proxy, which would be asked for cluster
  # addresses it cannot know. Programs in Go collect their garbage less often: memory is plentiful, processors are few.
  (
    close_files
    exec setsid env -u HTTP_PROXY -u HTTPS_PROXY -u http_proxy -u https_proxy -u ALL_PROXY -u all_proxy \
      "GOGC=${GOGC:-200}" "$@"
  ) >"$log" 2>&1 </dev/null &
  pid=$!
  echo "$pid $(process_start_time "$pid")" >"$cluster_dir/run/$name.pid"
}

# Stops a named program: politely, then after ten seconds by force.
stop_process() {
  local name=$1 pid deadline=$((SECONDS + 10))
  if pid=$(running_pid "$name"); then
    kill "$pid" 2>/dev/null || true
    while running_pid "$name" >/dev/null; do
      ((SECONDS < deadline)) || kill -KILL "$pid" 2>/dev/null || true
      sleep 0.05
    done
  fi
  rm -f "$cluster_dir/run/$name.pid"
}

# Kills a named program without warning.
kill_process() {
  local pid
  if pid=$(running_pid "$1"); then
    kill -KILL "$pid" 2>/dev/null || true
    wait_until 60 "the end of $1" eval "! running_pid $1"
  fi
  rm -f "$cluster_dir/run/$1.pid"
}
