package mcp

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"
)

const (
	// sessionsAtOnce bounds the processes of one pod. Two replicas of the gateway need one each, and one to list.
	sessionsAtOnce = 16
	// longestIdle is the time after which a session without a request ends; its client begins a new one.
	longestIdle = 10 * time.Minute
)

// sessions are the processes of one program, by the id of their session.
type sessions struct {
	argv  []string
	mutex sync.Mutex
	// A session that is about to begin counts as nil.
	byID map[string]*session
}

func newSessions(argv []string) *sessions { return &sessions{argv: argv, byID: map[string]*session{}} }

func (all *sessions) find(id string) *session {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	return all.byID[id]
}

// begin starts a process. Where there are too many, the one that is idle longest gives way.
func (all *sessions) begin() (*session, error) {
	id, err := all.reserve()
	if err != nil {
		return nil, err
	}
	s, err := start(id, all.argv, func() { all.forget(id) })
	if err != nil {
		all.forget(id)
		return nil, err
	}
	all.mutex.Lock()
	defer all.mutex.Unlock()
	if _, isWanted := all.byID[id]; isWanted {
		all.byID[id] = s
	}
	return s, nil
}

func (all *sessions) reserve() (string, error) {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	id := hex.EncodeToString(bytes)
	all.mutex.Lock()
	var oldest *session
	isFull := len(all.byID) >= sessionsAtOnce
	if isFull {
		oldest = all.idlest()
	}
	if isFull && oldest == nil {
		all.mutex.Unlock()
		return "", errors.New("too many sessions of this program are busy")
	}
	if oldest != nil {
		delete(all.byID, oldest.id)
	}
	all.byID[id] = nil
	all.mutex.Unlock()
	// Outside the lock, which its end takes.
	if oldest != nil {
		oldest.end()
	}
	return id, nil
}

func (all *sessions) idlest() *session {
	var oldest *session
	var since time.Time
	for _, s := range all.byID {
		if s == nil {
			continue
		}
		if at := s.idleSince(); !at.IsZero() && (oldest == nil || at.Before(since)) {
			oldest, since = s, at
		}
	}
	return oldest
}

func (all *sessions) forget(id string) {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	delete(all.byID, id)
}

// endIdle ends sessions whose clients have not asked for long.
func (all *sessions) endIdle(now time.Time) {
	for _, s := range all.list() {
		if at := s.idleSince(); !at.IsZero() && now.Sub(at) >= longestIdle {
			s.end()
		}
	}
}

// endAll ends every process at once: the pod is about to go.
func (all *sessions) endAll() {
	for _, s := range all.list() {
		s.end()
		s.kill()
	}
}

func (all *sessions) list() []*session {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	var found []*session
	for _, s := range all.byID {
		if s != nil {
			found = append(found, s)
		}
	}
	return found
}
