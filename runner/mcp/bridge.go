// Package mcp is `runner mcp`: it gives a server of the Model Context Protocol that speaks over its standard input and
// output an HTTP address. Each session of the protocol has a process of the program of its own.
package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Exit codes of the runner itself.
const (
	exitUsage  = 2
	exitFailed = 125
)

const (
	// tokenVariable names what clients have to show. The program never sees it.
	tokenVariable = "WINDLASS_MCP_TOKEN"
	// longestRequest bounds the body of one message of a client.
	longestRequest = 1 << 20
	// readTime bounds the arrival of the head of a request, and then that of its body.
	readTime   = 10 * time.Second
	sweepEvery = 15 * time.Second
)

const usage = "mcp [--listen ADDRESS] -- COMMAND [ARGUMENT…]"

// Main serves until a signal ends it.
func Main(args []string) int {
	flags := flag.NewFlagSet("mcp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	listen := flags.String("listen", ":8080", "address to serve")
	if err := flags.Parse(args); err != nil {
		return failed(exitUsage, fmt.Sprintf("%v; usage: %s", err, usage))
	}
	if flags.NArg() == 0 || flags.Arg(0) == "" {
		return failed(exitUsage, "no command; write it after --; usage: "+usage)
	}
	token := os.Getenv(tokenVariable)
	if token == "" {
		return failed(exitUsage, tokenVariable+" is not set: the bridge could not refuse any client")
	}
	os.Unsetenv(tokenVariable)
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return failed(exitFailed, err.Error())
	}
	fmt.Fprintf(os.Stderr, "runner: serves %s\n", listener.Addr())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if err := serve(listener, token, newSessions(flags.Args()), stop); err != nil {
		return failed(exitFailed, err.Error())
	}
	return 0
}

func failed(code int, message string) int {
	fmt.Fprintln(os.Stderr, "runner: "+message)
	return code
}

func serve(listener net.Listener, token string, sessions *sessions, stop <-chan os.Signal) error {
	server := &http.Server{
		Handler:           handler(token, sessions),
		ReadHeaderTimeout: readTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-sweep.C:
			sessions.endIdle(time.Now())
		case err := <-ended:
			sessions.endAll()
			return err
		case <-stop:
			sessions.endAll()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if err := server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return nil
		}
	}
}

func handler(token string, sessions *sessions) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	routes.Handle("/mcp", proven(token, endpoint{sessions}))
	return routes
}

// proven lets through requests with the token alone.
func proven(token string, next http.Handler) http.Handler {
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			http.Error(w, "the header Authorization does not hold the token of this server", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
