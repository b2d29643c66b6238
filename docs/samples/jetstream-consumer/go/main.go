// Appends every public event to a file, one JSON document per line, from the stream GANTRY of NATS JetStream.
//
//	NATS_URL=tls://nats.example:4222 NATS_USER=audit NATS_PASSWORD=… go run . events.ndjson
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const consumerName = "audit"
const pause = time.Second

type record struct {
	Service     string          `json:"service"`
	Log         string          `json:"log"`
	LogPosition string          `json:"logPosition"`
	Event       json.RawMessage `json:"event"`
}

// lastPositions returns the identity of the log of the events in the file, and the log position of the last one of each
// service. An incomplete last line is removed.
func lastPositions(path string) (log string, last map[string]string, err error) {
	last = map[string]string{}
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "", last, nil
	}
	if err != nil {
		return "", nil, err
	}
	end := bytes.LastIndexByte(content, '\n') + 1
	if err := os.Truncate(path, int64(end)); err != nil {
		return "", nil, err
	}
	for _, line := range bytes.Split(content[:end], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return "", nil, err
		}
		log, last[r.Service] = r.Log, r.LogPosition
	}
	return log, last, nil
}

func connect() (*nats.Conn, error) {
	options := []nats.Option{nats.CustomInboxPrefix("_INBOX.audit")}
	if user := os.Getenv("NATS_USER"); user != "" {
		options = append(options, nats.UserInfo(user, os.Getenv("NATS_PASSWORD")))
	}
	if ca := os.Getenv("NATS_CA"); ca != "" {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(ca))
		options = append(options, nats.Secure(&tls.Config{RootCAs: pool}))
	}
	url := os.Getenv("NATS_URL")
	if url == "" {
		url = nats.DefaultURL
	}
	return nats.Connect(url, options...)
}

func consume(path string) error {
	log, last, err := lastPositions(path)
	if err != nil {
		return err
	}
	connection, err := connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	stream, err := jetstream.New(connection)
	if err != nil {
		return err
	}
	// One message at a time, so that a message that is delivered again comes before all later ones.
	consumer, err := stream.CreateOrUpdateConsumer(context.Background(), "GANTRY", jetstream.ConsumerConfig{
		Name:          consumerName,
		Durable:       consumerName,
		FilterSubject: "events.>",
		AckPolicy:     jetstream.AckExplicitPolicy,
		MaxAckPending: 1,
	})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		message, err := messages.Next()
		if err != nil {
			return err
		}
		service := strings.Split(message.Subject(), ".")[1]
		position := message.Headers().Get("log-position")
		identity := message.Headers().Get("log-identity")
		// Positions of two logs cannot be compared: an operator has to decide how to continue.
		if log != "" && identity != log {
			fmt.Fprintf(os.Stderr, "The log of %s was replaced: move the file away to begin with the new log\n", path)
			os.Exit(1)
		}
		log = identity
		// A message that is delivered or published again is not after the last one of its service.
		if position > last[service] {
			line, err := json.Marshal(record{service, log, position, message.Data()})
			if err != nil {
				return err
			}
			if _, err := file.Write(append(line, '\n')); err != nil {
				return err
			}
			last[service] = position
		}
		if err := message.Ack(); err != nil {
			return err
		}
	}
}

func main() {
	for {
		fmt.Fprintln(os.Stderr, consume(os.Args[1]))
		time.Sleep(pause)
	}
}
