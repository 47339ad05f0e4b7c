package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/file"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// backendRows set a commit of each other backend beside the least that a durable write costs there.
func backendRows() []row {
	return []row{
		{name: "durable commit, file", ours: "Commit of 1 KB", peer: "a file of 1 KB replaced: synced, renamed, folder synced", rounds: 20, calls: 25,
			setup: commitAgainstFile},
		{name: "durable commit, Redis", ours: "Commit of 1 KB, appendfsync always", peer: "SET of 1 KB", rounds: 20, calls: 25, setup: commitAgainstSet},
		{name: "durable commit, PostgreSQL", ours: "Commit of 1 KB, synchronous_commit on", peer: "INSERT of 1 KB, committed", rounds: 20, calls: 25,
			setup: commitAgainstInsert},
	}
}

// committing commits steps of 1 KB to a store beside peer.
func committing(store checkpoint.Store, peer func() error, closing ...func() error) (*pair, error) {
	ops := []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: text(1 << 10)}}
	run, err := newRunner(store, "t", ops)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &pair{ours: func() error { return run.step(ops) }, peer: peer, close: closers(append([]func() error{store.Close}, closing...)...)}, nil
}

func commitAgainstFile(dir string) (*pair, error) {
	store, err := file.Open(context.Background(), filepath.Join(dir, "store"), file.Options{})
	if err != nil {
		return nil, err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return committing(store, func() error { return replaceFile(dir, folder, text(1<<10)) }, folder.Close)
}

func replaceFile(dir string, folder *os.File, data []byte) error {
	f, err := os.Create(filepath.Join(dir, "next"))
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "raw")), folder.Sync())
}

// commitAgainstSet starts a server of its own, since few are set up to lose nothing.
func commitAgainstSet(dir string) (*pair, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, notMeasured("redis-server missing")
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	server := exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always",
		"--logfile", filepath.Join(dir, "log"))
	if err := server.Start(); err != nil {
		return nil, err
	}
	stop := func() error {
		err := server.Process.Signal(os.Interrupt)
		_ = server.Wait() // it was told to end
		return err
	}
	ctx := context.Background()
	client := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:" + port})
	for start := time.Now(); client.Ping(ctx).Err() != nil; {
		if time.Since(start) > 10*time.Second {
			return nil, errors.Join(errors.New("redis-server does not answer"), client.Close(), stop())
		}
	}
	store, err := redis.Open(ctx, "redis://127.0.0.1:"+port+"/0", redis.Options{})
	if err != nil {
		return nil, errors.Join(err, client.Close(), stop())
	}
	value := []byte(text(1 << 10))
	return committing(store, func() error { return client.Set(ctx, "raw", value, 0).Err() }, client.Close, stop)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), l.Close()
}

// commitAgainstInsert uses the server at HITL_TEST_POSTGRES or at the usual place, in a schema that is dropped afterwards.
func commitAgainstInsert(string) (*pair, error) {
	ctx := context.Background()
	server := cmp.Or(os.Getenv("HITL_TEST_POSTGRES"), "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=5")
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return nil, notMeasured("no PostgreSQL server at HITL_TEST_POSTGRES or on this host")
	}
	schema := fmt.Sprintf("bench_%d", os.Getpid())
	drop := func() error {
		_, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		return errors.Join(err, conn.Close(ctx))
	}
	address, err := url.Parse(server)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	q := address.Query()
	q.Set("search_path", schema)
	address.RawQuery = q.Encode()
	store, err := postgres.Open(ctx, address.String(), postgres.Options{})
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE "+schema+".raw (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data bytea NOT NULL)"); err != nil {
		return nil, errors.Join(err, store.Close(), drop())
	}
	data := []byte(text(1 << 10))
	return committing(store, func() error {
		_, err := conn.Exec(ctx, "INSERT INTO "+schema+".raw (data) VALUES ($1)", data)
		return err
	}, drop)
}
