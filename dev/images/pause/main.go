// Command pause holds a pod's namespaces open: it does nothing until a signal ends it.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// As PID 1 of a shared process namespace it inherits orphans; ignoring SIGCHLD makes the kernel reap them.
	signal.Ignore(syscall.SIGCHLD)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)
	<-end
}
