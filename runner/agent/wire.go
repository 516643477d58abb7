package agent

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
