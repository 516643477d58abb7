// The runner sets its own number of threads: the cgroup need not be looked up.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command runner is the first process of every step container. It starts the
// step's command, passes both output streams on through its own standard
// output, and ends with one line that says how the command ended and what of
// its output was passed on. See README.md for the protocol.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"runtime"

	"windlass.dev/runner/agent"
	"windlass.dev/runner/feed"
	"windlass.dev/runner/fsop"
	"windlass.dev/runner/gitop"
	"windlass.dev/runner/mcp"
	"windlass.dev/runner/selfcopy"
)

// version is set by the image build: -ldflags "-X main.version=1.2.3".
var version = "dev"

// Exit codes of the runner itself. A command that ran gives its own code.
const (
	exitUsage         = 2   // the runner was called wrongly; nothing was started
	exitTimeout       = 124 // the command was stopped by --timeout
	exitRunnerFailed  = 125 // the command could not be started for a reason that is not its fault
	exitNotExecutable = 126 // the command exists and cannot be executed
	exitNotFound      = 127 // the command does not exist
)

//go:embed usage.txt
var usage string

func main() {
	os.Exit(dispatch(os.Args[1:]))
}

// dispatch runs one subcommand and returns the exit code of the process.
func dispatch(args []string) int {
	if len(args) == 0 {
		return usageError("no subcommand; try: runner help")
	}
	switch args[0] {
	case "run":
		return runMain(args[1:])
	case "feed":
		return feed.Main(args[1:], become)
	case "agent":
		return agentMain(args[1:])
	case "fs":
		return fsop.Main(args[1:], os.Stdout)
	case "git":
		return gitop.Main(args[1:], os.Stdout)
	case "mcp":
		return mcpMain(args[1:])
	case "git-credential":
		return gitop.Credential(args[1:], os.Stdin, os.Stdout)
	case "copy":
		return selfcopy.Main(args[1:])
	case "version", "--version":
		fmt.Println(version)
		return 0
	case "help", "--help", "-h":
		printHelp()
		return 0
	}
	return usageError(fmt.Sprintf("unknown subcommand %q; try: runner help", args[0]))
}

// agentMain takes every signal before it begins, so that no command can end the runner with one that is not for it.
func agentMain(args []string) int {
	if len(args) > 0 {
		return usageError("agent takes no arguments; its settings are in the environment")
	}
	if err := protect(); err != nil {
		return usageError(err.Error())
	}
	runtime.GOMAXPROCS(min(processors, runtime.NumCPU()))
	catchSignals()
	return agent.Main()
}

// mcpMain keeps the token of the bridge from the program behind it, which runs under the same user.
func mcpMain(args []string) int {
	if err := protect(); err != nil {
		return usageError(err.Error())
	}
	return mcp.Main(args)
}

func usageError(message string) int {
	fmt.Fprintln(os.Stderr, "runner: "+message)
	return exitUsage
}

func printHelp() {
	fmt.Print(usage)
	flags, _ := newFlags()
	flags.SetOutput(os.Stdout)
	flags.PrintDefaults()
}
