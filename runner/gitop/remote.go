package gitop

import (
	"net/url"
	"regexp"
	"strings"
)

// remote is a repository that may be asked: one scheme, one host and one port, to which everything else is closed.
type remote struct {
	scheme, user, host, port, path string
}

const urlLimit = 2_048

// urlForm is the pattern of spec.repo_url (crds/schema/git-binding.ts): no other scheme, no option in the place of a host,
// no password and no query.
var urlForm = regexp.MustCompile(`^(https?://|ssh://([A-Za-z0-9_][A-Za-z0-9._-]{0,63}@)?)([A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?/[A-Za-z0-9._~!$&'()*+,;=:@%/-]+$`)

var refForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/+@-]{0,254}$`)

var hashForm = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

func isRef(ref string) bool {
	for _, part := range []string{"..", "//", "/.", "@{", "./", ".lock/"} {
		if strings.Contains(ref, part) {
			return false
		}
	}
	return refForm.MatchString(ref) && !strings.HasSuffix(ref, "/") && !strings.HasSuffix(ref, ".") &&
		!strings.HasSuffix(ref, ".lock")
}

func parseURL(text string) (remote, error) {
	if len(text) > urlLimit || !urlForm.MatchString(text) {
		return remote{}, fail(errRequest, "url: must be https://HOST/PATH, http://HOST/PATH or ssh://USER@HOST/PATH, without a password")
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return remote{}, fail(errRequest, "url: is none")
	}
	ports := map[string]string{"http": "80", "https": "443", "ssh": "22"}
	port := parsed.Port()
	if port == "" {
		port = ports[parsed.Scheme]
	}
	host := strings.ToLower(parsed.Hostname())
	return remote{parsed.Scheme, parsed.User.Username(), host, port, parsed.EscapedPath()}, nil
}

// name is how known_hosts and the key `host` of a Secret write the host: with its port where that is not the usual one.
func (r remote) name() string {
	usual := map[string]string{"http": "80", "https": "443", "ssh": "22"}[r.scheme]
	if r.port == usual {
		return r.host
	}
	return "[" + r.host + "]:" + r.port
}

// asked is how git names the repository. For SSH it has no port: one on the command line of ssh would lead past the gate.
func (r remote) asked(text string) string {
	if r.scheme != "ssh" {
		return text
	}
	host := r.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if r.user != "" {
		host = r.user + "@" + host
	}
	return "ssh://" + host + r.path
}
