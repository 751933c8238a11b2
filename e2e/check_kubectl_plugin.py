#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kubectl/kubectl-flamelet with stand-ins for kubectl and xdg-open, which note how they were called."""

import os
import stat
import subprocess
import sys
import tempfile

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kubectl", "kubectl-flamelet")

# As a cluster with the pod shop/cart-1 on node worker-2, and AGENTS there: lines of namespace, name and, once it is
# deleted, when.
KUBECTL = """#!/bin/sh
for argument; do printf '%s\\n' "$argument"; done >>"$CALLS"
echo >>"$CALLS"
case " $* " in
*" get pod "*)
	[ -n "$NO_POD" ] && { echo 'Error from server (NotFound): pods "cart-1" not found' >&2; exit 1; }
	printf 'shop %s' "$NODE" ;;
*" get pods "*)
	case " $* " in *"$FORBIDDEN"*) echo 'Error from server (Forbidden)' >&2; exit 1 ;; esac
	printf "$AGENTS" | while read -r namespace rest; do
		case " $* " in *" --all-namespaces "* | *" -n $namespace "*) echo "$namespace $rest" ;; esac
	done ;;
*" exec "*)
	printf '<html/>'
	[ -z "$SIGNAL" ] || kill -s "$SIGNAL" "$PPID"
	exit "$STATUS" ;;
esac
"""
OPENER = """#!/bin/sh
echo "$1" >>"$OPENED"
[ -z "$OPENER_SIGNAL" ] || kill -s "$OPENER_SIGNAL" "$PPID"
"""
SETTINGS = {"NO_POD": "", "NODE": "worker-2", "FORBIDDEN": "nothing", "AGENTS": "flamelet flamelet-x7 \\n",
            "SIGNAL": "", "OPENER_SIGNAL": "", "STATUS": "0"}
# Other programs that the script uses.
TOOLS = ("sh", "cat", "chmod", "date", "mktemp", "mv", "rm", "uname")
LABELS = "app.kubernetes.io/name=flamelet,app.kubernetes.io/component=agent"


