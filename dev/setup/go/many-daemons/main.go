// Many light daemons of edge hosts in one process, for benchmarks: each has an address, a key and a connection of its
// own. Orders come as lines of JSON on standard input, and each gets one line of JSON as its answer.
//
//	{"do":"enroll","relay":"127.0.0.1:1234","tokens":"/path/of/a/file","at_once":32}  a host for each line of the file
//	{"do":"pretend","relay":"127.0.0.1:1234","hosts":100,"token_bytes":600}            hosts of a server that checks nothing
//	{"do":"connect","hosts":100,"heartbeat_ms":30000}                                  these keep streams from now on
//	{"do":"count"}                                                                    ends of streams by cause, and commands
//	{"do":"disconnect"}                                                               the streams end
package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// order is a line of standard input.
type order struct {
	Do          string `json:"do"`
	Relay       string `json:"relay"`
	Tokens      string `json:"tokens"`
	AtOnce      int    `json:"at_once"`
	Hosts       int    `json:"hosts"`
	TokenBytes  int    `json:"token_bytes"`
	HeartbeatMs int    `json:"heartbeat_ms"`
}

// answer is a line of standard output.
type answer struct {
	Problem  string         `json:"problem,omitempty"`
	Hosts    int            `json:"hosts"`
	Commands int64          `json:"commands"`
	Ends     map[string]int `json:"ends"`
}

// fleet is all daemons of this process.
type fleet struct {
	relay      string
	isBare     bool
	heartbeats time.Duration
	daemons    []*daemon
	commands   atomic.Int64
	running    sync.WaitGroup
	stop       context.CancelFunc
	counting   sync.Mutex
	ends       map[string]int
}

func (f *fleet) note(err error) {
	f.counting.Lock()
	defer f.counting.Unlock()
	f.ends[causeOf(err)]++
}

var addresses = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+:\d+`)

func withoutAddresses(text string) string { return addresses.ReplaceAllString(text, "ADDRESS") }

func (f *fleet) enroll(given order) error {
	text, err := os.ReadFile(given.Tokens)
	if err != nil {
		return err
	}
	f.relay, f.isBare, f.daemons = given.Relay, false, nil
	tokens := strings.Fields(string(text))
	places := make(chan struct{}, max(1, given.AtOnce))
	problems := make(chan error, len(tokens))
	var working sync.WaitGroup
	for index, token := range tokens {
		one := &daemon{index: index, fleet: f, unacknowledged: map[string]struct{}{}}
		f.daemons = append(f.daemons, one)
		places <- struct{}{}
		working.Go(func() {
			defer func() { <-places }()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			if err := one.enrollPatiently(ctx, token); err != nil {
				problems <- fmt.Errorf("host %d is not enrolled: %w", one.index, err)
			}
		})
	}
	working.Wait()
	close(problems)
	return <-problems
}

// pretend makes hosts whose tokens are as long as real ones; the last part of each is its number.
func (f *fleet) pretend(given order) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	f.relay, f.isBare, f.daemons = given.Relay, true, nil
	for index := range given.Hosts {
		number := fmt.Sprintf(".%d", index)
		token := strings.Repeat("x", max(0, given.TokenBytes-len(number))) + number
		f.daemons = append(f.daemons, &daemon{index: index, fleet: f, key: key, nodeID: uuid(), token: token})
	}
	return nil
}

func (f *fleet) connect(given order) error {
	if f.stop != nil {
		return fmt.Errorf("the streams are open already")
	}
	if given.Hosts > len(f.daemons) || given.HeartbeatMs < 1 {
		return fmt.Errorf("there are %d hosts, and heartbeat_ms is 1 or more", len(f.daemons))
	}
	ctx, stop := context.WithCancel(context.Background())
	f.stop, f.ends, f.heartbeats = stop, map[string]int{}, time.Duration(given.HeartbeatMs)*time.Millisecond
	f.commands.Store(0)
	for _, one := range f.daemons[:given.Hosts] {
		f.running.Go(func() { one.keep(ctx) })
	}
	return nil
}

func (f *fleet) disconnect() {
	if f.stop == nil {
		return
	}
	f.stop()
	f.running.Wait()
	f.stop = nil
}

func (f *fleet) obey(given order) error {
	switch given.Do {
	case "enroll":
		return f.enroll(given)
	case "pretend":
		return f.pretend(given)
	case "connect":
		return f.connect(given)
	case "disconnect":
		f.disconnect()
		return nil
	case "count":
		return nil
	}
	return fmt.Errorf("no order %q", given.Do)
}

func (f *fleet) report(err error) answer {
	f.counting.Lock()
	defer f.counting.Unlock()
	ends := map[string]int{}
	for cause, count := range f.ends {
		ends[cause] = count
	}
	said := answer{Hosts: len(f.daemons), Commands: f.commands.Load(), Ends: ends}
	if err != nil {
		said.Problem = err.Error()
	}
	return said
}

func main() {
	many := &fleet{ends: map[string]int{}}
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given order
		err := json.Unmarshal(lines.Bytes(), &given)
		if err == nil {
			err = many.obey(given)
		}
		if err := answers.Encode(many.report(err)); err != nil {
			os.Exit(1)
		}
	}
}
