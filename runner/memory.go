package main

import (
	"bytes"
	"os"
	"strconv"
)

// oomKills reads how many processes of this container the kernel has killed for want of memory, from a file or, by
// default, from the container's cgroup: memory.events of version 2, memory.oom_control of version 1. 0 where none says.
func oomKills(file string) int64 {
	files := []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}
	if file != "" {
		files = []string{file}
	}
	for _, name := range files {
		content, _ := os.ReadFile(name)
		for line := range bytes.Lines(content) {
			if value, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
				count, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
				return count
			}
		}
	}
	return 0
}
