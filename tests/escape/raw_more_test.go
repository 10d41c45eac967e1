//go:build linux && integration

package escape

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vm makes an attack that reads or writes the parent's memory.
func vm(name string) func(*probe) string {
	return func(p *probe) string {
		local := []unix.Iovec{{Base: &buffer[0]}}
		local[0].SetLen(p.Length)
		remote := []unix.RemoteIovec{{Base: p.Memory, Len: p.Length}}
		_, err := call(name, uintptr(p.Parent), uintptr(unsafe.Pointer(&local[0])), 1, uintptr(unsafe.Pointer(&remote[0])), 1, 0)
		if err == nil {
			return worked + ": " + string(buffer[:p.Length])
		}
		return errno(err)
	}
}

// tryFork makes an attack by a call after which, had it worked, there would be
// two of us.
func tryFork(name string) func(*probe) string {
	return func(*probe) string {
		_, err := call(name)
		return errno(err)
	}
}

// cloneAny forks with every signal for an end, some of which are also the
// numbers of calls that are allowed.
func cloneAny(*probe) string {
	for flags := range uintptr(256) {
		pid, err := call("clone", flags)
		if err == nil && pid == 0 {
			_, _ = call("exit_group", 0) // this is the child
		}
		if err == nil {
			return fmt.Sprint(worked, ": ", flags)
		}
	}
	return "none"
}

func pointers(text ...string) []*byte {
	list, err := syscall.SlicePtrFromStrings(text)
	if err != nil {
		panic(err)
	}
	return list
}

func tryExec(exe string) func(*probe) string {
	return func(*probe) string {
		runtime.LockOSThread()
		argv := pointers(exe)
		_, err := call("execve", uintptr(unsafe.Pointer(argv[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&pointers()[0])))
		return errno(err)
	}
}

// tryItself executes the program again. Where the filter has no listener that
// is allowed, and the walls stay: it says so by ending.
func tryItself(*probe) string {
	runtime.LockOSThread()
	argv := pointers(os.Args[0], "-test.run=^$")
	_, err := call("execve", uintptr(unsafe.Pointer(argv[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&pointers()[0])))
	return errno(err)
}

func execveat(exe string, flags uintptr) string {
	argv := pointers(exe)
	_, err := call("execveat", self, uintptr(unsafe.Pointer(argv[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&pointers()[0])), flags)
	return errno(err)
}

// fexecve executes the program by an open descriptor.
func fexecve(*probe) string {
	f, err := os.Open(os.Args[0])
	if err != nil {
		return err.Error()
	}
	argv := pointers("", "x")
	_, err = call("execveat", f.Fd(), uintptr(unsafe.Pointer(argv[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&pointers()[0])), unix.AT_EMPTY_PATH)
	return errno(err)
}

// inThread tries the same from a thread of its own.
func inThread(attack func(*probe) string) func(*probe) string {
	return func(p *probe) string {
		result := make(chan string)
		go func() {
			runtime.LockOSThread()
			result <- attack(p)
		}()
		return <-result
	}
}

func capset(*probe) string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	all := [2]unix.CapUserData{{Effective: ^uint32(0), Permitted: ^uint32(0)}, {Effective: ^uint32(0), Permitted: ^uint32(0)}}
	return errno(unix.Capset(&header, &all[0]))
}

func connect(p *probe) string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return errno(err)
	}
	return errno(unix.Connect(fd, &unix.SockaddrInet4{Port: p.Port, Addr: [4]byte{127, 0, 0, 1}}))
}

// bomb starts threads until something ends it.
func bomb(*probe) string {
	for {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
		runtime.Gosched()
	}
}

// machineCode is "mov eax, 20; int 0x80; ret": the 32-bit table's getpid. It is
// in the program's file, so that a part of it can be mapped to run.
const machineCode = "troupe escape: machine code \xb8\x14\x00\x00\x00\xcd\x80\xc3"

func int80(*probe) string {
	file, err := os.ReadFile(os.Args[0])
	if err != nil {
		return err.Error()
	}
	code := bytes.LastIndex(file, []byte(machineCode)) + len("troupe escape: machine code ")
	f, err := os.Open(os.Args[0])
	if err != nil {
		return err.Error()
	}
	page := code &^ 4095
	mapped, err := unix.Mmap(int(f.Fd()), int64(page), 8192, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return err.Error()
	}
	entry := uintptr(unsafe.Pointer(&mapped[code-page]))
	function := &entry
	run := *(*func())(unsafe.Pointer(&function))
	run()
	return worked
}
