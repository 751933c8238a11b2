// SPDX-License-Identifier: Apache-2.0

// The same as layers.cpp.
package main

var sink uint64

func mix(x uint64) uint64 { // begin mix
	for i := 0; i < 256; i++ { // @mix
		x = (x ^ x>>7) * 0x9e3779b97f4a7c15 // @mix
	}
	return x // @mix
}

func twist(x uint64) uint64 { // begin twist
	return mix(x+1) ^ x // @twist
}

//go:noinline
func step(x uint64) uint64 { // begin step @step
	for i := 0; i < 64; i++ { // @step
		x += twist(x) // @step
	}
	return x // @step
} // @step

//go:noinline
func drive() { // begin drive @drive
	for i := 0; i < 64; i++ { // @drive
		sink = step(sink) // @drive
	}
} // @drive

func main() {
	for {
		drive()
	}
}
