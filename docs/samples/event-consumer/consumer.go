// Appends every public event to a file, one JSON document per line, and continues there after any interruption.
//
//	BASE_URL=http://localhost:8080 GANTRY_TOKEN=pat_… go run consumer.go events.ndjson
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

const pause = time.Second

// The service sends something every 15 seconds.
const silence = time.Minute

// lastPosition returns the position of the last complete line. A write that was interrupted leaves an incomplete one,
// which is removed.
func lastPosition(path string) (string, error) {
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	end := bytes.LastIndexByte(content, '\n') + 1
	if err := os.Truncate(path, int64(end)); err != nil || end == 0 {
		return "", err
	}
	lines := bytes.Split(content[:end-1], []byte("\n"))
	var last struct{ Position string }
	err = json.Unmarshal(lines[len(lines)-1], &last)
	return last.Position, err
}

func follow(base, token, path string) error {
	after, err := lastPosition(path)
	if err != nil {
		return err
	}
	query := url.Values{"follow": {"true"}}
	if after != "" {
		query.Set("after", after)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	deadline := time.AfterFunc(silence, cancel)
	request, err := http.NewRequestWithContext(ctx, "GET", base+"/events?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/x-ndjson")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		problem, _ := io.ReadAll(response.Body)
		// A later attempt gets the same answer: an operator has to decide how to continue.
		if response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests {
			fmt.Fprintln(os.Stderr, string(problem))
			os.Exit(1)
		}
		return fmt.Errorf("%s", problem)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		deadline.Reset(silence)
		// An empty line is a sign of life.
		if len(line) == 1 {
			continue
		}
		if _, err := file.Write(line); err != nil {
			return err
		}
	}
}

func main() {
	base := os.Getenv("BASE_URL")
	if base == "" {
		base = "http://localhost:8080"
	}
	for {
		fmt.Fprintln(os.Stderr, follow(base, os.Getenv("GANTRY_TOKEN"), os.Args[1]))
		time.Sleep(pause)
	}
}
