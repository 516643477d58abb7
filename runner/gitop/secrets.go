package gitop

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	secretLimit  = 64 << 10
	shortest     = 4
	textLimit    = 1_000
	hostsLimit   = 20
	mark         = "[secret]"
	tokenUser    = "x-access-token"
	knownHosts   = "known_hosts"
	privateKey   = "ssh-privatekey"
	authorityKey = "ca.crt"
)

// secrets are the values of the binding's Secret. None of them is in an argument, in the environment or in an answer.
type secrets struct {
	folder string
	values map[string]string
}

// readSecrets takes the Secret of an operation, where it is meant for the host of the binding: its key `host` says so.
func readSecrets(folder string, to remote) (*secrets, error) {
	s := &secrets{folder: folder, values: map[string]string{}}
	if folder == "" {
		return s, nil
	}
	for _, key := range []string{"host", "username", "password", "token", privateKey, knownHosts, authorityKey} {
		if err := s.read(key); err != nil {
			return nil, err
		}
	}
	hosts := strings.Fields(s.values["host"])
	if len(hosts) == 0 || len(hosts) > hostsLimit {
		return nil, fail(errCredential, "the Secret is absent, or its key host does not name 1 to %d hosts", hostsLimit)
	}
	if !slices.Contains(hosts, to.name()) && !slices.Contains(hosts, to.host) {
		return nil, fail(errCredential, "the Secret is not for %s; its key host names the hosts that it is for", to.name())
	}
	return s, s.check(to)
}

func (s *secrets) check(to remote) error {
	switch {
	case to.scheme == "http" && (s.password() != "" || s.values["username"] != ""):
		return fail(errCredential, "credentials are sent over https and ssh alone")
	case to.scheme == "ssh" && (s.values[privateKey] == "" || s.values[knownHosts] == ""):
		return fail(errCredential, "the Secret needs the keys %s and %s for ssh", privateKey, knownHosts)
	case strings.ContainsAny(s.values["username"]+s.password(), "\x00\r\n"):
		return fail(errCredential, "username, password and token of the Secret must be one line each")
	}
	return nil
}

func (s *secrets) read(key string) error {
	file, err := os.Open(filepath.Join(s.folder, key))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fail(errCredential, "the key %s of the Secret cannot be read", key)
	}
	defer func() { _ = file.Close() }()
	value, err := io.ReadAll(io.LimitReader(file, secretLimit+1))
	if err != nil || len(value) > secretLimit {
		return fail(errCredential, "the key %s of the Secret cannot be read, or has more than %d bytes", key, secretLimit)
	}
	text := string(value)
	if key != privateKey && key != knownHosts && key != authorityKey {
		text = strings.TrimRight(text, "\r\n")
	}
	s.values[key] = text
	return nil
}

func (s *secrets) password() string {
	if token := s.values["token"]; token != "" {
		return token
	}
	return s.values["password"]
}

func (s *secrets) user() string {
	if user := s.values["username"]; user != "" {
		return user
	}
	return tokenUser
}

// Credential answers git's credential protocol for the one host that the arguments name; its output is git's alone.
func Credential(args []string, in io.Reader, out io.Writer) int {
	if len(args) != 4 || args[3] != "get" {
		return 0
	}
	folder, scheme, host := args[0], args[1], args[2]
	asked := map[string]string{}
	lines := bufio.NewScanner(io.LimitReader(in, secretLimit))
	for lines.Scan() {
		if key, value, found := strings.Cut(lines.Text(), "="); found {
			asked[key] = value
		}
	}
	if asked["protocol"] != scheme || lower(asked["host"]) != host {
		return 0
	}
	s := &secrets{folder: folder, values: map[string]string{}}
	for _, key := range []string{"username", "password", "token"} {
		if s.read(key) != nil {
			return 1
		}
	}
	if s.password() != "" {
		fmt.Fprintf(out, "username=%s\npassword=%s\n", s.user(), s.password())
	}
	return 0
}

// clean is a text of a stranger as one line without control characters, cut to its bound.
func clean(text string) string {
	text = oneLine(text)
	if len(text) > textLimit {
		text = strings.ToValidUTF8(text[:textLimit], "") + "…"
	}
	return text
}

func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	return strings.Join(strings.Fields(text), " ")
}

// cleanText takes the secrets out, line by line, as they are and as servers send them back. Blanks and capitals do not count.
func (s *secrets) cleanText(text string) string {
	for _, key := range []string{"password", "token", privateKey} {
		for line := range strings.Lines(s.values[key]) {
			line = strings.TrimSpace(line)
			if len(line) < shortest {
				continue
			}
			pair := base64.StdEncoding.EncodeToString([]byte(s.user() + ":" + line))
			for _, form := range []string{pair, line, url.QueryEscape(line), url.PathEscape(line), strconv.Quote(line)} {
				text = maskOf(form).ReplaceAllLiteralString(text, mark)
			}
		}
	}
	return text
}

func maskOf(form string) *regexp.Regexp {
	fields := strings.Fields(form)
	for i, field := range fields {
		fields[i] = regexp.QuoteMeta(field)
	}
	return regexp.MustCompile(`(?i)` + strings.Join(fields, `\s+`))
}

func (s *secrets) cleanError(err error) error {
	if err == nil {
		return nil
	}
	f := &failure{errBackend, err.Error()}
	_ = errors.As(err, &f)
	return &failure{f.code, clean(s.cleanText(oneLine(s.cleanText(f.message))))}
}

func lower(text string) string { return strings.ToLower(text) }

func itoa(number uint16) string { return strconv.Itoa(int(number)) }
