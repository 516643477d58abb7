package fsop

import (
	"path"
	"regexp"
	"strings"
)

// rule is a path with all beneath it, or a glob.
type rule struct {
	plain string
	glob  *regexp.Regexp
}

func newRule(text string) (rule, error) {
	if !isPattern(text) {
		return rule{plain: path.Clean(text)}, nil
	}
	glob, err := compileGlob(text)
	return rule{glob: glob}, err
}

func (r rule) covers(p string) bool {
	if r.glob != nil {
		return r.glob.MatchString(p)
	}
	return r.plain == "/" || p == r.plain || strings.HasPrefix(p, r.plain+"/")
}

// guard knows which paths a request may touch. It looks at texts only; place.go sees to it that a text that it was
// asked about is the place that is touched.
type guard struct {
	read, write, deny []rule
}

func newGuard(boundaries []boundary, deny []string) (*guard, error) {
	g := &guard{}
	for _, b := range boundaries {
		if !path.IsAbs(b.Path) {
			return nil, fail(errRequest, "boundaries: %q is not absolute", b.Path)
		}
		r, err := newRule(b.Path)
		if err != nil {
			return nil, err
		}
		g.read = append(g.read, r)
		if b.Write {
			g.write = append(g.write, r)
		}
	}
	for _, text := range deny {
		if !path.IsAbs(text) {
			text = "/**/" + text // a name, wherever it is
		}
		r, err := newRule(text)
		if err != nil {
			return nil, err
		}
		g.deny = append(g.deny, r)
	}
	return g, nil
}

func covered(rules []rule, p string) bool {
	for _, r := range rules {
		if r.covers(p) {
			return true
		}
	}
	return false
}

// check refuses a path that lies outside, or that is denied itself or by a folder above it.
func (g *guard) check(p string, write bool) error {
	if !covered(g.read, p) {
		return fail(errOutside, "%s is outside the folders of this agent", p)
	}
	for above := p; ; above = path.Dir(above) {
		if covered(g.deny, above) {
			return fail(errPermission, "%s is on the deny list", p)
		}
		if above == "/" {
			break
		}
	}
	if write && !covered(g.write, p) {
		return fail(errPermission, "%s may be read only", p)
	}
	return nil
}

// isBoundary says whether a path is where a boundary begins: that folder stays.
func (g *guard) isBoundary(p string) bool {
	for _, r := range g.read {
		if r.glob == nil && r.plain == p {
			return true
		}
	}
	return false
}

// wholeTrees says whether everything beneath a permitted path is permitted too.
func (g *guard) wholeTrees(p string) bool {
	if len(g.deny) > 0 {
		return false
	}
	for _, r := range g.write {
		if r.glob == nil && r.covers(p) {
			return true
		}
	}
	return false
}
