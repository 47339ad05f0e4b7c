package file

import "golang.org/x/sys/unix"

// networkOf names the kind of file system a folder is on where several hosts may share it, else "".
func networkOf(folder string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return ""
	}
	return map[uint32]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
		unix.AFS_SUPER_MAGIC: "AFS", unix.AFS_FS_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda", unix.CEPH_SUPER_MAGIC: "Ceph",
		unix.V9FS_MAGIC: "9P", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS",
	}[uint32(s.Type)]
}
