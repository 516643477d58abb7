package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// answerLimit bounds what is read of one response.
	answerLimit = 16 << 20
	// refusalLimit bounds what is shown of a refusal.
	refusalLimit = 2_048
	// preferredWait is how long the server holds a request before it answers 204; without it the server holds it for ever.
	preferredWait = "wait=25"
	// requestPatience is above preferredWait.
	requestPatience = 60 * time.Second
	longestPause    = 5 * time.Second
	longestRetry    = 30 * time.Second
	// strangerPatience bounds the time in which a replica of the API may not know this pod, or not the execution: the pod
	// is new, or the replica or its API server has just begun.
	strangerPatience = 30 * time.Second
)

// refusal is an answer that asking again does not change.
type refusal struct {
	path   string
	status int
	words  string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s answered %d: %s", r.path, r.status, r.words)
}

// client sends requests to the API until one is answered.
type client struct {
	settings   Settings
	http       *http.Client
	firstPause time.Duration
	patience   time.Duration // for how long refusals of this pod in a row count for nothing
	now        func() time.Time
}

func newClient(s Settings) *client {
	return &client{
		settings: s,
		http: &http.Client{
			Timeout: requestPatience,
			// No proxy: variables that the author of the agent sets must not lead the token elsewhere.
			Transport:     &http.Transport{Proxy: nil, MaxIdleConns: 1, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		firstPause: 100 * time.Millisecond,
		patience:   strangerPatience,
		now:        time.Now,
	}
}

// post sends a body until the server answers it. False: there is no answer yet (204), ask again. A request that fails
// for a while (network, 429, 5xx) is sent again for as long as the pod lives.
func (c *client) post(ctx context.Context, path string, body, into any) (bool, error) {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return false, err
	}
	pause := c.firstPause
	var strangerSince time.Time
	for {
		answered, retryAfter, err := c.once(ctx, path, encoded.Bytes(), into)
		if err == nil {
			return answered, sleep(ctx, retryAfter)
		}
		refused, is := errors.AsType[*refusal](err)
		switch {
		case !is:
			strangerSince = time.Time{}
		case strangerSince.IsZero():
			strangerSince = c.now()
		}
		if is && !c.mayPass(refused, strangerSince) {
			return false, refused
		}
		if err := sleep(ctx, max(pause, retryAfter)); err != nil {
			return false, err
		}
		pause = min(2*pause, longestPause)
	}
}

// mayPass: a replica that does not know of the pod yet refuses it, and so does one that may not look for it at the moment.
func (c *client) mayPass(r *refusal, since time.Time) bool {
	isStranger := r.status == http.StatusForbidden || r.status == http.StatusNotFound
	return isStranger && c.now().Before(since.Add(c.patience))
}

func (c *client) once(ctx context.Context, path string, body []byte, into any) (bool, time.Duration, error) {
	token, err := os.ReadFile(c.settings.TokenFile)
	if err != nil {
		return false, 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.Gateway+path, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", preferredWait)
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := c.http.Do(request)
	if err != nil {
		return false, 0, err
	}
	defer response.Body.Close()
	return read(path, response, into)
}

func read(path string, response *http.Response, into any) (bool, time.Duration, error) {
	retryAfter := seconds(response.Header.Get("Retry-After"))
	switch code := response.StatusCode; {
	case code == http.StatusNoContent:
		return false, retryAfter, nil
	case code == http.StatusOK:
		raw, err := io.ReadAll(io.LimitReader(response.Body, answerLimit+1))
		if err != nil {
			return false, 0, err
		}
		if len(raw) > answerLimit {
			return false, 0, &refusal{path, code, fmt.Sprintf("the answer is longer than %d bytes", answerLimit)}
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return false, 0, &refusal{path, code, "the answer is no JSON of the right form: " + err.Error()}
		}
		return true, 0, nil
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return false, retryAfter, fmt.Errorf("%s answered %d", path, code)
	default:
		words, _ := io.ReadAll(io.LimitReader(response.Body, refusalLimit))
		return false, 0, &refusal{path, code, strings.TrimSpace(string(words))}
	}
}

// seconds reads a Retry-After header; a date, or anything else, counts as none.
func seconds(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(min(n, 3600))*time.Second, longestRetry)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
