package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

type tokenCmd struct {
	New bool `help:"Make a new token. The old one, and the cookies that were made of it, end when 'fstally serve' is started again."`
}

// Run shows the token.
func (c tokenCmd) Run(a *app) error {
	if err := a.makeDataDir(); err != nil {
		return err
	}
	read := a.token
	if c.New {
		read = a.newToken
	}
	token, err := read()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, token)
	return err
}

func (a *app) tokenFile() string { return filepath.Join(a.cli.DataDir, "token") }

// token reads the token, or makes it at the first start.
func (a *app) token() (string, error) {
	text, err := os.ReadFile(a.tokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		return a.newToken()
	}
	if err != nil {
		return "", fmt.Errorf("read the access token: %w", err)
	}
	token := string(bytes.TrimSpace(text))
	if token == "" {
		return "", fmt.Errorf("the access token in %s is empty: make a new one with 'fstally token --new'", a.tokenFile())
	}
	return token, nil
}

// newToken draws at least 128 random bits.
func (a *app) newToken() (string, error) {
	token := rand.Text()
	file := a.tokenFile()
	if err := os.WriteFile(file+".new", []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the access token: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return "", fmt.Errorf("keep the access token: %w", err)
	}
	return token, nil
}
