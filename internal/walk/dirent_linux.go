package walk

import (
	"bytes"
	"encoding/binary"
)

// A record of getdents64(2) is the inode number (8 bytes), a position (8), its
// own length (2), a type (1) and the name, which ends in a zero byte and is padded
// with more of them to a multiple of 8. All numbers are in the order of the machine.
const (
	direntLength = 16 // where the length stands
	direntName   = 19 // where the name begins
	direntAlign  = 8
)

// NextDirent returns the length of the first record in buf, or 0 where there is no
// whole one, which no file system should ever give.
func NextDirent(buf []byte) int {
	if len(buf) < direntName+2 {
		return 0
	}
	length := int(binary.NativeEndian.Uint16(buf[direntLength:]))
	if length < direntName+2 || length > len(buf) || buf[length-1] != 0 && bytes.IndexByte(buf[direntName:length], 0) < 0 {
		return 0
	}
	return length
}

// DirentName returns the name in a whole record, with the zero byte at its end.
func DirentName(record []byte) []byte {
	// It ends within the last eight bytes, so a short name is not searched twice.
	end := max(direntName, len(record)-direntAlign)
	for record[end] != 0 {
		end++
	}
	return record[direntName : end+1 : end+1]
}

// DotName reports "." and "..", which end in a zero byte.
func DotName(name []byte) bool {
	return name[0] == '.' && (name[1] == 0 || name[1] == '.' && name[2] == 0)
}

// AppendDirent appends a record to buf as getdents64(2) would write it: for file
// systems that only exist in tests.
func AppendDirent(buf []byte, ino uint64, name string) []byte {
	length := (direntName + len(name) + 1 + direntAlign - 1) / direntAlign * direntAlign
	start := len(buf)
	buf = append(buf, make([]byte, length)...)
	binary.NativeEndian.PutUint64(buf[start:], ino)
	binary.NativeEndian.PutUint64(buf[start+8:], uint64(start)+1)
	binary.NativeEndian.PutUint16(buf[start+direntLength:], uint16(length))
	copy(buf[start+direntName:], name)
	return buf
}
