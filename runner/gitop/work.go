package gitop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	outputLimit  = 32 << 20
	errorLimit   = 16 << 10
	lowSpeed     = "1000"
	lowSpeedTime = "30"
)

// work is one operation under way: the volume, a git folder of its own outside of it, and the way to the server.
type work struct {
	*request
	to      remote
	secrets *secrets
	store   *store
	gate    *gate
	gitDir  string
}

func openWork(r *request, isRemote bool) (*work, error) {
	to, err := parseURL(r.URL)
	if err != nil {
		return nil, err
	}
	w := &work{request: r, to: to, secrets: &secrets{}}
	syscall.Umask(0o002)
	if isRemote {
		if err := w.openRemote(); err != nil {
			return nil, err
		}
	}
	if w.store, err = openStore(r.Root); err == nil {
		w.gitDir, err = os.MkdirTemp(r.Scratch, "git-")
	}
	if err == nil {
		err = w.initialize()
	}
	if err != nil {
		w.close()
		return nil, explain(err)
	}
	return w, nil
}

func (w *work) openRemote() error {
	opened, err := w.networks()
	if err != nil {
		return err
	}
	if w.secrets, err = readSecrets(w.Credentials, w.to); err != nil {
		return err
	}
	if w.to.scheme == "ssh" && w.secrets.values[privateKey] == "" {
		return fail(errCredential, "ssh needs a Secret with the keys %s and %s", privateKey, knownHosts)
	}
	w.gate, err = openGate(w.to, opened, w.LimitBytes)
	return err
}

func (w *work) close() {
	if w.gate != nil {
		w.gate.close()
	}
	if w.store != nil {
		w.store.close()
	}
	if w.gitDir != "" {
		_ = os.RemoveAll(w.gitDir)
	}
}

// initialize writes a git folder by hand: its configuration holds what is here and nothing else.
func (w *work) initialize() error {
	files := map[string]string{"HEAD": "ref: refs/heads/work\n", "config": w.config()}
	if w.to.scheme == "ssh" && w.gate != nil {
		files["ssh_config"] = w.sshConfig()
		files["key"] = w.secrets.values[privateKey]
		files["known_hosts"] = w.secrets.values[knownHosts]
	}
	if authority := w.secrets.values[authorityKey]; authority != "" {
		files["ca.crt"] = authority
	}
	for _, folder := range []string{"objects", "refs/heads", "refs/windlass"} {
		if err := os.MkdirAll(filepath.Join(w.gitDir, folder), 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.gitDir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) config() string {
	lines := []string{
		"[core]", "repositoryformatversion = 0", "bigFileThreshold = 8m", "bare = false", "hooksPath = /dev/null", "fsmonitor = false",
		"attributesFile = /dev/null", "excludesFile = /dev/null", "symlinks = true", "protectNTFS = true", "protectHFS = true",
		"[gc]", "auto = 0", "[maintenance]", "auto = false", "[submodule]", "recurse = false",
		"[fetch]", "fsckObjects = true", "recurseSubmodules = false", "writeCommitGraph = false",
		"[fetch \"fsck\"]", "zeroPaddedFilemode = ignore", "missingSpaceBeforeDate = ignore", "badTimezone = ignore",
		"[transfer]", "fsckObjects = true", "bundleURI = false", "[push]", "recurseSubmodules = no", "gpgSign = false",
		"[commit]", "gpgSign = false", "[diff]", "ignoreSubmodules = all", "[protocol]", "allow = never", "version = 2",
	}
	if w.gate != nil {
		lines = append(lines, fmt.Sprintf("[protocol \"%s\"]", w.to.scheme), "allow = always")
	}
	if w.gate != nil && w.to.scheme != "ssh" {
		lines = append(lines, "[http]", "proxy = socks5h://"+w.gate.address(), "followRedirects = initial",
			"lowSpeedLimit = "+lowSpeed, "lowSpeedTime = "+lowSpeedTime, "emptyAuth = false", "delegation = none")
		if w.secrets.values[authorityKey] != "" {
			lines = append(lines, "sslCAInfo = "+filepath.Join(w.gitDir, "ca.crt"))
		}
	}
	if w.gate != nil && w.to.scheme == "https" && w.secrets.password() != "" {
		lines = append(lines, "[credential]", fmt.Sprintf("helper = \"!%s\"", w.helper()))
	}
	return strings.Join(lines, "\n") + "\n"
}

// helper is the command that gives git the password; the password itself is in no argument.
func (w *work) helper() string {
	host := w.to.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if w.to.port != "443" {
		host += ":" + w.to.port
	}
	self, err := os.Executable()
	if err != nil {
		self = "/windlass/runner"
	}
	return fmt.Sprintf("'%s' git-credential '%s' '%s' '%s'", self, w.Credentials, w.to.scheme, host)
}

// sshConfig leads every connection to the gate, and checks the key of the server under the server's own name.
func (w *work) sshConfig() string {
	host, port, _ := strings.Cut(w.gate.address(), ":")
	in := func(name string) string { return filepath.Join(w.gitDir, name) }
	return strings.Join([]string{
		"Host *", "HostName " + host, "Port " + port, "HostKeyAlias " + w.to.name(),
		"IdentityFile " + in("key"), "IdentitiesOnly yes", "IdentityAgent none", "BatchMode yes",
		"StrictHostKeyChecking yes", "UserKnownHostsFile " + in("known_hosts"), "GlobalKnownHostsFile /dev/null",
		"UpdateHostKeys no", "CheckHostIP no", "VerifyHostKeyDNS no", "PreferredAuthentications publickey",
		"ConnectTimeout 20", "ServerAliveInterval 15", "ServerAliveCountMax 2", "ClearAllForwardings yes",
		"ForwardAgent no", "ForwardX11 no", "PermitLocalCommand no", "ControlMaster no", "LogLevel ERROR", "",
	}, "\n")
}

// environment of git: nothing of the pod's own is passed on.
func (w *work) environment(g *generation) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + w.gitDir, "LC_ALL=C",
		"GIT_DIR=" + w.gitDir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ASKPASS=true", "SSH_ASKPASS=true",
		"GIT_LITERAL_PATHSPECS=1",
	}
	if w.gate != nil && w.to.scheme == "ssh" {
		env = append(env, "GIT_SSH_COMMAND=ssh -F '"+filepath.Join(w.gitDir, "ssh_config")+"'", "GIT_SSH_VARIANT=ssh")
	}
	if g != nil {
		env = append(env, "GIT_OBJECT_DIRECTORY="+g.objects(), "GIT_WORK_TREE="+g.tree())
	}
	return env
}