class Run:
    """The plugin, to its end, in a directory of its own."""

    def __init__(self, *arguments, has_opener=True, prepare=lambda work: None, **settings):
        with tempfile.TemporaryDirectory(prefix="flamelet-kubectl-") as directory:
            bin_dir, work = f"{directory}/bin", f"{directory}/work"
            os.mkdir(bin_dir)
            os.mkdir(work)
            prepare(work)
            for tool in TOOLS:
                os.symlink(f"/bin/{tool}", f"{bin_dir}/{tool}")
            for name, text in {"kubectl": KUBECTL, "xdg-open": OPENER}.items():
                if name == "xdg-open" and not has_opener:
                    continue
                with open(f"{bin_dir}/{name}", "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(f"{bin_dir}/{name}", 0o755)
            calls, opened = f"{directory}/calls", f"{directory}/opened"
            done = subprocess.run(["/bin/sh", PLUGIN, *arguments], cwd=work, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=30, check=False, umask=0o027,
                                  env={"PATH": bin_dir, "CALLS": calls, "OPENED": opened, **SETTINGS,
                                       **settings})
            self.status, self.output, self.errors = done.returncode, done.stdout, done.stderr
            self.calls = [call.splitlines() for call in read(calls).split("\n\n") if call]
            self.opened = read(opened).splitlines()
            self.files = {name: read(f"{work}/{name}") for name in os.listdir(work) if os.path.isfile(f"{work}/{name}")}
            self.modes = {name: os.lstat(f"{work}/{name}").st_mode for name in os.listdir(work)}

    def expect(self, status, error=""):
        assert self.status == status, (self.status, self.errors)
        assert error in self.errors, (error, self.errors)


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_one_command():
    run = Run("shop/cart-1")
    run.expect(0, "recording pod shop/cart-1 on node worker-2 for 10s, in agent flamelet/flamelet-x7\n")
    get, agents, record = run.calls
    assert get == ["get", "pod", "cart-1", "-n", "shop", "-o",
                   "jsonpath={.metadata.namespace} {.spec.nodeName}"], get
    assert agents[:6] == ["get", "pods", "-n", "flamelet", "-l", LABELS], agents
    assert "spec.nodeName=worker-2,status.phase=Running" in agents, agents
    assert record == ["exec", "-n", "flamelet", "flamelet-x7", "-c", "flamelet", "--", "/usr/bin/flamelet", "record",
                      "-q", "-c", "/etc/flamelet/flamelet.yaml", "--pod", "shop/cart-1", "-d", "10s", "-F", "99",
                      "--format", "html", "-o", "-"], record
    (name, content), = run.files.items()
    assert name.startswith("flamelet-shop-cart-1-") and name.endswith("Z.html"), name
    assert content == "<html/>" and run.modes[name] == stat.S_IFREG | 0o640, (content, run.modes)
    assert run.output == f"{name}\n" and run.opened == [name], (run.output, run.opened)


def check_options():
    run = Run("-n", "shop", "cart-1", "-d", "30s", "--frequency=49", "-o", "my cart.pb.gz", "--format", "pprof",
              "--context", "dev", "--kubeconfig", "/a b/config", "--agent-namespace", "prof",
              "--agent-selector=app=profiler", AGENTS="prof agent-1\\n")
    run.expect(0)
    for call in run.calls:
        assert call[:2] == ["--context=dev", "--kubeconfig=/a b/config"], call
    assert run.calls[1][2:8] == ["get", "pods", "-n", "prof", "-l", "app=profiler"], run.calls[1]
    assert run.calls[2][-8:] == ["-d", "30s", "-F", "49", "--format", "pprof", "-o", "-"], run.calls[2]
    assert run.files == {"my cart.pb.gz": "<html/>"} and not run.opened, (run.files, run.opened)


def check_namespace_of_context():
    run = Run("cart-1", "--no-open")
    run.expect(0)
    assert "-n" not in run.calls[0] and "shop/cart-1" in run.calls[2], run.calls
    assert not run.opened and len(run.files) == 1


def check_name_as_kubectl_prints_it():
    for arguments in (("pod/cart-1",), ("-n", "shop", "pods/cart-1")):
        run = Run(*arguments)
        run.expect(0)
        assert run.calls[0][:3] == ["get", "pod", "cart-1"] and "pod" not in run.calls[0][3:], run.calls


def check_which_agent():
    """Anyone who may start pods can give a pod the agents' labels."""
    cases = (
        ("aaa evil \\nflamelet flamelet-x7 \\n", (), "flamelet/flamelet-x7"),
        ("profiling agent-1 \\n", (), "profiling/agent-1"),
        ("aaa evil \\nprofiling agent-1 \\n", (), None),
        ("aaa evil \\nprofiling agent-1 \\n", ("--agent-namespace", "profiling"), "profiling/agent-1"),
        ("flamelet old 2026-11-23T01:02:03Z\\nflamelet new \\n", (), "flamelet/new"),
        ("flamelet one \\nflamelet two \\n", (), None),
    )
    for agents, arguments, expected in cases:
        run = Run("shop/cart-1", *arguments, AGENTS=agents)
        execs = [call[2:4] for call in run.calls if call[0] == "exec"]
        if expected:
            run.expect(0, f"in agent {expected}\n")
            assert execs == [expected.split("/")], execs
        else:
            run.expect(1, "more than one pod on node worker-2 may be the agent; add --agent-namespace")
            assert all("/".join(line.split()[:2]) in run.errors for line in agents.split("\\n")), run.errors
            assert not execs and not run.files, (execs, run.files)
    run = Run("shop/cart-1", "--agent-namespace", "profiling", AGENTS="aaa evil \\n")
    run.expect(1, "no agent of Flamelet")


def check_standard_output():
    for name in ("-", "/dev/stdout"):
        run = Run("shop/cart-1", "-o", name)
        run.expect(0, "in agent flamelet/flamelet-x7\n")
        assert run.output == "<html/>" and not run.files and not run.opened, run.output


def check_files():
    def put(work):
        for name in ("x.svg", "x.svg.part"):
            with open(f"{work}/{name}", "w", encoding="utf-8") as file:
                file.write("mine")

    run = Run("shop/cart-1", "-o", "x.svg", prepare=put)
    run.expect(0)
    assert run.files == {"x.svg": "<html/>", "x.svg.part": "mine"}, run.files
    run = Run("shop/cart-1", "-o", "-x.svg")
    run.expect(0)
    assert run.files == {"-x.svg": "<html/>"} and run.opened == ["./-x.svg"], (run.files, run.opened)


def check_format():
    """The name of the file decides, like the agent's own -o; a word for the format comes first."""
    cases = (("x.html", (), "html"), ("x.svg", (), "svg"), ("-", (), "html"), ("/dev/stdout", (), "html"),
             ("a/x.pb.gz", (), "pprof"), ("x.pprof", (), "pprof"), ("x.folded", (), "folded"), ("x.txt", (), "folded"),
             ("x.speedscope.json", (), "speedscope"), ("x.firefox.json", (), "firefox"), ("x.json", (), "json"),
             ("x.csv", (), "csv"), ("x", ("--format", "svg"), "svg"), ("-", ("--format=folded",), "folded"))
    for name, arguments, expected in cases:
        run = Run("shop/cart-1", "-o", name, *arguments, prepare=lambda work: os.mkdir(f"{work}/a"))
        run.expect(0)
        assert run.calls[2][-4:] == ["--format", expected, "-o", "-"], (name, run.calls[2])
        assert run.opened == ([name] if expected in ("html", "svg") and name[0] == "x" else []), (name, run.opened)
    for name in ("x", "x.doc", "x.svg.bak", "x.json.gz"):
        Run("shop/cart-1", "-o", name).expect(2, f'-o: "{name}" has no known extension')


def check_what_is_no_file():
    """It stays what it is."""
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("nowhere", path), lambda path: os.symlink("/", path)):
        run = Run("shop/cart-1", "-o", "it.svg", prepare=lambda work, make=make: make(f"{work}/it.svg"))
        run.expect(1, "it.svg is not a plain file")
        assert list(run.modes) == ["it.svg"] and not stat.S_ISREG(run.modes["it.svg"]), run.modes
        assert not any("exec" in call for call in run.calls), run.calls


