package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const (
	pathAttest   = "/v1/seal/attest"
	pathDispatch = "/v1/dispatch-gateway"
	exitFailed   = 1
	exitUsage    = 2
	exitStopped  = 128 + int(syscall.SIGTERM)
)

// Main is `runner agent`: it returns the exit code of the container. A stop signal ends the command that runs, then
// the process.
func Main() int {
	settings, err := ReadSettings()
	if err != nil {
		fmt.Fprintln(os.Stderr, "runner: "+err.Error())
		return exitUsage
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	running := &commands{workspace: settings.Workspace}
	done := make(chan error, 1)
	go func() { done <- run(ctx, newClient(settings), running) }()
	select {
	case <-stopped:
		cancel()
		running.stop()
		return exitStopped
	case err := <-done:
		if err != nil {
			fmt.Fprintln(os.Stderr, "runner: "+err.Error())
			return exitFailed
		}
		return 0
	}
}

// run attests and does what the API says until it says `final`.
func run(ctx context.Context, c *client, running *commands) error {
	if err := attest(ctx, c); err != nil {
		return err
	}
	ask := generateRequest{
		Type: "generate", AgentID: c.settings.AgentID, ExecutionID: c.settings.ExecutionID,
		IterationNumber: 1, ModelAlias: c.settings.ModelAlias, Messages: []string{},
	}
	var body any = ask
	var last resultRequest
	for {
		reap()
		var a answer
		answered, err := c.post(ctx, pathDispatch, body, &a)
		switch {
		case err != nil:
			return err
		case !answered:
			body = ask
		case a.Type == "final":
			return nil
		case a.Type == "dispatch" && a.DispatchID != "":
			// A dispatch that was run already is reported again and not run again: its report may have been lost.
			if a.DispatchID != last.DispatchID {
				last = running.run(ctx, a)
				last.ExecutionID = c.settings.ExecutionID
			}
			body = last.fitted()
		default:
			return fmt.Errorf("%s answered with the type %q; dispatch and final are known", pathDispatch, a.Type)
		}
	}
}

// attest registers the public half of a new session key. The private half never leaves this process.
func attest(ctx context.Context, c *client) error {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	body := attestRequest{
		AgentID: c.settings.AgentID, ExecutionID: c.settings.ExecutionID, ContainerID: c.settings.PodUID,
		PublicKey: base64.StdEncoding.EncodeToString(public),
	}
	for {
		var session struct {
			SessionID string `json:"session_id"`
		}
		if attested, err := c.post(ctx, pathAttest, body, &session); err != nil || attested {
			return err
		}
	}
}
