package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

const token = "token-of-one-pod"

// TestMain is the program behind the bridge where the variable says so.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_PROGRAM") != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// program answers the method of each request with what the test needs.
func program() {
	fmt.Println("a banner on the wrong output")
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	counter := 0
	for lines.Scan() {
		var asked message
		json.Unmarshal(lines.Bytes(), &asked)
		say := func(id json.RawMessage, result string) {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
		}
		switch asked.Method {
		case "initialize":
			say(asked.ID, `{"protocolVersion":"2025-11-25","capabilities":{}}`)
		case "count":
			counter++
			say(asked.ID, fmt.Sprintf(`{"count":%d}`, counter))
		case "token":
			environment, _ := json.Marshal(os.Environ())
			say(asked.ID, string(environment))
		case "ask":
			fmt.Println(`{"jsonrpc":"2.0","id":"mine","method":"sampling/createMessage"}`)
			lines.Scan()
			said, _ := json.Marshal(lines.Text())
			say(asked.ID, string(said))
		case "wait":
			// Whatever comes next ends it.
			lines.Scan()
			said, _ := json.Marshal(lines.Text())
			say(asked.ID, string(said))
		case "never":
		case "die":
			os.Exit(3)
		case "long":
			var bytes int
			json.Unmarshal(asked.Params, &bytes)
			frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":""}`, asked.ID)
			fmt.Println(strings.Replace(frame, `""`, `"`+strings.Repeat("x", bytes-len(frame))+`"`, 1))
		}
	}
}

// rig is a bridge over HTTP.
type rig struct {
	t        *testing.T
	url      string
	sessions *sessions
}

func begin(t *testing.T) *rig {
	t.Setenv("MCP_PROGRAM", "1")
	all := newSessions([]string{os.Args[0]})
	server := httptest.NewServer(handler(token, all))
	t.Cleanup(func() { all.endAll(); server.Close() })
	return &rig{t, server.URL, all}
}

type reply struct {
	status  int
	session string
	message
}

