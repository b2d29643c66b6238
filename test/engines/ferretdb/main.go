// Command ferretdb serves the MongoDB protocol from SQLite files: FerretDB as a library, since its own command only
// builds from a checkout of its repository.
//
// FerretDB 1.24 answers an update by a query and a write of what it found, so that of two guarded updates at the
// same time both may find the guard satisfied. MongoDB promises that each is atomic. The front in this file gives
// the same promise: writing commands go in one at a time, everything else as it comes.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

const (
	headerLength = 16
	maxLength    = 48_000_000
	opMsg        = 2013
	// moreToCome is the flag of a message that is not answered.
	moreToCome = 2
)

var writing = map[string]bool{
	"insert": true, "update": true, "delete": true, "findAndModify": true,
	"create": true, "drop": true, "dropDatabase": true, "renameCollection": true,
	"createIndexes": true, "dropIndexes": true, "collMod": true,
}

// Usage: ferretdb LISTEN_ADDRESS FOLDER. Prints the URL that it answers at, and ends on SIGTERM.
func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: ferretdb LISTEN_ADDRESS FOLDER")
	}
	address, folder := os.Args[1], os.Args[2]
	debug.SetGCPercent(1000) // it reads all documents for most queries, and forgets them
	socket := filepath.Join(folder, "engine.sock")
	os.Remove(socket) // one that was killed has left it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	engine, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{Unix: socket},
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:   "sqlite",
		SQLiteURL: "file:" + folder + "/?_pragma=synchronous(normal)", // safe from kill -9
	})
	if err != nil {
		log.Fatal(err)
	}
	front, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mongodb://%s/\n", front.Addr())

	go accept(front, socket)
	if err := engine.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

func accept(front net.Listener, engine string) {
	var oneAtATime sync.Mutex
	for {
		client, err := front.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer client.Close()
			if err := serve(client, engine, &oneAtATime); err != nil && !errors.Is(err, io.EOF) {
				log.Print(err)
			}
		}()
	}
}

func serve(client net.Conn, engine string, oneAtATime *sync.Mutex) error {
	server, err := net.Dial("unix", engine)
	if err != nil {
		return err
	}
	defer server.Close()
	for {
		request, err := readMessage(client)
		if err != nil {
			return err
		}
		answer, err := ask(server, request, oneAtATime)
		if err != nil {
			return err
		}
		if _, err := client.Write(answer); err != nil {
			return err
		}
	}
}

func ask(server net.Conn, request []byte, oneAtATime *sync.Mutex) ([]byte, error) {
	if writing[commandOf(request)] {
		oneAtATime.Lock()
		defer oneAtATime.Unlock()
	}
	if _, err := server.Write(request); err != nil || !isAnswered(request) {
		return nil, err
	}
	return readMessage(server)
}

func isAnswered(message []byte) bool {
	return binary.LittleEndian.Uint32(message[12:]) != opMsg ||
		len(message) < headerLength+4 || binary.LittleEndian.Uint32(message[headerLength:])&moreToCome == 0
}

func readMessage(from io.Reader) ([]byte, error) {
	header := make([]byte, headerLength)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(header)
	if length < headerLength || length > maxLength {
		return nil, fmt.Errorf("a message of %d bytes", length)
	}
	message := make([]byte, length)
	copy(message, header)
	_, err := io.ReadFull(from, message[headerLength:])
	return message, err
}

// commandOf tells the name of a message's command: the first field of its body, which follows the flags, the kind
// of section and the length of the document.
func commandOf(message []byte) string {
	const firstField = headerLength + 4 + 1 + 4
	if binary.LittleEndian.Uint32(message[12:]) != opMsg || len(message) <= firstField {
		return ""
	}
	name, _, _ := bytes.Cut(message[firstField+1:], []byte{0})
	return string(name)
}
