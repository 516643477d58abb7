// Package feed is `runner feed`: it gives a command its standard input and its files, and then becomes the command.
package feed

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// Exit codes of the runner where it does not come to the command.
const (
	exitUsage  = 2
	exitFailed = 125
)

// plan is what the arguments ask for. Each flag takes a fixed number of arguments, whatever they look like, so that no
// text of a caller can be taken for a flag.
type plan struct {
	stdin *string
	files []file
	argv  []string
}

type file struct{ path, content string }

const usage = "feed [--stdin TEXT] [--file PATH TEXT]… -- COMMAND [ARGUMENT…]"

func parse(args []string) (*plan, error) {
	p := &plan{}
	for i := 0; i < len(args); {
		rest := args[i+1:]
		switch args[i] {
		case "--":
			if len(rest) == 0 || rest[0] == "" {
				return nil, errors.New("no command; write it after --")
			}
			p.argv = rest
			return p, nil
		case "--stdin":
			if len(rest) < 1 || p.stdin != nil {
				return nil, errors.New("--stdin takes one text, once")
			}
			p.stdin = &rest[0]
			i += 2
		case "--file":
			if len(rest) < 2 {
				return nil, errors.New("--file takes a path and a text")
			}
			p.files = append(p.files, file{rest[0], rest[1]})
			i += 3
		default:
			return nil, fmt.Errorf("unknown flag %q; usage: %s", args[i], usage)
		}
	}
	return nil, errors.New("no command; write it after --")
}

// Main returns where the command cannot begin, with the exit code of the process. become replaces the process; it returns
// where that fails, with the exit code and the reason.
func Main(args []string, become func(argv []string) (exitCode int, failure string)) int {
	p, err := parse(args)
	if err != nil {
		return fail(exitUsage, err.Error())
	}
	for _, f := range p.files {
		if err := write(f); err != nil {
			return fail(exitFailed, fmt.Sprintf("cannot write the file %q: %v", f.path, err))
		}
	}
	if p.stdin != nil {
		if err := giveStdin(*p.stdin); err != nil {
			return fail(exitFailed, fmt.Sprintf("cannot give the standard input: %v", err))
		}
	}
	return fail(become(p.argv))
}

func fail(code int, message string) int {
	fmt.Fprintln(os.Stderr, "runner: "+message)
	return code
}

// write makes a file below the working directory. Each folder of its path is opened in the one before, and neither a
// folder nor the file may be a symbolic link or be there in another form: nothing outside is ever touched.
func write(f file) error {
	names, err := namesOf(f.path)
	if err != nil {
		return err
	}
	folder, err := syscall.Open(".", folderFlags, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(folder) }()
	last := len(names) - 1
	for _, name := range names[:last] {
		if err := syscall.Mkdirat(folder, name, 0o777); err != nil && !errors.Is(err, syscall.EEXIST) {
			return err
		}
		inner, err := syscall.Openat(folder, name, folderFlags, 0)
		if err != nil {
			return err
		}
		_ = syscall.Close(folder)
		folder = inner
	}
	return writeIn(folder, names[last], f.content)
}

const folderFlags = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

func writeIn(folder int, name, content string) error {
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := syscall.Openat(folder, name, flags, 0o666)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), name)
	_, err = out.WriteString(content)
	return errors.Join(err, out.Close())
}

// namesOf splits a relative path. The schema of CLI tools permits less.
func namesOf(path string) ([]string, error) {
	names := strings.Split(path, "/")
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			return nil, errors.New("the path must be relative, without empty names, . and ..")
		}
	}
	return names, nil
}

// giveStdin makes an unnamed file in memory descriptor 0. A pipe could be smaller than the text, and nothing would
// empty it before the command runs.
func giveStdin(text string) error {
	fd, err := memfd()
	if err != nil {
		return err
	}
	in := os.NewFile(fd, "stdin")
	defer in.Close()
	if _, err := in.WriteString(text); err != nil {
		return err
	}
	if _, err := in.Seek(0, 0); err != nil {
		return err
	}
	return syscall.Dup3(int(in.Fd()), 0, 0)
}

// callNumbers of memfd_create, which the standard library does not name.
var callNumbers = map[string]uintptr{"amd64": 319, "arm64": 279}

const closeOnExec = 1

func memfd() (uintptr, error) {
	name, err := syscall.BytePtrFromString("stdin")
	if err != nil {
		return 0, err
	}
	number, known := callNumbers[runtime.GOARCH]
	if !known {
		return 0, fmt.Errorf("not on %s", runtime.GOARCH)
	}
	fd, _, failure := syscall.Syscall(number, uintptr(unsafe.Pointer(name)), closeOnExec, 0)
	if failure != 0 {
		return 0, failure
	}
	return fd, nil
}
