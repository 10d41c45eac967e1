package launch

import seccomp "github.com/elastic/go-seccomp-bpf"

// allowedHere are the older forms that only this architecture has.
var allowedHere = []string{
	"open", "stat", "lstat", "access", "readlink", "dup2", "pipe", "poll", "select",
	"epoll_create", "epoll_wait", "eventfd", "getrlimit", "time", "getpgrp",
}

const (
	archSetFS = 0x1002
	archGetFS = 0x1003
)

// conditionsHere lets a thread set up its thread-local storage.
func conditionsHere() []seccomp.NameWithConditions {
	return []seccomp.NameWithConditions{
		when("arch_prctl", equal(0, archSetFS)),
		when("arch_prctl", equal(0, archGetFS)),
	}
}
