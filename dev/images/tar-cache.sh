# shellcheck shell=bash
# Which image tars the cache keeps. Sourced; apart from image-tar.sh, a change of which makes every image anew.

# Deletes all but the five tars of an image that were used last: clones with other sources, and a load that is under way,
# still want the older ones. usage: forget_old_tars FOLDER NAME
forget_old_tars() {
  find "$1" -maxdepth 1 -regex ".*/$2-[0-9a-f]*\.tar" -printf '%T@ %p\n' | sort -rn | tail -n +6 | cut -d' ' -f2- |
    xargs --no-run-if-empty rm -f
}
