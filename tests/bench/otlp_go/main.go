// SPDX-License-Identifier: Apache-2.0

// What it takes to encode an OTLP profiles request with the official Go structs. It is decoded first: building the structs
// and tables from samples is not counted.
//
//	otlp_go BODY		bytes, ns of CPU time
package main

import (
	"fmt"
	"os"
	"syscall"
	"time"

	profiles "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
)

const measure = time.Second

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func run(path string) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// ProfilesData is on the wire what the request is.
	var request profiles.ProfilesData
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	start, rounds, length := cpuTime(), 0, 0
	for ; cpuTime()-start < measure; rounds++ {
		encoded, err := proto.Marshal(&request)
		if err != nil {
			return err
		}
		length = len(encoded)
	}
	fmt.Println(length, int64(cpuTime()-start)/int64(rounds))
	return nil
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
