package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const mcpToken = "token-of-one-pod"

var mcpAddress = regexp.MustCompile(`runner: serves (\S+)\n`)

// startMcp starts `runner mcp` with a program, and returns its address when it serves.
func startMcp(t *testing.T, p place, script string) string {
	t.Helper()
	r := &running{cmd: p.command("mcp", "--listen", "127.0.0.1:0", "--", "sh", "-c", script)}
	r.cmd.Env = append(r.cmd.Env, "WINDLASS_MCP_TOKEN="+mcpToken)
	r.cmd.Stderr = &r.raw
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.signal(t, syscall.SIGTERM)
		_ = r.cmd.Wait()
	})
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if found := mcpAddress.FindStringSubmatch(r.raw.String()); found != nil {
			return found[1]
		}
	}
	t.Fatalf("nothing is served: %q", r.raw.String())
	return ""
}

// firstAnswer is what the program behind the bridge says to the first message of a session.
func firstAnswer(t *testing.T, address string) string {
	t.Helper()
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	request, _ := http.NewRequest(http.MethodPost, "http://"+address+"/mcp", body)
	request.Header.Set("Authorization", "Bearer "+mcpToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, _ := io.ReadAll(response.Body)
	return string(said)
}

func TestMcpKeepsItsToken(t *testing.T) {
	p := inContainer(t)
	for name, script := range map[string]string{
		"its environment cannot be read":       "cat /proc/1/environ",
		"its memory cannot be read":            "head -c 1 /proc/1/mem",
		"its files cannot be listed":           "readlink /proc/1/fd/2",
		"the program's environment is without": "env | grep WINDLASS_MCP_TOKEN",
	} {
		t.Run("WF-CR-19 "+name, func(t *testing.T) {
			answer := `read -r line; if ` + script + ` >/dev/null 2>&1; then said=open; else said=closed; fi; ` +
				`echo '{"jsonrpc":"2.0","id":1,"result":"'$said'"}'; cat >/dev/null`
			if said := firstAnswer(t, startMcp(t, p, answer)); !strings.Contains(said, `"result":"closed"`) {
				t.Error(said)
			}
		})
	}
}
