package component

import "strconv"

// NumberInput returns the type of an input for a number. What was typed and is none is
// given back as text: browsers empty a number input that holds something else.
func NumberInput(value string) string {
	if _, err := strconv.ParseInt(value, 10, 64); err != nil && value != "" {
		return "text"
	}
	return "number"
}
