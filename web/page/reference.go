package page

import (
	"strconv"
	"strings"

	"fstally/web/component"
)

// Reference is the view model of /api: what the API of the running program takes
// and answers. Addresses in it are whole, with the base path.
type Reference struct {
	component.Frame // Path is component.ReferencePath

	Name     string // of the API and its version, such as "fstally 1"
	About    string // the rules of every answer
	Address  string // what all paths are below, with scheme and host
	Document string // address of the OpenAPI document
	Groups   []OperationGroup
	Shapes   []Shape // the objects that answers are made of, by name
}

// OperationGroup is a part of the reference.
type OperationGroup struct {
	Name       string
	About      string
	Operations []Operation
}

// Operation is one endpoint.
type Operation struct {
	ID         string // unique on the page; its anchor
	Method     string
	Path       string // below Reference.Address, with {placeholders}
	Summary    string
	About      string
	Parameters []Parameter
	Answers    []Answer // of success
	Problems   []Answer // of failure, all of one shape
	Curl       string   // a command for a POSIX shell
	Try        string   // address that a browser can open; "" for what changes something
	TryCSV     string   // the same as CSV; "" for none
}

// Parameter is what an endpoint takes.
type Parameter struct {
	Name     string
	In       string // path or query
	Required bool
	Type     string // in words, with its range
	Values   []string
	Default  string // "" for none
	About    string
}

// Answer is one status that an endpoint answers with.
type Answer struct {
	Status  int
	About   string
	Media   []string // content types
	Headers []Field
	Shape   string // name of the object; "" for none
	Fields  []Field
}

// Shape is an object of answers.
type Shape struct {
	Name   string
	Fields []Field
}

// Field is a part of an object.
type Field struct {
	Name     string
	Type     string // in words, without Shape; may be ""
	Shape    string // name of the object that it is or holds; "" for none
	Optional bool   // it can be absent
	Null     bool   // it can be null
	About    string
}

// groupAnchor returns the anchor of a group.
func groupAnchor(name string) string {
	return "group-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
}

// shapeAnchor returns the anchor of an object.
func shapeAnchor(name string) string { return "shape-" + name }

// here leads to an anchor of this page.
func here(anchor string) string { return "#" + anchor }

// status is the number as text.
func (a Answer) status() string { return strconv.Itoa(a.Status) }

// note says when a field can be missing.
func (f Field) note() string {
	switch {
	case f.Optional && f.Null:
		return "can be absent or null"
	case f.Optional:
		return "can be absent"
	case f.Null:
		return "can be null"
	default:
		return ""
	}
}

// problemShape is the object of all failures.
func (p Reference) problemShape() string {
	for _, group := range p.Groups {
		for _, op := range group.Operations {
			for _, problem := range op.Problems {
				return problem.Shape
			}
		}
	}
	return ""
}
