package fsop

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// isPattern says whether a text holds a character that a glob gives a meaning to.
func isPattern(text string) bool { return strings.ContainsAny(text, "*?[{") }

// compileGlob makes an expression of RE2 from a glob: `*` and `?` stay within a name, `**` crosses folders, `[…]` is a
// set of characters, `{a,b}` a choice. Time and memory are linear, whatever the glob.
func compileGlob(glob string) (*regexp.Regexp, error) {
	if len(glob) > boundaryPatternSize {
		return nil, fail(errPattern, "the glob has %d bytes; %d are allowed", len(glob), boundaryPatternSize)
	}
	t := translator{rest: glob}
	t.out.WriteString(`(?s)\A`)
	for t.rest != "" {
		t.next()
	}
	if t.depth != 0 {
		return nil, fail(errPattern, "the glob %q has a { without a }", glob)
	}
	t.out.WriteString(`\z`)
	compiled, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, fail(errPattern, "the glob %q cannot be read: %v", glob, err)
	}
	return compiled, nil
}

type translator struct {
	rest  string
	out   strings.Builder
	depth int // open braces
}

// prefixes are tried in this order; the longer ones come first.
var prefixes = []struct{ glob, expression string }{
	{"/**/", `/(?:.*/)?`},
	{"**/", `(?:.*/)?`},
	{"**", `.*`},
	{"*", `[^/]*`},
	{"?", `[^/]`},
}

func (t *translator) next() {
	if t.rest == "/**" { // the folder itself, and all in it
		t.take(3, `(?:/.*)?`)
		return
	}
	for _, p := range prefixes {
		if strings.HasPrefix(t.rest, p.glob) {
			t.take(len(p.glob), p.expression)
			return
		}
	}
	switch c := t.rest[0]; {
	case c == '[' && t.set():
	case c == '{':
		t.depth++
		t.take(1, `(?:`)
	case c == '}' && t.depth > 0:
		t.depth--
		t.take(1, `)`)
	case c == ',' && t.depth > 0:
		t.take(1, `|`)
	case c == '\\' && len(t.rest) > 1:
		t.rest = t.rest[1:]
		t.literal()
	default:
		t.literal()
	}
}

func (t *translator) take(n int, expression string) {
	t.out.WriteString(expression)
	t.rest = t.rest[n:]
}

func (t *translator) literal() {
	_, size := utf8.DecodeRuneInString(t.rest)
	t.take(size, regexp.QuoteMeta(t.rest[:size]))
}

// set translates [abc], [a-z] and [!abc]; false: it has no end, and the bracket is itself.
func (t *translator) set() bool {
	end := strings.IndexByte(t.rest[1:], ']')
	if end < 1 {
		return false
	}
	body := t.rest[1 : end+1]
	negated := strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^")
	if negated {
		body = body[1:]
	}
	if body == "" {
		return false
	}
	body = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`, `&`, `\&`).Replace(body)
	if negated {
		body = `^/` + body
	}
	t.take(end+2, `[`+body+`]`)
	return true
}
