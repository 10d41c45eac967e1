package launch

import seccomp "github.com/elastic/go-seccomp-bpf"

// allowedHere: this architecture has only the newer forms.
var allowedHere = []string{}

func conditionsHere() []seccomp.NameWithConditions { return nil }
