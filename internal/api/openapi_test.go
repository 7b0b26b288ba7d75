package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"fstally/internal/api"
)

// contract is the document as what answers are held against.
type contract struct{ schemas *jsonschema.Compiler }

func newContract(t *testing.T, document *huma.OpenAPI) contract {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := contract{jsonschema.NewCompiler()}
	c.schemas.DefaultDraft(jsonschema.Draft2020) // what OpenAPI 3.1 says schemas are
	c.schemas.AssertFormat()
	if err := c.schemas.AddResource("openapi.json", value); err != nil {
		t.Fatal(err)
	}
	return c
}

// documented holds every answer of h against the document that h itself serves:
// status, content type and, for JSON, the shape. So each test of an endpoint is
// one of the document too.
func documented(t *testing.T, h *api.Handler) http.Handler {
	t.Helper()
	c := newContract(t, h.Document())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, api.Prefix)
		op := operationAt(h.Document(), r.Method, path)
		if op == nil { // not an address of an endpoint
			h.ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		h.ServeHTTP(recorded, r)
		body := slices.Clone(recorded.Body.Bytes())
		c.check(t, op, recorded)
		maps.Copy(w.Header(), recorded.Header())
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(body)
	})
}

// operationAt finds the operation that a path belongs to; nil for none.
func operationAt(document *huma.OpenAPI, method, path string) *huma.Operation {
	if item := document.Paths[path]; item != nil { // before a template that fits too
		return operations(item)[method]
	}
	parts := strings.Split(path, "/")
	for template, item := range document.Paths {
		wanted := strings.Split(template, "/")
		same := len(parts) == len(wanted)
		for i := 0; same && i < len(parts); i++ {
			same = parts[i] != "" && strings.HasPrefix(wanted[i], "{") || parts[i] == wanted[i]
		}
		if same {
			return operations(item)[method]
		}
	}
	return nil
}

// operations are those of a path, by method.
func operations(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}
	maps.DeleteFunc(all, func(_ string, op *huma.Operation) bool { return op == nil })
	return all
}

func (c contract) check(t *testing.T, op *huma.Operation, w *httptest.ResponseRecorder) {
	t.Helper()
	response := op.Responses[strconv.Itoa(w.Code)]
	if response == nil {
		t.Errorf("%s answered %d, which the document does not list", op.OperationID, w.Code)
		return
	}
	if w.Code == http.StatusNoContent {
		if w.Body.Len() > 0 || len(response.Content) > 0 {
			t.Errorf("%s answered %d with a body", op.OperationID, w.Code)
		}
		return
	}
	mediaType, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if err != nil {
		t.Errorf("%s: content type: %v", op.OperationID, err)
	}
	content := response.Content[mediaType]
	if content == nil {
		t.Errorf("%s answered %d as %s, which the document does not list", op.OperationID, w.Code, mediaType)
		return
	}
	for name := range response.Headers {
		if w.Header().Get(name) == "" {
			t.Errorf("%s answered %d without the header %s", op.OperationID, w.Code, name)
		}
	}
	if mediaType == "text/csv" {
		return
	}
	value, err := jsonschema.UnmarshalJSON(w.Body)
	if err != nil {
		t.Fatalf("%s: %v", op.OperationID, err)
	}
	pointer := strings.NewReplacer("~", "~0", "/", "~1")
	schema, err := c.schemas.Compile("openapi.json#/paths/" + pointer.Replace(op.Path) + "/" + strings.ToLower(op.Method) +
		"/responses/" + strconv.Itoa(w.Code) + "/content/" + pointer.Replace(mediaType) + "/schema")
	if err != nil {
		t.Fatalf("%s: %v", op.OperationID, err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s answered %d in another shape than documented: %v", op.OperationID, w.Code, err)
	}
}

// Nothing in the document is left without a meaning.
func TestOpenAPIIsComplete(t *testing.T) {
	document := newHandler(t, example()).Document()
	groups := map[string]bool{}
	for _, tag := range document.Tags {
		groups[tag.Name] = tag.Description != ""
	}
	for path, item := range document.Paths {
		if len(operations(item)) == 0 {
			t.Errorf("%s has no operation that this test knows", path)
		}
		for method, op := range operations(item) {
			if op.OperationID == "" || op.Summary == "" || op.Description == "" {
				t.Errorf("%s %s lacks a name, a summary or a description", method, path)
			}
			if len(op.Tags) != 1 || !groups[op.Tags[0]] {
				t.Errorf("%s is in %v, want one group that is described", op.OperationID, op.Tags)
			}
			for _, p := range op.Parameters {
				if p.Description == "" || p.Schema.Type == "" {
					t.Errorf("%s: parameter %s lacks a description or a type", op.OperationID, p.Name)
				}
			}
			for status, response := range op.Responses {
				checkResponse(t, op, status, response)
			}
		}
	}
	for name, schema := range document.Components.Schemas.Map() {
		if strings.HasSuffix(name, "InputBody") && !cmp.Equal(schema.AdditionalProperties, any(false)) {
			t.Errorf("%s takes what it does not know: a mistyped setting would seem to be set", name)
		}
		for property, of := range schema.Properties {
			if of.Description == "" {
				t.Errorf("%s.%s has no description", name, property)
			}
		}
	}
}

func checkResponse(t *testing.T, op *huma.Operation, status string, response *huma.Response) {
	t.Helper()
	code, err := strconv.Atoi(status)
	if err != nil || response.Description == "" || response.Description == http.StatusText(code) {
		t.Errorf("%s: %s says nothing: %q", op.OperationID, status, response.Description)
	}
	want := []string{"application/json"}
	switch list, _ := op.Metadata["text/csv"].(bool); {
	case code >= http.StatusBadRequest:
		want = []string{"application/problem+json"}
	case code == http.StatusNoContent:
		want = nil
	case list:
		want = []string{"application/json", "text/csv"}
	}
	for _, mediaType := range want {
		if response.Content[mediaType] == nil || response.Content[mediaType].Schema == nil {
			t.Errorf("%s: %s is not listed as %s", op.OperationID, status, mediaType)
		}
	}
	if len(response.Content) != len(want) {
		t.Errorf("%s: %s is listed as %d types, want %v", op.OperationID, status, len(response.Content), want)
	}
	for name, header := range response.Headers {
		if header.Description == "" {
			t.Errorf("%s: header %s has no description", op.OperationID, name)
		}
	}
}

// Every endpoint that takes text/csv for an answer is one that the document lists
// with it, and the other way round.
func TestFormatIsAParameterOfLists(t *testing.T) {
	for path, item := range newHandler(t, example()).Document().Paths {
		for _, op := range operations(item) {
			list, _ := op.Metadata["text/csv"].(bool)
			named := func(p *huma.Param) bool { return p.Name == "format" }
			if slices.ContainsFunc(op.Parameters, named) != list {
				t.Errorf("%s: comes as CSV is %v, but its parameters say otherwise", path, list)
			}
		}
	}
}

// What is served is the document that Document returns.
func TestOpenAPIIsServedAsItIs(t *testing.T) {
	h := newHandler(t, example())
	want, err := json.Marshal(h.Document())
	if err != nil {
		t.Fatal(err)
	}
	w := do(t, serve(t, example()), http.MethodGet, "/openapi.json")
	var got bytes.Buffer
	if err := json.Compact(&got, w.Body.Bytes()); err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Error("/openapi.json is not what Document returns")
	}
}
