package walk

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"fstally/internal/usage"
)

// run is a walk in progress, as far as all engines have it in common.
type run struct {
	ctx    context.Context //nolint:containedctx // lives as long as the walk; fastwalk passes none to its callback
	stop   context.CancelCauseFunc
	o      Options
	rules  *rules // once the root was seen
	report *reporter
}

// errStopped ends the work of a walker; why it stopped is the cause of ctx.
var errStopped = errors.New("walk stopped")

// begin returns a run, or an error when ctx ended already. Its stop must be called.
func begin(ctx context.Context, o Options) (*run, error) {
	r := &run{o: o.withDefaults(), report: newReporter()}
	if err := ctx.Err(); err != nil {
		return nil, r.failure(err)
	}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	return r, nil
}

// end returns what Walk returns; err is what ended it early, if anything.
func (r *run) end(err error) (Report, error) {
	if errors.Is(err, errStopped) {
		err = context.Cause(r.ctx)
	}
	if err != nil {
		err = r.failure(err)
	}
	return r.report.report(), err
}

func (r *run) failure(err error) error {
	return fmt.Errorf("walk %s: %w", usage.Escape(r.o.Root), err)
}

// fail ends the walk; the first reason is the one that is told.
func (r *run) fail(err error) error {
	r.stop(err)
	return errStopped
}

// wait asks for one operation. Whoever waits here does not wait for the file system.
func (r *run) wait(p *post) error {
	if r.o.Limiter == nil {
		return nil
	}
	op := operation(p.op.Load())
	p.op.Store(uint32(idle))
	if err := r.o.Limiter.WaitN(r.ctx, 1); err != nil {
		return r.fail(err)
	}
	p.do(op)
	return nil
}

// caught makes an error of a panic of the file system, to be deferred: it costs an
// entry or a directory, and not the walk.
func caught(err *error) { //nolint:gocritic // ptrToRefParam: sets a named result
	if thrown := recover(); thrown != nil {
		*err = fmt.Errorf("fault: %v", thrown)
	}
}

// recovered ends the walk with what was thrown at path; to be deferred as
//
//	defer func() { r.recovered(recover(), path, &err) }()
func (r *run) recovered(thrown any, path string, err *error) { //nolint:gocritic // ptrToRefParam: sets a named result
	if thrown != nil {
		*err = r.fail(&PanicError{Path: path, Value: thrown, Stack: debug.Stack()})
	}
}
