# shellcheck shell=bash
# The kernel's limit on inotify instances, which is one for the whole machine. Sourced.
#
# A kubelet takes one for each log that is followed, on top of some thirty of each node's programs; the usual default of
# 128 is used up by fifty steps at once. The limit of before is remembered, and restored with the last cluster.

inotify_limit=fs.inotify.max_user_instances
inotify_before=$clusters_dir/.inotify-before

raise_inotify_limit() {
  local limit
  limit=$(sysctl -n "$inotify_limit")
  ((limit < 4096)) || return 0
  echo "$limit" >"$inotify_before"
  sysctl -qw "$inotify_limit=4096"
}

# usage: restore_inotify_limit, while this cluster's own files are still there
restore_inotify_limit() {
  local file
  [[ -f $inotify_before ]] || return 0
  for file in "$clusters_dir"/*/kind; do
    [[ $file == "$cluster_dir/kind" || $(<"$file") != native ]] || return 0
  done
  sysctl -qw "$inotify_limit=$(<"$inotify_before")"
  rm "$inotify_before"
}
