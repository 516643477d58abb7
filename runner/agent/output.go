package agent

import (
	"sync"
	"unicode/utf8"
)

// budget is what both streams of one command may pass on together.
type budget struct {
	mu        sync.Mutex
	left      int
	truncated bool
}

// take gives as many of n bytes as are left.
func (b *budget) take(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		b.truncated = true
	}
	got := min(n, b.left)
	b.left -= got
	return got
}

// capped keeps the beginning of a stream and drops the rest, so that a command never waits for a full pipe.
type capped struct {
	budget *budget
	kept   []byte
	cut    bool
}

func (c *capped) Write(p []byte) (int, error) {
	got := c.budget.take(len(p))
	c.kept = append(c.kept, p[:got]...)
	c.cut = c.cut || got < len(p)
	return len(p), nil
}

// text leaves out a character that the limit cut in two.
func (c *capped) text() string {
	kept := c.kept
	if !c.cut {
		return string(kept)
	}
	for back := 1; back < utf8.UTFMax && back <= len(kept); back++ {
		start := len(kept) - back
		if utf8.RuneStart(kept[start]) {
			if !utf8.FullRune(kept[start:]) {
				kept = kept[:start]
			}
			break
		}
	}
	return string(kept)
}
