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
	// isRemote: what git says may hold lines of the Secret, so no answer holds a word of it.
	isRemote bool
}

func openWork(r *request, isRemote bool) (*work, error) {
	to, err := parseURL(r.URL)
	if err != nil {
		return nil, err
	}
	w := &work{request: r, to: to, secrets: &secrets{}, isRemote: isRemote}
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
	policy, err := w.policy()
	if err != nil {
		return err
	}
	if w.secrets, err = readSecrets(w.Credentials, w.to); err != nil {
		return err
	}
	if w.to.scheme == "ssh" && w.secrets.values[privateKey] == "" {
		return fail(errCredential, "ssh needs a Secret with the keys %s and %s", privateKey, knownHosts)
	}
	w.gate, err = openGate(w.to, policy, w.LimitBytes)
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
	for _, folder := range []string{"objects", "refs/heads", "refs/windlass"} {
		if err := os.MkdirAll(filepath.Join(w.gitDir, folder), 0o700); err != nil {
			return err
		}
	}
	return w.writeFiles(map[string]string{"HEAD": "ref: refs/heads/work\n", "config": w.config()})
}

func (w *work) writeFiles(files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.gitDir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) config() string {
	return strings.Join([]string{
		"[core]", "repositoryformatversion = 0", "bigFileThreshold = 8m", "bare = false", "hooksPath = /dev/null", "fsmonitor = false",
		"attributesFile = /dev/null", "excludesFile = /dev/null", "symlinks = true", "protectNTFS = true", "protectHFS = true",
		"[gc]", "auto = 0", "[maintenance]", "auto = false", "[submodule]", "recurse = false",
		"[fetch]", "fsckObjects = true", "recurseSubmodules = false", "writeCommitGraph = false",
		"[fetch \"fsck\"]", "zeroPaddedFilemode = ignore", "missingSpaceBeforeDate = ignore", "badTimezone = ignore",
		"[transfer]", "fsckObjects = true", "bundleURI = false", "[push]", "recurseSubmodules = no", "gpgSign = false",
		"[commit]", "gpgSign = false", "[diff]", "ignoreSubmodules = all", "[protocol]", "allow = never", "version = 2", "",
	}, "\n")
}

// remoteFolder is the part of the git folder that is there while git asks the server, and holds the credentials.
const remoteFolder = "remote"

func (w *work) inRemote(name string) string { return filepath.Join(w.gitDir, remoteFolder, name) }

// ask runs a command of git that reaches the server. No other one is given the way to it, nor the credentials.
func (w *work) ask(ctx context.Context, g *generation, c call) (string, error) {
	defer func() { _ = os.RemoveAll(w.inRemote("")) }()
	if err := os.MkdirAll(w.inRemote(""), 0o700); err != nil {
		return "", err
	}
	files := map[string]string{"remote/config": w.remoteConfig()}
	if w.to.scheme == "ssh" {
		files["remote/ssh_config"] = w.sshConfig()
		files["remote/key"] = w.secrets.values[privateKey]
		files["remote/known_hosts"] = w.secrets.values[knownHosts]
	}
	if authority := w.secrets.values[authorityKey]; authority != "" {
		files["remote/ca.crt"] = authority
	}
	if err := w.writeFiles(files); err != nil {
		return "", err
	}
	c.env = append(c.env, "GIT_CONFIG_GLOBAL="+w.inRemote("config"))
	if w.to.scheme == "ssh" {
		c.env = append(c.env, "GIT_SSH_COMMAND=ssh -F '"+w.inRemote("ssh_config")+"'", "GIT_SSH_VARIANT=ssh")
	}
	return w.git(ctx, g, c)
}

