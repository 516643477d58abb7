package fsop

import (
	"fmt"
	"strings"
)

func editOne(g *guard, r *request) (string, error) {
	lines, err := g.change(r.Path, []edit{r.edit})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Edited %s: %d lines replaced by %d", r.Path, lines.before, lines.after), nil
}

func editMany(g *guard, r *request) (string, error) {
	if len(r.Edits) == 0 {
		return "", fail(errRequest, "edits: must not be empty")
	}
	if _, err := g.change(r.Path, r.Edits); err != nil {
		return "", err
	}
	return fmt.Sprintf("Edited %s: %d replacements", r.Path, len(r.Edits)), nil
}

type lineCounts struct{ before, after int }

// change applies edits one after the other, each to the text that the one before left. The first that fails ends it,
// and the file is as it was.
func (g *guard) change(p string, edits []edit) (lineCounts, error) {
	var counts lineCounts
	text, at, err := g.readText(p, true)
	if err != nil {
		return counts, err
	}
	defer at.close()
	for i, e := range edits {
		if text, err = apply(text, e, i, len(edits)); err != nil {
			return counts, err
		}
		counts.before += 1 + strings.Count(e.Target, "\n")
		counts.after += 1 + strings.Count(e.Replacement, "\n")
	}
	return counts, at.replace(text)
}

func apply(text string, e edit, index, total int) (string, error) {
	which := "target_content"
	if total > 1 {
		which = fmt.Sprintf("edits[%d].target_content", index)
	}
	if e.Target == "" {
		return "", fail(errRequest, "%s: must not be empty", which)
	}
	first := strings.Index(text, e.Target)
	if first < 0 {
		return "", fail(errNoMatch, "%s: is not in the file", which)
	}
	// The search continues one byte later: places that overlap are two places.
	if strings.Contains(text[first+1:], e.Target) {
		return "", fail(errAmbiguous, "%s: is in the file more than once; give more of the lines around it", which)
	}
	changed := text[:first] + e.Replacement + text[first+len(e.Target):]
	if len(changed) > contentLimit {
		return "", fail(errTooLarge, "the file would be longer than %d bytes", contentLimit)
	}
	return changed, nil
}
