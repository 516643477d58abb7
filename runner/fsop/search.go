package fsop

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	mostMatches    = 1_000
	mostGlobbed    = 10_000
	mostAnswer     = contentLimit
	mostFileBytes  = 10 << 20
	mostTotalBytes = 256 << 20
	mostLine       = 500
	patternLimit   = 1_000
)

// found collects lines of an answer within bounds.
type found struct {
	walk  *treeWalk
	lines []string
	bytes int
	most  int
}

func (f *found) add(line string) {
	if len(f.lines) >= f.most || f.bytes+len(line) > mostAnswer {
		f.walk.stop(fmt.Sprintf("more than %d matches", len(f.lines)))
		return
	}
	f.lines = append(f.lines, line)
	f.bytes += len(line) + 1
}

func (f *found) text() string {
	if f.walk.cut != "" {
		f.lines = append(f.lines, "[not everything was searched: "+f.walk.cut+"]")
	}
	return strings.Join(f.lines, "\n")
}

func globFiles(g *guard, r *request) (string, error) {
	glob, err := compileGlob(strings.TrimPrefix(r.Pattern, "./"))
	if err != nil {
		return "", err
	}
	at, folder, err := g.searched(r.Path)
	if err != nil {
		return "", err
	}
	defer at.close()
	if folder == nil {
		return "", fail(errNotADirectory, "%s is not a folder", r.Path)
	}
	defer folder.Close()
	result := &found{walk: newWalk(), most: mostGlobbed}
	base := strings.TrimSuffix(at.real, "/") + "/"
	err = result.walk.tree(folder, at.real, func(_ *os.Root, _, full string, _ fs.DirEntry) error {
		relative := strings.TrimPrefix(full, base)
		if glob.MatchString(relative) && g.check(full, false) == nil {
			result.add(relative)
		}
		return nil
	})
	return result.text(), err
}

// searched opens the folder that a search begins in; no folder: it begins in one file.
func (g *guard) searched(p string) (*place, *os.Root, error) {
	at, err := g.locate(p, false, false)
	if err != nil {
		return nil, nil, err
	}
	if at.info != nil && at.info.Mode().IsRegular() {
		return at, nil, nil
	}
	folder, err := at.openFolder()
	if err != nil {
		at.close()
		return nil, nil, err
	}
	return at, folder, nil
}

type grepper struct {
	found
	guard   *guard
	pattern *regexp.Regexp
	left    int64 // bytes
}

func grep(g *guard, r *request) (string, error) {
	if r.Pattern == "" || len(r.Pattern) > patternLimit {
		return "", fail(errPattern, "pattern: must have 1 to %d bytes", patternLimit)
	}
	pattern, err := regexp.Compile(r.Pattern)
	if err != nil {
		return "", fail(errPattern, "pattern: %v", err)
	}
	at, folder, err := g.searched(r.Path)
	if err != nil {
		return "", err
	}
	defer at.close()
	s := &grepper{found: found{walk: newWalk(), most: mostMatches}, guard: g, pattern: pattern, left: mostTotalBytes}
	if folder == nil {
		s.file(at)
		return s.text(), nil
	}
	defer folder.Close()
	err = s.walk.tree(folder, at.real, func(in *os.Root, name, full string, entry fs.DirEntry) error {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && g.check(full, false) == nil {
			s.file(&place{folder: in, name: name, real: full, info: info})
		}
		return nil
	})
	return s.text(), err
}

// file searches one file; a file that cannot be read, or is no text, is left out.
func (s *grepper) file(at *place) {
	file, err := at.open()
	if err != nil {
		return
	}
	defer file.Close()
	most := min(mostFileBytes, s.left)
	reader := bufio.NewReaderSize(&limited{file: file, left: most}, 64<<10)
	if head, _ := reader.Peek(8 << 10); bytes.IndexByte(head, 0) >= 0 {
		return
	}
	if at.info.Size() > most {
		s.walk.cut = fmt.Sprintf("files longer than %d bytes", mostFileBytes)
	}
	for number := 1; !s.walk.done && !s.walk.late(); number++ {
		line, err := wholeLine(reader)
		s.left -= int64(len(line))
		if len(line) > 0 && s.pattern.Match(bytes.TrimRight(line, "\r\n")) {
			s.add(fmt.Sprintf("%s:%d:%s", at.real, number, shown(line)))
		}
		if err != nil {
			break
		}
	}
	if s.left <= 0 && !s.walk.done {
		s.walk.stop(fmt.Sprintf("more than %d bytes", mostTotalBytes))
	}
}

// limited reads so many bytes of a file and no more.
type limited struct {
	file *os.File
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("limit")
	}
	n, err := l.file.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// wholeLine reads a line, however long: the bytes of a file are bounded already.
func wholeLine(reader *bufio.Reader) ([]byte, error) { return reader.ReadBytes('\n') }

// shown is what an answer has of a line.
func shown(line []byte) string {
	text := strings.ToValidUTF8(strings.TrimRight(string(line), "\r\n"), "�")
	if len(text) <= mostLine {
		return text
	}
	cut := mostLine
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