// call is one run of git.
type call struct {
	args  []string
	in    string
	env   []string
	limit int64
}

// git runs a command to its end and gives its output. @return failure with what git said, without secrets
func (w *work) git(ctx context.Context, g *generation, c call) (string, error) {
	limit := c.limit
	if limit == 0 {
		limit = outputLimit
	}
	out, said := &bounded{limit: limit}, &bounded{limit: errorLimit}
	cmd := exec.CommandContext(ctx, "git", c.args...)
	cmd.Env = append(w.environment(g), c.env...)
	cmd.Dir = w.gitDir
	cmd.Stdin = strings.NewReader(c.in)
	cmd.Stdout, cmd.Stderr = out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	switch {
	case out.over:
		return out.String(), errOutput
	case err == nil:
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fail(errBackend, "the image has no git")
	}
	return out.String(), w.why(said.String())
}

// errOutput: git wrote more than the caller takes; the output holds the beginning.
var errOutput = errors.New("git wrote too much")

// words of git, curl and ssh, and what each means for the caller.
var words = []struct {
	form *regexp.Regexp
	code string
}{
	{regexp.MustCompile(`Protocol "\w+" (not supported|is disabled)|transport '\w+' not allowed`), errAddress},
	{regexp.MustCompile(`No space left on device|Disk quota exceeded`), errNoSpace},
	{regexp.MustCompile(`Host key verification failed|REMOTE HOST IDENTIFICATION|No \S+ host key is known`), errHostKey},
	{regexp.MustCompile(`Authentication failed|could not read (Username|Password)|Permission denied \(|returned error: 40[13]`), errAuthentication},
	{regexp.MustCompile(`returned error: 404|repository '.*' not found|does not appear to be a git repository`), errNotFound},
	{regexp.MustCompile(`couldn't find remote ref|not our ref`), errRef},
	{regexp.MustCompile(`Operation too slow|timed out`), errTimeout},
	{regexp.MustCompile(`\[(remote )?rejected\]|failed to push some refs`), errRejected},
}

func (w *work) why(said string) error {
	if w.gate != nil && w.gate.problem() != nil {
		return w.gate.problem()
	}
	for _, word := range words {
		if word.form.MatchString(said) {
			return fail(word.code, "git: %s", said)
		}
	}
	return fail(errBackend, "git: %s", said)
}

// bounded keeps the beginning of what is written, and takes the rest without keeping it.
type bounded struct {
	bytes.Buffer
	limit int64
	over  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - int64(b.Len())
	if int64(len(p)) > room {
		b.over = true
		b.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
