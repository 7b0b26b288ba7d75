package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// apiPrefix is where the API stands below the base path.
const apiPrefix = "/api/v1"

// API answers below apiPrefix, and describes what it answers; see package api.
type API interface {
	http.Handler
	// Document describes the API; it is only read.
	Document() *huma.OpenAPI
}

// reference is the page about the API, made from its document. Its commands and
// links are about something that is there, so that they can be tried as they are.
func (s *site) reference(r *http.Request) (answer, error) {
	all, err := s.Reader.FileSystems(r.Context(), Scope(r.Context()))
	if err != nil {
		return answer{}, fmt.Errorf("list file systems: %w", err)
	}
	examples, err := s.examples(r.Context(), all)
	if err != nil {
		return answer{}, err
	}
	document := s.API.Document()
	model := page.Reference{
		Frame: s.frame(r, "API"), Name: document.Info.Title + " " + document.Info.Version, About: document.Info.Description,
	}
	model.Path, model.FileSystems = component.ReferencePath, all
	model.Address = origin(r) + model.URL(apiPrefix, nil)
	model.Document = model.URL(apiPrefix+"/openapi.json", nil)
	reader := documentReader{document}
	for _, tag := range document.Tags {
		group := page.OperationGroup{Name: tag.Name, About: tag.Description}
		for _, op := range reader.operations(tag.Name) {
			shown := reader.operation(op)
			addCalls(&model, &shown, reader, op, examples)
			group.Operations = append(group.Operations, shown)
		}
		model.Groups = append(model.Groups, group)
	}
	model.Shapes = reader.shapes()
	return answer{content: page.ReferencePage(model)}, nil
}

// examples are values for the placeholders of paths, by the path up to the placeholder:
// a file system, preferably with a scan, that scan, and its largest user. What there is
// none of is not in it.
func (s *site) examples(ctx context.Context, all []usage.FileSystem) (map[string]string, error) {
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // no examples are an empty map
	}
	fs := all[max(0, slices.IndexFunc(all, func(fs usage.FileSystem) bool { return fs.CurrentScanID != 0 }))]
	values := map[string]string{"/filesystems/{fs}": fs.Name}
	if fs.CurrentScanID == 0 {
		return values, nil
	}
	values["/scans/{id}"] = strconv.FormatInt(fs.CurrentScanID, 10)
	table, err := s.Reader.Usage(ctx, Scope(ctx), usage.Query{
		ScanID: fs.CurrentScanID, GroupBy: usage.User, By: usage.Allocated, Limit: 1,
	})
	if err != nil && !errors.Is(err, usage.ErrNotFound) {
		return nil, fmt.Errorf("largest user of scan %d: %w", fs.CurrentScanID, err)
	}
	if len(table.Rows) > 0 {
		values["/users/{uid}"] = table.Rows[0].Key
	}
	return values, nil
}

// origin is the scheme and the host that the visitor has reached the site by.
func origin(r *http.Request) string {
	scheme := "http"
	if isSecure(r) {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: r.Host}).String()
}

// addCalls sets how an operation is called: with the examples in the place of
// placeholders, and with the defaults of its parameters spelled out.
func addCalls(
	model *page.Reference, shown *page.Operation, document documentReader, op *huma.Operation, examples map[string]string,
) {
	address, query, there := apiPrefix+op.Path, url.Values{}, true
	for _, p := range op.Parameters {
		switch p.In {
		case "path":
			placeholder := "{" + p.Name + "}"
			before, _, _ := strings.Cut(op.Path, placeholder)
			known := examples[before+placeholder]
			there = there && known != ""
			value := cmp.Or(known, example(p.Schema), "1")
			address = strings.ReplaceAll(address, placeholder, url.PathEscape(value))
		case "query":
			if d := p.Schema.Default; d != nil && fmt.Sprint(d) != "0" {
				query.Set(p.Name, fmt.Sprint(d))
			} else if p.Required {
				query.Set(p.Name, example(p.Schema))
			}
		}
	}
	call := model.URL(address, query)
	shown.Curl = "curl -s "
	if op.Method != http.MethodGet {
		shown.Curl += "-X " + op.Method + " "
	}
	if !model.Anonymous {
		shown.Curl += `-H "Authorization: Bearer $TOKEN" `
	}
	if body := exampleBody(document, op); body != "" {
		shown.Curl += "-H 'Content-Type: application/json' -d " + shellQuote(body) + " "
	}
	shown.Curl += shellQuote(strings.TrimSuffix(model.Address, model.URL(apiPrefix, nil)) + call)
	if op.Method != http.MethodGet || !there {
		return
	}
	shown.Try = call
	if slices.ContainsFunc(shown.Answers, func(a page.Answer) bool { return slices.Contains(a.Media, "text/csv") }) {
		query.Set("format", "csv")
		shown.TryCSV = model.URL(address, query)
	}
}

// shellQuote returns s as one word of a POSIX shell, whatever is in it.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// documentReader turns the OpenAPI document into what a page shows.
type documentReader struct{ *huma.OpenAPI }

// operations are those of a group, by path.
func (d documentReader) operations(tag string) []*huma.Operation {
	var of []*huma.Operation
	for _, at := range slices.Sorted(maps.Keys(d.Paths)) {
		item := d.Paths[at]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil && slices.Contains(op.Tags, tag) {
				of = append(of, op)
			}
		}
	}
	return of
}

