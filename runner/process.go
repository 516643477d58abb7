package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	prSetDumpable       = 4
	prSetChildSubreaper = 36
	sysCloseRange       = 436
	closeRangeCloexec   = 4
	sigsetSize          = 8
)

// killPatience bounds the wait for processes that do not die even of SIGKILL (stuck in the kernel). They end with the
// container: none of them can reach the runner's output.
const killPatience = 3 * time.Second

// protect makes the runner's /proc entries and memory unreachable for the command, even under the same user, so that
// only the runner can write to the container's output; and makes every orphan the runner's child.
func protect() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0); errno != 0 {
		return fmt.Errorf("cannot protect itself: prctl(PR_SET_DUMPABLE): %w", errno)
	}
	// As process 1 it inherits orphans anyway; elsewhere (a shared process
	// namespace, a test) this gives the same.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("cannot adopt orphans: prctl(PR_SET_CHILD_SUBREAPER): %w", errno)
	}
	// Descriptors that a runtime may have leaked stay out of the command. Kernels before 5.11 do not know the call.
	_, _, _ = syscall.RawSyscall(sysCloseRange, 3, math.MaxUint32, closeRangeCloexec)
	return nil
}

// forwarded are the signals that a container is stopped or asked with; 37 is
// SIGRTMIN+3 of C libraries.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
	syscall.SIGTERM, syscall.SIGCONT, syscall.SIGWINCH, syscall.Signal(37),
}

// survived are the other signals that would end a Go program: neither the command nor a reader that left may do that.
var survived = []os.Signal{
	syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV,
	syscall.SIGPIPE, syscall.SIGSTKFLT, syscall.SIGSYS,
}

// catchSignals takes those signals and no more: each costs a switch of threads,
// and the command waits for all of them.
func catchSignals() <-chan os.Signal {
	signal.Notify(make(chan os.Signal), survived...)
	c := make(chan os.Signal, 64)
	signal.Notify(c, forwarded...)
	catchLibrarySignals()
	return c
}

// idleHandler is the address of a signal handler that does nothing (handler.s).
var idleHandler uintptr

// catchLibrarySignals gives a handler to the two signals that the Go runtime leaves alone because C libraries use
// them. The kernel shields process 1 from a signal without a handler only while its first thread does not block it,
// and that thread blocks all whenever it makes another: then a command could end the runner. The exec of the command
// undoes handlers, not so ignored signals.
func catchLibrarySignals() {
	action := new([4]uintptr) // the kernel's struct sigaction; the handler comes first
	sigaction := func(s uintptr, to, from unsafe.Pointer) {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, s, uintptr(to), uintptr(from), sigsetSize, 0, 0)
	}
	sigaction(uintptr(syscall.SIGHUP), nil, unsafe.Pointer(action))
	action[0] = idleHandler
	sigaction(32, unsafe.Pointer(action), nil)
	sigaction(34, unsafe.Pointer(action), nil)
}

// stops tells the signals that a container runtime stops a container with.
func stops(s os.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGQUIT
}

// family is the command and everything it has left behind.
type family struct {
	pid    int                     // the command, leader of its process group
	ended  chan syscall.WaitStatus // how the command ended; one value
	reaped chan struct{}           // closed when no child is left
}

// adopt begins to reap: the command and every orphan, until there is none.
// Nothing else in this program may wait for a child.
func adopt(pid int) *family {
	f := &family{pid: pid, ended: make(chan syscall.WaitStatus, 1), reaped: make(chan struct{})}
	go f.reap()
	return f
}

func (f *family) reap() {
	defer close(f.reaped)
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		if pid == f.pid {
			f.ended <- ws
		}
	}
}

// forward gives a signal to the command's process group. A group that is gone
// is no error: the command is ending.
func (f *family) forward(s os.Signal) {
	_ = syscall.Kill(-f.pid, s.(syscall.Signal))
}

// kill ends every other process of the container at once.
func (f *family) kill() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
		return
	}
	// Not in a process namespace of our own: -1 would reach strangers.
	_ = syscall.Kill(-f.pid, syscall.SIGKILL)
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range lists {
		list, _ := os.ReadFile(name)
		for _, field := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// killAll is called after the command has ended; it returns when every process left behind is dead and reaped, or
// cannot be killed. Killing is repeated because the death of one orphan can hand over others.
func (f *family) killAll() {
	patience := time.After(killPatience)
	pause := time.Millisecond
	for {
		f.kill()
		select {
		case <-f.reaped:
			return
		case <-patience:
			return
		case <-time.After(pause):
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
}
