package agent

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The bodies of spec 1 §4.4 and §4.5.

type attestRequest struct {
	AgentID     string `json:"agent_id"`
	ExecutionID string `json:"execution_id"`
	ContainerID string `json:"container_id"`
	PublicKey   string `json:"agent_public_key"`
}

type generateRequest struct {
	Type            string   `json:"type"`
	AgentID         string   `json:"agent_id"`
	ExecutionID     string   `json:"execution_id"`
	IterationNumber int      `json:"iteration_number"`
	ModelAlias      string   `json:"model_alias"`
	Prompt          string   `json:"prompt"`
	Messages        []string `json:"messages"`
}

type resultRequest struct {
	Type        string `json:"type"`
	ExecutionID string `json:"execution_id"`
	DispatchID  string `json:"dispatch_id"`
	ExitCode    int    `json:"exit_code"`
	Stdout      string `json:"stdout"`
	Stderr      string `json:"stderr"`
	DurationMS  int64  `json:"duration_ms"`
	Truncated   bool   `json:"truncated"`
}

// resultLimit is the most that the API takes in one body, less a margin.
const resultLimit = 7 << 20

// fitted is the result with its texts shortened until it fits: bytes that are no characters take up to six in JSON.
func (r resultRequest) fitted() resultRequest {
	for size(r.Stdout)+size(r.Stderr) > resultLimit {
		r.Stdout, r.Stderr, r.Truncated = half(r.Stdout), half(r.Stderr), true
	}
	return r
}

// size is the length of a text in JSON.
func size(text string) int {
	var counted bytes.Buffer
	encoder := json.NewEncoder(&counted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text)
	return counted.Len()
}

func half(text string) string {
	end := len(text) / 2
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// answer is a response of the dispatch gateway. The text and the conversation of a final answer are not read: they are
// for people, and the API has written them down already.
type answer struct {
	Type           string            `json:"type"`
	DispatchID     string            `json:"dispatch_id"`
	Action         string            `json:"action"`
	Command        string            `json:"command"`
	Args           []string          `json:"args"`
	Cwd            string            `json:"cwd"`
	EnvAdditions   map[string]string `json:"env_additions"`
	TimeoutSecs    int               `json:"timeout_secs"`
	MaxOutputBytes int               `json:"max_output_bytes"`
}