func (w *work) remoteConfig() string {
	lines := []string{fmt.Sprintf("[protocol \"%s\"]", w.to.scheme), "allow = always"}
	if w.to.scheme != "ssh" {
		lines = append(lines, "[http]", "proxy = socks5h://"+w.gate.address(), "followRedirects = initial",
			"lowSpeedLimit = "+lowSpeed, "lowSpeedTime = "+lowSpeedTime, "emptyAuth = false", "delegation = none")
		if w.secrets.values[authorityKey] != "" {
			lines = append(lines, "sslCAInfo = "+w.inRemote("ca.crt"))
		}
	}
	if w.to.scheme == "https" && w.secrets.password() != "" {
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

// sshConfig leads every connection to the gate, and checks the key of the server under the server's own name. At the level
// INFO ssh says that a connection broke; below it the words are those for a repository that is not there.
func (w *work) sshConfig() string {
	host, port, _ := strings.Cut(w.gate.address(), ":")
	return strings.Join([]string{
		"Host *", "HostName " + host, "Port " + port, "HostKeyAlias " + w.to.name(),
		"IdentityFile " + w.inRemote("key"), "IdentitiesOnly yes", "IdentityAgent none", "BatchMode yes",
		"StrictHostKeyChecking yes", "UserKnownHostsFile " + w.inRemote("known_hosts"), "GlobalKnownHostsFile /dev/null",
		"UpdateHostKeys no", "CheckHostIP no", "VerifyHostKeyDNS no", "PreferredAuthentications publickey",
		"ConnectTimeout 20", "ServerAliveInterval 15", "ServerAliveCountMax 2", "ClearAllForwardings yes",
		"ForwardAgent no", "ForwardX11 no", "PermitLocalCommand no", "ControlMaster no", "LogLevel INFO", "",
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

// git runs a command to its end and gives its output. @return failure; what git said is in it only where no Secret is
func (w *work) git(ctx context.Context, g *generation, c call) (string, error) {
	if g != nil {
		if err := g.noAlternates(); err != nil {
			return "", err
		}
	}
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
	return out.String(), w.why(c.name(), said.String(), cmd.ProcessState.ExitCode())
}

// name of the command of git.
func (c call) name() string {
	if c.args[0] == "-C" {
		return c.args[2]
	}
	return c.args[0]
}

// errOutput: git wrote more than the caller takes; the output holds the beginning.
var errOutput = errors.New("git wrote too much")

const notShown = "the server has no such repository, or does not show it to these credentials; check repo_url and the Secret"

// word is a form of the words of git, curl or ssh, what it means for the caller, and the sentence that says so.
type word struct {
	form           *regexp.Regexp
	code, sentence string
}

// words in order: the first form that fits counts. Forms that name one reason come first, then those that follow from several.
var words = []word{
	{regexp.MustCompile(`Protocol "\w+" (not supported|is disabled)|transport '\w+' not allowed`), errAddress,
		"the server leads to another protocol"},
	{regexp.MustCompile(`No space left on device|Disk quota exceeded`), errNoSpace, "the volume is full"},
	{regexp.MustCompile(`Host key verification failed|REMOTE HOST IDENTIFICATION|No \S+ host key is known`), errHostKey,
		"the key of the server is not the one in known_hosts of the Secret"},
	// SSH refuses a key before it hears of a repository.
	{regexp.MustCompile(`Permission denied \(|Too many authentication failures`), errAuthentication, "the server refuses the key of the Secret"},
	// One answer for all that a server does not show: which of its private repositories exist is not for the caller to learn.
	{regexp.MustCompile(`Authentication failed|could not read (Username|Password)|returned error: 40[134]|repository '.*' not found|does not appear to be a git repository`), errNotFound,
		notShown},
	{regexp.MustCompile(`couldn't find remote ref|not our ref`), errRef, "the repository has no such branch, tag or commit"},
	{regexp.MustCompile(`\[(remote )?rejected\]`), errRejected, notTaken},
	{regexp.MustCompile(`SSL certificate|certificate verif`), errBackend,
		"no authority that the binding knows vouches for the server; name it in the key ca.crt of the Secret"},
	{regexp.MustCompile(`returned error: \d`), errBackend, "the server answers with an error"},
	{regexp.MustCompile(`fsck error`), errBackend, "the server sent objects that git does not take"},
	{regexp.MustCompile(`Operation too slow|timed out|not responding`), errTimeout, "the server is too slow"},
	{regexp.MustCompile(`Connection (closed|refused|reset)|closed by remote host|Received disconnect|kex_exchange_identification|banner exchange|Broken pipe|` +
		`No route to host|Network is unreachable|Couldn't connect to server|Empty reply from server|(Recv|Send) failure|transfer closed|` +
		`RPC failed|hung up|unexpected disconnect|early EOF`), errBackend, "the connection to the server broke; try again"},
	{regexp.MustCompile(`failed to push some refs`), errRejected, notTaken},
	{regexp.MustCompile(`index-pack failed`), errBackend, "the server sent objects that git does not take"},
}

const notTaken = "the server did not take the commits: it has others that the binding has not, or a rule of its own refuses them"

// last of the words: git ends with it whatever happened to ssh, which says all else before. A server of HTTP says by its status
// that there is no repository.
var sshNotShown = word{regexp.MustCompile(`Could not read from remote repository`), errNotFound, notShown}

// meaning of what git said, as a code and a sentence of ours.
func meaning(scheme, said string) (code, sentence string) {
	for _, w := range words {
		if w.form.MatchString(said) {
			return w.code, w.sentence
		}
	}
	if scheme == "ssh" && sshNotShown.form.MatchString(said) {
		return sshNotShown.code, sshNotShown.sentence
	}
	return errBackend, "git failed"
}

// why a command of git failed. With credentials it is a fixed sentence: git names what it reads in its errors, and a
// tenant who writes the volume decides which files git reads (ADR 0098).
func (w *work) why(name, said string, exit int) error {
	if w.gate != nil && w.gate.problem() != nil {
		return w.gate.problem()
	}
	code, sentence := meaning(w.to.scheme, said)
	if !w.isRemote {
		return fail(code, "git: %s", said)
	}
	return fail(code, "%s (git %s for %s, exit code %d)", sentence, name, w.to.name(), exit)
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
