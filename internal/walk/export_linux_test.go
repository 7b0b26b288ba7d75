package walk

// What tests of the inside need.
var (
	InspectWith = inspectWith
	FindMount   = findMount
	LustreName  = lustreName
	CephName    = cephName
	UUIDByLink  = uuidByLink
	TypeOf      = typeOf
	Lstat       = lstat
)

// MountFields are those of a line of mountinfo.
func MountFields(l mountLine) [4]string { return [4]string{l.id, l.device, l.point, l.source} }
