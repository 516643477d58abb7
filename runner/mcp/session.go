package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// longestLine bounds one message of the program; a longer one ends its session.
	longestLine = 4 << 20
	// questionsAtOnce bounds the requests of one session that wait for an answer.
	questionsAtOnce = 32
	// linesAhead bounds what waits to be read by the program: its questions, and as many notifications and refusals.
	linesAhead = 2 * questionsAtOnce
	// termGrace is the time between the end of the program's input and SIGKILL.
	termGrace = 2 * time.Second
)

var errBusy = errors.New("too many requests of this session wait for an answer")

// question is a request that the program has not answered.
type question struct {
	// id is the client's; the program sees a number of ours, since clients of one session may use an id twice.
	id     json.RawMessage
	answer chan *message
}

// session is one process of the program.
type session struct {
	id       string
	command  *exec.Cmd
	input    io.WriteCloser
	lines    chan []byte
	ended    chan struct{}
	endOnce  sync.Once
	forget   func()
	mutex    sync.Mutex
	problem  error
	next     int64
	pending  map[int64]*question
	lastUsed time.Time
}

func start(id string, argv []string, forget func()) (*session, error) {
	command := exec.Command(argv[0], argv[1:]...)
	// A group of its own, so that what the program starts ends with it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("the program cannot be started: %w", err)
	}
	s := &session{
		id: id, command: command, input: input, forget: forget, lines: make(chan []byte, linesAhead),
		ended: make(chan struct{}), pending: map[int64]*question{}, lastUsed: time.Now(),
	}
	go s.write()
	go s.read(output)
	return s, nil
}

// ask sends a request and waits for its answer, the end of the program or that of the caller.
func (s *session) ask(ctx context.Context, asked *message) (*message, error) {
	q := &question{id: asked.ID, answer: make(chan *message, 1)}
	number, err := s.remember(q)
	if err != nil {
		return nil, err
	}
	defer s.settle(number)
	sent := *asked
	sent.ID = json.RawMessage(strconv.FormatInt(number, 10))
	s.send(&sent)
	select {
	case answer := <-q.answer:
		answer.ID = asked.ID
		return answer, nil
	case <-ctx.Done():
		s.cancel(number, "the client has gone")
		return nil, ctx.Err()
	case <-s.ended:
		return nil, s.why()
	}
}

func (s *session) remember(q *question) (int64, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.pending) >= questionsAtOnce {
		return 0, errBusy
	}
	s.next++
	s.pending[s.next] = q
	s.lastUsed = time.Now()
	return s.next, nil
}

func (s *session) settle(number int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.pending, number)
	s.lastUsed = time.Now()
}

// notify passes a notification on. Answers of clients are dropped: the program was never let ask.
func (s *session) notify(said *message) {
	switch {
	case said.Method == "":
	case said.Method == "notifications/cancelled":
		s.passCancel(said.Params)
	default:
		s.send(&message{Version: "2.0", Method: said.Method, Params: said.Params})
	}
}

func (s *session) passCancel(params json.RawMessage) {
	var about struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	if json.Unmarshal(params, &about) != nil {
		return
	}
	s.mutex.Lock()
	var found []int64
	for number, q := range s.pending {
		if bytes.Equal(q.id, about.RequestID) {
			found = append(found, number)
		}
	}
	s.mutex.Unlock()
	for _, number := range found {
		s.cancel(number, about.Reason)
	}
}

func (s *session) cancel(number int64, reason string) {
	params, _ := json.Marshal(map[string]any{"requestId": number, "reason": reason})
	s.send(&message{Version: "2.0", Method: "notifications/cancelled", Params: params})
}

// send puts one line behind those that wait. A program that reads none of so many has lost its session.
func (s *session) send(m *message) {
	line, err := json.Marshal(m)
	if err != nil {
		return
	}
	select {
	case s.lines <- append(line, '\n'):
	case <-s.ended:
	default:
		s.blame(errors.New("the program does not read what it is sent"))
		s.kill()
	}
}

func (s *session) write() {
	for {
		select {
		case line := <-s.lines:
			s.input.Write(line)
		case <-s.ended:
			return
		}
	}
}

// read takes the program's messages until its output ends, and then ends the session.
func (s *session) read(output io.Reader) {
	lines := bufio.NewScanner(output)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	for lines.Scan() {
		s.hear(lines.Bytes())
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		s.blame(fmt.Errorf("the program wrote a message of more than %d bytes", longestLine))
	}
	s.kill()
	_ = s.command.Wait()
	s.blame(fmt.Errorf("the program ended (%v); the log of its pod says more", s.command.ProcessState))
	s.forget()
	close(s.ended)
}

func (s *session) hear(line []byte) {
	var said message
	if json.Unmarshal(line, &said) != nil || said.Version != "2.0" {
		// Programs print banners to the wrong output.
		fmt.Fprintf(os.Stderr, "runner: not a message of JSON-RPC: %.200q\n", line)
		return
	}
	switch {
	case said.isRequest():
		s.send(answerTo(&said))
	case said.Method == "" && said.ID != nil:
		s.answer(&said)
	}
}

// answerTo answers what the program asks: this client offers neither sampling nor roots nor elicitation.
func answerTo(asked *message) *message {
	if asked.Method == "ping" {
		return &message{Version: "2.0", ID: asked.ID, Result: json.RawMessage("{}")}
	}
	problem, _ := json.Marshal(map[string]any{"code": codeUnknownMethod, "message": "the client offers no such method"})
	return &message{Version: "2.0", ID: asked.ID, Error: problem}
}

func (s *session) answer(said *message) {
	number, err := strconv.ParseInt(string(said.ID), 10, 64)
	if err != nil {
		return
	}
	s.mutex.Lock()
	q := s.pending[number]
	delete(s.pending, number)
	s.mutex.Unlock()
	if q != nil {
		q.answer <- said
	}
}

func (s *session) blame(problem error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.problem == nil {
		s.problem = problem
	}
}

func (s *session) why() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.problem
}

// end closes the program's input, by which a well-behaved one leaves, and kills its group after the grace.
func (s *session) end() {
	s.endOnce.Do(func() {
		s.forget()
		s.blame(errors.New("the session has ended"))
		s.input.Close()
		go func() {
			select {
			case <-s.ended:
			case <-time.After(termGrace):
				s.kill()
			}
		}()
	})
}

func (s *session) kill() { syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL) }

// idleSince is zero while a request waits for an answer.
func (s *session) idleSince() time.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.pending) > 0 {
		return time.Time{}
	}
	return s.lastUsed
}
