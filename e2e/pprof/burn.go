// SPDX-License-Identifier: Apache-2.0

// Spends all its time in hot().
package main

var sum uint64

//go:noinline
func hot(n uint64) uint64 {
	x := n
	for i := 0; i < 1000; i++ {
		x = x*6364136223846793005 + 1 // here
	}
	return x
}

func main() {
	for i := uint64(0); ; i++ {
		sum += hot(i)
	}
}