def check_interrupted():
    for name, status in (("INT", 130), ("TERM", 143), ("HUP", 129)):
        for output in ("x.svg", "-"):
            run = Run("shop/cart-1", "-o", output, SIGNAL=name, STATUS="1")
            run.expect(status, "the recording goes on in agent flamelet/flamelet-x7 until 10s are over")
            assert not run.files and not run.opened, (run.files, run.opened)
    run = Run("shop/cart-1", OPENER_SIGNAL="INT")
    assert "goes on" not in run.errors and len(run.files) == 1, (run.errors, run.files)


def check_no_opener():
    run = Run("shop/cart-1", has_opener=False)
    run.expect(0)
    assert run.output.endswith(".html\n") and len(run.files) == 1


def check_failures():
    """Each says why, and leaves no file behind."""
    cases = (
        (Run("shop/cart-1", NO_POD="1"), 1, "not found"),
        (Run("shop/cart-1", NODE=""), 1, "on no node yet"),
        (Run("shop/cart-1", AGENTS=""), 1, "no agent of Flamelet is running on node worker-2"),
        (Run("shop/cart-1", FORBIDDEN=" get pods "), 1, "--agent-namespace"),
        (Run("shop/cart-1", FORBIDDEN="--all-namespaces", AGENTS=""), 1, "--agent-namespace"),
        (Run("shop/cart-1", STATUS="3"), 1, "exit status 3"),
        (Run("shop/cart-1", "-o", "absent/x.svg"), 1, "absent/x.svg"),
        (Run(), 2, "which pod?"),
        (Run("a/b/c"), 2, "NAMESPACE/POD"),
        (Run("/a"), 2, "NAMESPACE/POD"),
        (Run("shop/"), 2, "NAMESPACE/POD"),
        (Run("shop/--kubeconfig=evil"), 2, "NAMESPACE/POD"),
        (Run("-n", "--kubeconfig=evil", "a"), 2, "NAMESPACE/POD"),
        (Run("a b"), 2, "NAMESPACE/POD"),
        (Run("shop/a", "-n", "bank"), 2, "not in namespace bank"),
        (Run("a", "b"), 2, "one pod at a time"),
        (Run("a", "--formt", "svg"), 2, "--formt is not an option"),
        (Run("a", "--format", "htm"), 2, "html, svg, pprof"),
        (Run("a", "-d"), 2, "a value is missing"),
        (Run("a", "-d", "0"), 2, "without a duration"),
        (Run("a", "-d", "-5s"), 2, "less than nothing"),
        (Run("a", "--no-open=false"), 2, "--no-open takes no value"),
        (Run("a", "--agent-selector="), 2, "without labels"),
        (Run("a", "--context", "x y"), 2, "not understood"),
    )
    for run, status, error in cases:
        run.expect(status, error)
        assert not run.files and not run.opened and not run.output, (run.files, run.output)
    assert not any("exec" in call for run, status, _ in cases if status == 2 for call in run.calls)
    assert not Run("shop/cart-1", "-o", "absent/x.svg").calls[2:], "it recorded before it looked at the file"


def main():
    assert "kubectl flamelet [NAMESPACE/]POD" in Run("--help").output
    check_one_command()
    check_options()
    check_namespace_of_context()
    check_name_as_kubectl_prints_it()
    check_which_agent()
    check_standard_output()
    check_files()
    check_format()
    check_what_is_no_file()
    check_interrupted()
    check_no_opener()
    check_failures()


if __name__ == "__main__":
    sys.exit(main())