func (d documentReader) operation(op *huma.Operation) page.Operation {
	shown := page.Operation{
		ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, About: op.Description,
	}
	for _, p := range op.Parameters {
		parameter := page.Parameter{
			Name: p.Name, In: p.In, Required: p.Required, Type: typeWords(p.Schema), About: p.Description,
		}
		for _, value := range p.Schema.Enum {
			parameter.Values = append(parameter.Values, fmt.Sprint(value))
		}
		if p.Schema.Default != nil {
			parameter.Default = fmt.Sprint(p.Schema.Default)
		}
		shown.Parameters = append(shown.Parameters, parameter)
	}
	for _, field := range d.body(op) {
		shown.Parameters = append(shown.Parameters, page.Parameter{
			Name: field.Name, In: "body", Required: !field.Optional, Type: cmp.Or(field.Type, "object"), About: field.About,
		})
	}
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		reply := d.answer(code, op.Responses[code])
		if reply.Status >= http.StatusBadRequest {
			shown.Problems = append(shown.Problems, reply)
		} else {
			shown.Answers = append(shown.Answers, reply)
		}
	}
	return shown
}

// bodySchema is that of the JSON that an operation takes; nil for none.
func (d documentReader) bodySchema(op *huma.Operation) *huma.Schema {
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	schema := op.RequestBody.Content["application/json"].Schema
	if schema.Ref != "" {
		return d.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}

// body lists the fields of the JSON that an operation takes.
func (d documentReader) body(op *huma.Operation) []page.Field {
	schema := d.bodySchema(op)
	if schema == nil {
		return nil
	}
	return fields(schema)
}

// exampleBody is JSON that the operation takes: the fields that must be there.
func exampleBody(d documentReader, op *huma.Operation) string {
	schema := d.bodySchema(op)
	if schema == nil {
		return ""
	}
	values := make(map[string]any, len(schema.Required))
	for _, name := range schema.Required {
		values[name] = 0
		if of := schema.Properties[name]; len(of.Examples) > 0 {
			values[name] = of.Examples[0]
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return "{}" // examples are JSON
	}
	return string(text)
}

func (d documentReader) answer(code string, response *huma.Response) page.Answer {
	status, err := strconv.Atoi(code)
	if err != nil {
		status = http.StatusInternalServerError // "default", which stands for errors
	}
	shown := page.Answer{Status: status, About: response.Description, Media: slices.Sorted(maps.Keys(response.Content))}
	for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
		header := response.Headers[name]
		shown.Headers = append(shown.Headers, page.Field{
			Name: name, Type: typeWords(header.Schema), About: header.Description,
		})
	}
	for _, media := range shown.Media {
		if ref := response.Content[media].Schema.Ref; ref != "" {
			shown.Shape = path.Base(ref)
			shown.Fields = fields(d.Components.Schemas.SchemaFromRef(ref))
		}
	}
	return shown
}

// shapes are the objects that others lead to, and that of errors. An object that
// is only the whole of an answer is shown there.
func (d documentReader) shapes() []page.Shape {
	all, wanted := d.Components.Schemas.Map(), map[string]bool{}
	for _, schema := range all {
		for _, field := range fields(schema) {
			wanted[field.Shape] = true
		}
	}
	for _, tag := range d.Tags {
		for _, op := range d.operations(tag.Name) {
			for _, problem := range d.operation(op).Problems {
				wanted[problem.Shape] = true
			}
		}
	}
	var shapes []page.Shape
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if wanted[name] {
			shapes = append(shapes, page.Shape{Name: name, Fields: fields(all[name])})
		}
	}
	return shapes
}

// fields are those that are always there, in their order, then the others by name.
func fields(schema *huma.Schema) []page.Field {
	names := slices.Clone(schema.Required)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	list := make([]page.Field, len(names))
	for i, name := range names {
		of := schema.Properties[name]
		field := page.Field{
			Name: name, Type: typeWords(of), About: of.Description,
			Optional: !slices.Contains(schema.Required, name), Null: of.Nullable,
		}
		if of.Type == huma.TypeArray && of.Items.Ref != "" {
			field.Type = "list of"
			field.Shape = path.Base(of.Items.Ref)
		}
		for _, part := range append(of.OneOf, of) {
			if part.Ref != "" {
				field.Type, field.Shape = "", path.Base(part.Ref)
			}
			field.Null = field.Null || part.Type == "null"
		}
		list[i] = field
	}
	return list
}

// typeWords says what a value is and between which bounds it lies.
func typeWords(s *huma.Schema) string {
	switch s.Type {
	case huma.TypeInteger:
		return "whole number" + rangeWords(s)
	case huma.TypeNumber:
		return "number" + rangeWords(s)
	case huma.TypeBoolean:
		return "true or false"
	case huma.TypeArray:
		return "list of " + typeWords(s.Items)
	case huma.TypeString:
		switch s.Format {
		case "date-time":
			return "time, RFC 3339"
		case "date":
			return "date"
		case "uri":
			return "URI"
		}
		return "text"
	default:
		return "any value"
	}
}

func rangeWords(s *huma.Schema) string {
	digits := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return ", " + digits(*s.Minimum) + " to " + digits(*s.Maximum)
	case s.Minimum != nil:
		return ", " + digits(*s.Minimum) + " or more"
	case s.Maximum != nil:
		return ", up to " + digits(*s.Maximum)
	default:
		return ""
	}
}

// example is the first that the schema has, "" for none.
func example(s *huma.Schema) string {
	if len(s.Examples) == 0 {
		return ""
	}
	return fmt.Sprint(s.Examples[0])
}
