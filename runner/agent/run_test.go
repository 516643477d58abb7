package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// gateway is a server that speaks the protocol from a script: one reply for each request to the dispatch gateway.
type gateway struct {
	mu       sync.Mutex
	script   []reply
	attest   []reply
	requests []map[string]any
	patience time.Duration
	passed   time.Duration
	tokens   []string
}

type reply struct {
	status int
	header map[string]string
	body   string
	after  time.Duration
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	body["path"] = r.URL.Path
	g.requests = append(g.requests, body)
	g.tokens = append(g.tokens, r.Header.Get("Authorization"))
	next := reply{status: 200, body: `{"security_token":"t","session_id":"s","expires_at":"2026-01-01T00:00:00Z"}`}
	queue := &g.attest
	if r.URL.Path == pathDispatch {
		queue, next = &g.script, reply{status: 200, body: `{"type":"final","content":"done","tool_calls_executed":0,"conversation":[]}`}
	}
	if len(*queue) > 0 {
		next, *queue = (*queue)[0], (*queue)[1:]
	}
	g.passed += next.after
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

func (g *gateway) run(t *testing.T) error {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("projected\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newClient(Settings{
		Gateway: server.URL, AgentID: "agent-uid", ExecutionID: "execution-uid", PodUID: "pod-uid",
		ModelAlias: "smart", TokenFile: token, Workspace: t.TempDir(),
	})
	c.firstPause, c.patience = time.Millisecond, g.patience
	c.now = func() time.Time {
		g.mu.Lock()
		defer g.mu.Unlock()
		return time.Unix(0, 0).Add(g.passed)
	}
	return run(context.Background(), c, &commands{workspace: c.settings.Workspace})
}

func (g *gateway) sent(kind string) []map[string]any {
	var found []map[string]any
	for _, r := range g.requests {
		if r["type"] == kind || r["path"] == kind {
			found = append(found, r)
		}
	}
	return found
}

func dispatchOf(id string, words ...string) reply {
	body, _ := json.Marshal(map[string]any{
		"type": "dispatch", "dispatch_id": id, "action": "exec", "command": words[0], "args": words[1:], "cwd": "",
		"env_additions": map[string]string{"ADDED": "yes"}, "timeout_secs": 30, "max_output_bytes": 1000,
	})
	return reply{status: 200, body: string(body)}
}

func TestAttest(t *testing.T) {
	g := &gateway{}
	if err := g.run(t); err != nil {
		t.Fatal(err)
	}
	t.Run("ATTEST-01 the first request attests with the pod's uid and a public key of 32 bytes", func(t *testing.T) {
		first := g.requests[0]
		key, err := base64.StdEncoding.DecodeString(first["agent_public_key"].(string))
		if err != nil || len(key) != 32 || first["path"] != pathAttest || first["container_id"] != "pod-uid" ||
			first["agent_id"] != "agent-uid" || first["execution_id"] != "execution-uid" {
			t.Errorf("%v %v", first, err)
		}
	})
	t.Run("AMB-017 every request carries the projected token", func(t *testing.T) {
		for _, token := range g.tokens {
			if token != "Bearer projected" {
				t.Errorf("%q", token)
			}
		}
	})
	t.Run("AMB-198 generate names the alias and holds no messages", func(t *testing.T) {
		ask := g.requests[1]
		if ask["model_alias"] != "smart" || len(ask["messages"].([]any)) != 0 || ask["prompt"] != "" ||
			ask["iteration_number"] != 1.0 || ask["agent_id"] != "agent-uid" {
			t.Errorf("%v", ask)
		}
	})
}

func TestDispatch(t *testing.T) {
	t.Run("DISPATCH a command runs, its result is posted, and the next answer is taken from that response", func(t *testing.T) {
		g := &gateway{script: []reply{dispatchOf("d1", "sh", "-c", "printf out; printf err >&2; exit 3"), dispatchOf("d2", "printenv", "ADDED")}}
		if err := g.run(t); err != nil {
			t.Fatal(err)
		}
		results := g.sent("dispatch_result")
		if len(results) != 2 || len(g.sent("generate")) != 1 {
			t.Fatalf("%v", g.requests)
		}
		first := results[0]
		if first["dispatch_id"] != "d1" || first["exit_code"] != 3.0 || first["stdout"] != "out" || first["stderr"] != "err" ||
			first["truncated"] != false || first["execution_id"] != "execution-uid" {
			t.Errorf("%v", first)
		}
		if results[1]["stdout"] != "yes\n" {
			t.Errorf("%v", results[1])
		}
	})
	t.Run("AMB-038 a dispatch that comes again is reported again and not run again", func(t *testing.T) {
		mark := filepath.Join(t.TempDir(), "mark")
		again := dispatchOf("d1", "sh", "-c", "echo x >> "+mark)
		g := &gateway{script: []reply{again, {status: 204}, again}}
		if err := g.run(t); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(mark); string(text) != "x\n" || len(g.sent("dispatch_result")) != 2 {
			t.Errorf("ran %q", text)
		}
	})
	t.Run("DISPATCH 204 asks again", func(t *testing.T) {
		g := &gateway{script: []reply{{status: 204, header: map[string]string{"Retry-After": "0"}}, {status: 204}}}
		if err := g.run(t); err != nil || len(g.sent("generate")) != 3 {
			t.Errorf("%v %v", err, g.requests)
		}
	})
}

