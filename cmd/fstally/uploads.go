package main

import (
	"context"
	"errors"
	"path/filepath"

	"fstally/internal/postgres"
	"fstally/internal/result"
	"fstally/internal/upload"
	"fstally/internal/usage"
)

// uploads opens the folder of results that come over HTTP.
func (a *app) uploads(d *database) (*upload.Folder, error) {
	return upload.Open(upload.Options{
		Dir: filepath.Join(a.cli.DataDir, "uploads"), Store: pushedStore{d.Store}, Logger: a.log,
	})
}

// pushedStore is the store as package upload wants it.
type pushedStore struct{ *postgres.Store }

// ImportPushed imports a result, and answers with the scan that it became before where
// it is stored already.
func (s pushedStore) ImportPushed(ctx context.Context, fileSystemID int64, r *result.Result) (usage.Scan, error) {
	scan, err := s.Import(ctx, postgres.ImportRequest{
		FileSystemID: fileSystemID, Origin: usage.ByPush, Meta: &r.Meta, Summary: r.Summary(),
	})
	if already, ok := errors.AsType[*postgres.ImportedError](err); ok {
		return already.Scan, nil
	}
	return scan, err
}

// Passing reports an error that may pass by itself.
func (pushedStore) Passing(err error) bool { return postgres.Passing(err) }

// Internal reports an error of the database, whose text is for the administrator.
func (pushedStore) Internal(err error) bool { return postgres.FromDatabase(err) }
