// Package classify tells the type of a file from its name, and the category of a
// type.
//
// A scan asks for the type once per file, from all of its walkers, so it takes no
// lock and allocates nothing for a type that was met before. Size and age classes
// are in package usage.
package classify
