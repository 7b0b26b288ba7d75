package scan

import (
	"context"
	"time"
)

// grace is how long what heeds its context has to end: a system call of a slow
// server may be under way.
const grace = time.Second

// Bounded returns what f returns. When ctx has ended and f has not within a second,
// as happens to whoever waits for a file system that does not answer, it returns
// the cause of the end and leaves f behind: nothing can call such a system call
// off. That is for processes that are about to end.
func Bounded[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := f(ctx)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-late.C:
		var none T
		return none, context.Cause(ctx)
	}
}
