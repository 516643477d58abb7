// Package selfcopy is `runner copy`: the fallback for servers without image volumes.
package selfcopy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const exitUsage = 2

// Main puts this program at a path that another container of the pod mounts.
func Main(args []string) int {
	if len(args) != 1 || args[0] == "" {
		fmt.Fprintln(os.Stderr, "runner: copy needs exactly one destination")
		return exitUsage
	}
	if err := copySelf(args[0]); err != nil {
		fmt.Fprintf(os.Stderr, "runner: cannot copy to %s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// copySelf replaces the destination in one step, so that an interrupted copy
// never leaves half a program. A directory receives the file "runner".
func copySelf(destination string) error {
	if info, err := os.Stat(destination); err == nil && info.IsDir() {
		destination = filepath.Join(destination, "runner")
	}
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(destination), ".runner-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(0o755), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), destination)
}
