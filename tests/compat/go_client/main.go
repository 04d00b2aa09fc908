// SPDX-License-Identifier: Apache-2.0
//
// go-zookeeper against a server: what Go's client does otherwise than others. It gives every request an ordinary
// xid, also auth, and waits for that one.
//
//	go_client HOST:PORT
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/go-zookeeper/zk"
)

const patience = 10 * time.Second

var passed, failed int

// within runs a case; one that does not come back has failed.
func within(name string, run func() error) {
	done := make(chan error, 1)
	go func() { done <- run() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(patience):
		err = fmt.Errorf("no answer within %v", patience)
	}
	if err == nil {
		passed++
		return
	}
	failed++
	fmt.Printf("go_client: FAILED: %s: %v\n", name, err)
}

func expect(err, wanted error) error {
	if err != wanted {
		return fmt.Errorf("expected %v, got %v", wanted, err)
	}
	return nil
}

func main() {
	client, _, err := zk.Connect(os.Args[1:2], 20*time.Second, zk.WithLogInfo(false))
	if err != nil {
		fmt.Printf("go_client: FAILED: %v\ngo_client: 0 passed, 1 failed\n", err)
		os.Exit(1)
	}
	stranger, _, _ := zk.Connect(os.Args[1:2], 20*time.Second, zk.WithLogInfo(false))
	open := zk.WorldACL(zk.PermAll)

	within("auth is answered", func() error { return client.AddAuth("digest", []byte("ann:apple")) })
	within("an identity owns what it creates", func() error {
		_, err := client.Create("/go", []byte("x"), 0, zk.AuthACL(zk.PermAll))
		return err
	})
	within("and nobody else reads it", func() error {
		_, _, err := stranger.Get("/go")
		return expect(err, zk.ErrNoAuth)
	})
	within("a watch fires", func() error {
		_, _, changes, err := client.GetW("/go")
		if err != nil {
			return err
		}
		if _, err = client.Set("/go", []byte("y"), -1); err != nil {
			return err
		}
		if event := <-changes; event.Type != zk.EventNodeDataChanged {
			return fmt.Errorf("the event is %v", event)
		}
		return nil
	})
	within("a multi is all or nothing", func() error {
		_, err := client.Multi(&zk.CreateRequest{Path: "/go/a", Acl: open}, &zk.DeleteRequest{Path: "/none", Version: -1})
		if err := expect(err, zk.ErrNoNode); err != nil {
			return err
		}
		exists, _, err := client.Exists("/go/a")
		if err == nil && exists {
			err = fmt.Errorf("half of it was done")
		}
		return err
	})
	within("a lock is taken and given back", func() error {
		lock := zk.NewLock(client, "/go-lock", open)
		if err := lock.Lock(); err != nil {
			return err
		}
		return lock.Unlock()
	})
	within("a wrong scheme is an error", func() error {
		return expect(stranger.AddAuth("nosuch", []byte("x")), zk.ErrAuthFailed)
	})
	fmt.Printf("go_client: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
