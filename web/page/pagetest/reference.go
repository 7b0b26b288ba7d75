package pagetest

import (
	"fstally/web/component"
	"fstally/web/page"
)

// referencePages are the reference of an API, and one whose texts would do harm
// if they were not text.
func referencePages(base string) []Page {
	of := func(p page.Reference) page.Reference {
		p.Frame = at(base, p.Frame)
		p.Document = base + "/api/v1/openapi.json"
		try := &p.Groups[0].Operations[0]
		try.Try, try.TryCSV = base+"/pages/reference?try", base+"/pages/reference?csv"
		return p
	}
	open := reference()
	open.Anonymous = true
	return []Page{
		{"reference", page.ReferencePage(of(reference()))},
		{"reference-open", page.ReferencePage(of(open))},
		{"reference-hostile", page.ReferencePage(of(hostileReference()))},
	}
}

func reference() page.Reference {
	f := bareFrame("API")
	f.Path = component.ReferencePath
	return page.Reference{
		Frame: f, Name: "fstally 1", Address: "https://fstally.example.org/api/v1",
		About: "Counts and bytes are integers with exact digits, which may exceed 2^53.",
		Groups: []page.OperationGroup{
			{Name: "Usage", About: "Who and what uses the space.", Operations: []page.Operation{usageOperation()}},
			{Name: "Scans of a file system", About: "Starting them.", Operations: []page.Operation{startOperation()}},
		},
		Shapes: []page.Shape{
			{Name: "ErrorModel", Fields: []page.Field{
				{Name: "detail", Type: "text", Optional: true, About: "What happened."},
				{Name: "errors", Type: "list of", Shape: "ErrorDetail", Optional: true, Null: true, About: "By parameter."},
			}},
			{Name: "ErrorDetail", Fields: []page.Field{
				{Name: "value", Type: "any value", Optional: true, About: "What was sent."},
			}},
			{Name: "Item", Fields: []page.Field{
				{Name: "key", Type: "text", About: "What filters take."},
				{Name: "allocated", Type: "whole number, 0 or more", About: "Bytes on disk."},
				{Name: "share", Type: "number, 0 to 1", About: "Part of the total."},
			}},
		},
	}
}

func usageOperation() page.Operation {
	const path = "/filesystems/{fs}/usage"
	return page.Operation{
		ID: "usage", Method: "GET", Path: path,
		Summary: "The usage of one scan by one dimension, filtered",
		About:   "Largest first. What is not among the items is in others.",
		Parameters: []page.Parameter{
			{Name: "fs", In: "path", Required: true, Type: "text", About: "Name or id of the file system."},
			{
				Name: "group_by", In: "query", Type: "text", Default: "user", About: "What the usage is split by.",
				Values: []string{"user", "group", "type", "category", "fileset", "pool", "size_class", "age_class"},
			},
			{Name: "limit", In: "query", Type: "whole number, 1 to 1000", Default: "10", About: "Items wanted."},
		},
		Answers: []page.Answer{{
			Status: 200, About: "The items and the others.", Media: []string{"application/json", "text/csv"},
			Shape: "UsageBody",
			Fields: []page.Field{
				{Name: "filesystem", Type: "text", About: "Name of the file system."},
				{Name: "items", Type: "list of", Shape: "Item", About: "By the measure descending."},
				{Name: "others", Shape: "Item", Null: true, About: "Everything else."},
			},
		}},
		Problems: problems(),
		Curl: `curl -s -H "Authorization: Bearer $TOKEN" ` +
			`'https://fstally.example.org/api/v1/filesystems/scratch/usage?by=allocated&group_by=user&limit=10&scan=latest'`,
	}
}

func startOperation() page.Operation {
	return page.Operation{
		ID: "start-scan", Method: "POST", Path: "/filesystems/{fs}/scans", Summary: "Queue a scan",
		About:      "It begins as soon as a worker is free.",
		Parameters: []page.Parameter{{Name: "fs", In: "path", Required: true, Type: "text", About: "Name or id."}},
		Answers: []page.Answer{{
			Status: 202, About: "The queued scan.", Media: []string{"application/json"}, Shape: "Item",
			Headers: []page.Field{{Name: "Location", Type: "text", About: "Where the scan can be watched."}},
			Fields:  []page.Field{{Name: "id", Type: "whole number", About: "Number of the scan."}},
		}},
		Problems: problems(),
		Curl: `curl -s -X POST -H "Authorization: Bearer $TOKEN" ` +
			`'https://fstally.example.org/api/v1/filesystems/scratch/scans'`,
	}
}

func problems() []page.Answer {
	media := []string{"application/problem+json"}
	return []page.Answer{
		{Status: 401, About: "The access token is missing or not valid.", Media: media, Shape: "ErrorModel"},
		{Status: 422, About: "A parameter is wrong or unknown.", Media: media, Shape: "ErrorModel"},
	}
}

func hostileReference() page.Reference {
	p := reference()
	names := hostileNames()
	op := &p.Groups[0].Operations[0]
	op.Curl = `curl -s '` + p.Address + names[0] + names[1] + names[len(names)-1] + `'`
	op.About, op.Summary = names[1], names[2]
	op.Path += "/" + names[len(names)-1]
	op.Parameters[0].Name, op.Parameters[0].About = names[len(names)-1], names[3]
	op.Answers[0].Fields[0].Name = names[len(names)-1]
	return p
}