func TestPatience(t *testing.T) {
	for _, status := range []int{408, 429, 500, 502, 503, 504} {
		t.Run("DISPATCH "+http.StatusText(status)+" is tried again", func(t *testing.T) {
			g := &gateway{attest: []reply{{status: status}}, script: []reply{{status: status}, {status: status}}}
			if err := g.run(t); err != nil || len(g.sent("generate")) != 3 || len(g.sent(pathAttest)) != 2 {
				t.Errorf("%v %v", err, g.requests)
			}
		})
	}
	for _, status := range []int{302, 400, 401, 403, 404, 409, 410, 413} {
		t.Run("DISPATCH "+http.StatusText(status)+" ends the runner with the server's words", func(t *testing.T) {
			g := &gateway{script: []reply{{status: status, header: map[string]string{"Location": "/elsewhere"}, body: "no such thing"}}}
			err := g.run(t)
			refused, is := errors.AsType[*refusal](err)
			if !is || refused.status != status || !strings.Contains(err.Error(), "no such thing") || len(g.sent("generate")) != 1 {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("AMB-017 a new pod asks again where the API does not know it yet", func(t *testing.T) {
		unknown := []reply{{status: 403, body: "foreign"}, {status: 404, body: "none"}}
		g := &gateway{attest: unknown, script: append([]reply{}, unknown...), patience: time.Second}
		if err := g.run(t); err != nil || len(g.sent(pathAttest)) != 3 || len(g.sent("generate")) != 3 {
			t.Errorf("%v %v", err, g.requests)
		}
	})
	refusedAfter := func(after time.Duration) reply { return reply{status: 403, body: "foreign", after: after} }
	for name, late := range map[string]struct {
		replies []reply
		refused bool
	}{
		"refused 29 s apart is forgiven":            {[]reply{refusedAfter(time.Hour), refusedAfter(29 * time.Second)}, false},
		"refused 30 s apart is refused":             {[]reply{refusedAfter(time.Hour), refusedAfter(30 * time.Second)}, true},
		"refused 31 s apart is refused":             {[]reply{refusedAfter(time.Hour), refusedAfter(31 * time.Second)}, true},
		"refused on both sides of an outage passes": {[]reply{refusedAfter(time.Hour), {status: 503, after: time.Minute}, refusedAfter(time.Second)}, false},
	} {
		t.Run("AMB-017 a pod that was known and is "+name, func(t *testing.T) {
			g := &gateway{script: append([]reply{dispatchOf("d1", "true")}, late.replies...), patience: strangerPatience}
			if err := g.run(t); (err != nil) != late.refused {
				t.Errorf("%v %v", err, g.requests)
			}
		})
	}
	for name, body := range map[string]string{"no JSON": "<html>", "an unknown type": `{"type":"dance"}`, "no dispatch id": `{"type":"dispatch"}`} {
		t.Run("DISPATCH an answer with "+name+" ends the runner", func(t *testing.T) {
			if err := (&gateway{script: []reply{{status: 200, body: body}}}).run(t); err == nil {
				t.Error("no error")
			}
		})
	}
	t.Run("DISPATCH a stop ends the waiting", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		c := newClient(Settings{Gateway: "http://127.0.0.1:1", TokenFile: "/no/such/token"})
		if err := run(ctx, c, &commands{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestSettings(t *testing.T) {
	for _, name := range []string{"GATEWAY", "AGENT_ID", "EXECUTION_ID", "POD_UID", "MODEL_ALIAS"} {
		t.Run("WF-AGENT the error names "+name, func(t *testing.T) {
			for _, other := range []string{"AGENT_ID", "EXECUTION_ID", "POD_UID", "MODEL_ALIAS"} {
				t.Setenv(ownPrefix+other, "x")
			}
			t.Setenv("WINDLASS_GATEWAY", "http://api:8081/")
			t.Setenv(ownPrefix+name, "")
			if _, err := ReadSettings(); err == nil || !strings.HasSuffix(err.Error(), ownPrefix+name) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("WF-AGENT a gateway without a host is refused", func(t *testing.T) {
		for _, name := range []string{"AGENT_ID", "EXECUTION_ID", "POD_UID", "MODEL_ALIAS"} {
			t.Setenv(ownPrefix+name, "x")
		}
		t.Setenv("WINDLASS_GATEWAY", "api")
		if _, err := ReadSettings(); err == nil {
			t.Error("no error")
		}
	})
}
