package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// defaultPath is used when the container's environment has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// start starts the command with the given standard output and error and
// returns its process id, or the outcome that tells why it could not.
//
// The command leads a process group of its own, so that a forwarded signal also reaches what a shell has started.
// Arguments and environment go through untouched. The kernel's default signal actions are restored by the exec.
func start(o *options, stdout, stderr int) (int, *outcome) {
	if failure := enterWorkdir(o.workdir); failure != nil {
		return 0, failure
	}
	path, failure := lookup(o.argv[0])
	if failure != nil {
		return 0, failure
	}
	pid, err := syscall.ForkExec(path, o.argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, uintptr(stdout), uintptr(stderr)},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return 0, startFailure(path, err)
	}
	return pid, nil
}

// become replaces this process by a command. It returns where that fails, with the exit code and the reason.
func become(argv []string) (int, string) {
	path, failure := lookup(argv[0])
	if failure == nil {
		failure = startFailure(path, syscall.Exec(path, argv, os.Environ()))
	}
	return failure.exitCode, failure.message
}

func enterWorkdir(dir string) *outcome {
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.Chdir(dir)
	}
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // without the operation and path, which our own message names
	}
	return failed(exitRunnerFailed, reasonWorkdir, "cannot use the working directory %s: %v", dir, err)
}

func failed(code int, reason, format string, args ...any) *outcome {
	return &outcome{exitCode: code, reason: reason, message: fmt.Sprintf(format, args...)}
}

// lookup finds a command as a shell does: a name with a slash is a path, any other is searched in PATH. A file that is
// there but cannot be executed is only an answer if no later directory has a better one.
func lookup(name string) (string, *outcome) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	search, ok := os.LookupEnv("PATH")
	if !ok {
		search = defaultPath
	}
	denied := ""
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case err != nil || info.IsDir():
		case info.Mode()&0o111 != 0:
			return path, nil
		case denied == "":
			denied = path
		}
	}
	return "", notFound(name, search, denied)
}

// notFound tells those who named sh, by shell: true for one, what to change.
func notFound(name, search, denied string) *outcome {
	if denied != "" {
		return notExecutable(denied, "it has no execute permission")
	}
	if name == "sh" {
		return failed(exitNotFound, reasonNotFound,
			"this image has no shell: sh is not in PATH; set shell: false or use an image with a shell")
	}
	return failed(exitNotFound, reasonNotFound, "command not found: %s (PATH is %q)%s", name, search, wordsHint(name))
}

// wordsHint is for those who wrote a whole command line as one element.
func wordsHint(name string) string {
	if !strings.ContainsAny(name, " \t\n") {
		return ""
	}
	return "; it is one element with blanks: set shell: true, or write each word as an element of its own"
}

func notExecutable(path, why string) *outcome {
	return failed(exitNotExecutable, reasonNotExecutable, "cannot execute %s: %s", path, why)
}

func startFailure(path string, err error) *outcome {
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(err, syscall.ENOENT) && statErr == nil:
		return failed(exitNotFound, reasonNotFound,
			"cannot execute %s: the file is there, but the interpreter or loader that it names is not in the image", path)
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return failed(exitNotFound, reasonNotFound, "command not found: %s%s", path, wordsHint(path))
	case statErr == nil && info.IsDir():
		return notExecutable(path, "it is a directory")
	case errors.Is(err, syscall.ENOEXEC):
		return notExecutable(path, "it is neither a program for this machine nor a script that begins with #!")
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE):
		return failed(exitRunnerFailed, reasonStartFailed, "cannot start a process: %v", err)
	}
	return notExecutable(path, err.Error())
}
