// Package agent is the first process of an agent's pod: it attests, asks the API what to do, runs the commands that it
// is given, and reports how they ended. It holds no secret but the private half of its session key.
package agent

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

const (
	defaultTokenFile = "/var/run/secrets/windlass/token"
	defaultWorkspace = "/workspace"
	// ownPrefix begins the names of the variables that are meant for the runner and not for commands.
	ownPrefix = "WINDLASS_"
)

// Settings is what the controller says in the environment of the container.
type Settings struct {
	Gateway     string // address of the API's internal listener
	AgentID     string
	ExecutionID string
	PodUID      string
	ModelAlias  string
	TokenFile   string // the projected token; the kubelet renews it, so each request reads it again
	Workspace   string // working folder of commands that name none
}

// ReadSettings reads the environment; the error names every variable that is missing.
func ReadSettings() (Settings, error) {
	var missing []string
	required := func(name string) string {
		value := os.Getenv(ownPrefix + name)
		if value == "" {
			missing = append(missing, ownPrefix+name)
		}
		return value
	}
	optional := func(name, fallback string) string {
		if value := os.Getenv(ownPrefix + name); value != "" {
			return value
		}
		return fallback
	}
	s := Settings{
		Gateway:     strings.TrimRight(required("GATEWAY"), "/"),
		AgentID:     required("AGENT_ID"),
		ExecutionID: required("EXECUTION_ID"),
		PodUID:      required("POD_UID"),
		ModelAlias:  required("MODEL_ALIAS"),
		TokenFile:   optional("TOKEN_FILE", defaultTokenFile),
		Workspace:   optional("WORKSPACE", defaultWorkspace),
	}
	if len(missing) > 0 {
		return s, fmt.Errorf("the environment lacks %s", strings.Join(missing, ", "))
	}
	if address, err := url.Parse(s.Gateway); err != nil || address.Host == "" {
		return s, errors.New("WINDLASS_GATEWAY is no address such as http://HOST:PORT")
	}
	return s, nil
}

// commandEnvironment is the container's environment without what is meant for the runner, and with the additions.
func commandEnvironment(additions map[string]string) []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if _, replaced := additions[name]; !replaced && !strings.HasPrefix(name, ownPrefix) {
			env = append(env, entry)
		}
	}
	for name, value := range additions {
		env = append(env, name+"="+value)
	}
	return env
}