func (r *rig) send(method, session, body string) reply {
	r.t.Helper()
	request, _ := http.NewRequest(method, r.url+"/mcp", strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+token)
	if session != "" {
		request.Header.Set(sessionHeader, session)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	found := reply{status: response.StatusCode, session: response.Header.Get(sessionHeader)}
	json.Unmarshal(text, &found.message)
	return found
}

func (r *rig) open() string {
	r.t.Helper()
	opened := r.send("POST", "", `{"jsonrpc":"2.0","id":"first","method":"initialize"}`)
	if opened.status != 200 || opened.session == "" || string(opened.ID) != `"first"` {
		r.t.Fatalf("initialize: %+v", opened)
	}
	return opened.session
}

func (r *rig) call(session, method string) reply {
	r.t.Helper()
	return r.send("POST", session, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q}`, method))
}

func expect(t *testing.T, found reply, status int, part string) {
	t.Helper()
	if text := string(found.Result) + string(found.Error); found.status != status || !strings.Contains(text, part) {
		t.Fatalf("%d %s; want %d with %q", found.status, text, status, part)
	}
}

func TestEachSessionHasAProcessOfItsOwn(t *testing.T) {
	r := begin(t)
	one, other := r.open(), r.open()
	expect(t, r.call(one, "count"), 200, `"count":1`)
	expect(t, r.call(one, "count"), 200, `"count":2`)
	expect(t, r.call(other, "count"), 200, `"count":1`)
}

func TestTheProgramNeverSeesTheToken(t *testing.T) {
	t.Setenv("MCP_PROGRAM", "1")
	t.Setenv(tokenVariable, token)
	done := make(chan int)
	go func() { done <- Main([]string{"--listen", "127.0.0.1:0", "--", os.Args[0]}) }()
	for os.Getenv(tokenVariable) != "" {
		time.Sleep(time.Millisecond)
	}
	r := begin(t)
	if found := r.call(r.open(), "token"); strings.Contains(string(found.Result), token) {
		t.Fatal(string(found.Result))
	}
	stop(t)
	if code := <-done; code != 0 {
		t.Fatalf("exit code %d", code)
	}
}

func TestRefusals(t *testing.T) {
	r := begin(t)
	session := r.open()
	expect(t, r.send("POST", session, `[]`), 400, "not one message")
	expect(t, r.send("POST", session, `{"id":1,"method":"count"}`), 400, "jsonrpc must be")
	expect(t, r.call("", "count"), 400, "send initialize first")
	expect(t, r.call("0123", "count"), 404, "no such session")
	expect(t, r.send("GET", session, ""), 405, "")
	for size, status := range map[int]int{longestRequest: 202, longestRequest + 1: 413} {
		frame := `{"jsonrpc":"2.0","method":"n","params":""}`
		body := strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1)
		if found := r.send("POST", session, body); found.status != status {
			t.Fatalf("%d bytes: %d", size, found.status)
		}
	}
	for _, header := range []string{"", "Bearer", "Bearer token-of-another-pod", token} {
		request, _ := http.NewRequest("POST", r.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
		request.Header.Set("Authorization", header)
		response, err := http.DefaultClient.Do(request)
		if err != nil || response.StatusCode != 401 {
			t.Fatalf("%q: %v %v", header, response.StatusCode, err)
		}
	}
}

func TestWhatTheProgramAsksIsRefused(t *testing.T) {
	r := begin(t)
	expect(t, r.call(r.open(), "ask"), 200, `offers no such method`)
}

func TestCancellationReachesTheProgramUnderTheIdThatItKnows(t *testing.T) {
	r := begin(t)
	session := r.open()
	answers := make(chan reply)
	go func() { answers <- r.call(session, "wait") }()
	for {
		// The request has to be there before it can be cancelled.
		found := r.sessions.find(session)
		if found != nil && found.idleSince().IsZero() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	r.send("POST", session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	expect(t, <-answers, 200, `\"requestId\":2`)
}

func TestDeathOfTheProgramEndsItsSession(t *testing.T) {
	r := begin(t)
	session := r.open()
	expect(t, r.call(session, "die"), 502, "exit status 3")
	expect(t, r.call(session, "count"), 404, "no such session")
}

func TestAMessageTooLongEndsTheSession(t *testing.T) {
	r := begin(t)
	session := r.open()
	ask := func(bytes int) reply {
		return r.send("POST", session, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"long","params":%d}`, bytes))
	}
	expect(t, ask(longestLine-1), 200, "xxx")
	expect(t, ask(longestLine+1), 502, "a message of more than")
}

func TestTooManyQuestionsAreRefused(t *testing.T) {
	r := begin(t)
	session := r.open()
	for range questionsAtOnce {
		go r.call(session, "never")
	}
	found := r.sessions.find(session)
	waiting := func() int {
		found.mutex.Lock()
		defer found.mutex.Unlock()
		return len(found.pending)
	}
	for waiting() < questionsAtOnce {
		time.Sleep(time.Millisecond)
	}
	expect(t, r.call(session, "count"), 503, "too many requests")
}

func TestTheIdlestSessionGivesWay(t *testing.T) {
	r := begin(t)
	first := r.open()
	for range sessionsAtOnce {
		r.open()
	}
	expect(t, r.call(first, "count"), 404, "no such session")
}

func TestASessionThatIsIdleEnds(t *testing.T) {
	r := begin(t)
	session := r.open()
	r.sessions.endIdle(time.Now().Add(longestIdle - time.Second))
	expect(t, r.call(session, "count"), 200, "1")
	found := r.sessions.find(session)
	r.sessions.endIdle(time.Now().Add(longestIdle + time.Second))
	<-found.ended
	expect(t, r.call(session, "count"), 404, "no such session")
}

func TestDeleteEndsTheProcess(t *testing.T) {
	r := begin(t)
	session := r.open()
	found := r.sessions.find(session)
	if status := r.send("DELETE", session, "").status; status != 204 {
		t.Fatal(status)
	}
	<-found.ended
	expect(t, r.send("DELETE", session, ""), 404, "no such session")
}

func stop(t *testing.T) {
	t.Helper()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}
