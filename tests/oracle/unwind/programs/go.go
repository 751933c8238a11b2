// SPDX-License-Identifier: Apache-2.0

// Go: goroutines, garbage, maps, sorting, channels, panics that are recovered.
package main

import (
	"fmt"
	"sort"
	"strings"
)

var sink int

//go:noinline
func descend(x, depth int) int {
	var frame [16]int
	frame[x%16] = depth
	if depth == 0 {
		if x%8 == 0 {
			panic("expected")
		}
		return frame[x%16] + x
	}
	return descend(x+1, depth-1) + frame[(x+1)%16]
}

func attempt(x int) (result int) {
	defer func() {
		if recover() != nil {
			result = 1
		}
	}()
	return descend(x, x%40)
}

func words(x int) int {
	counts := map[string]int{}
	for _, word := range strings.Fields(strings.Repeat(fmt.Sprintf("a%d b%d c ", x%7, x%11), 20)) {
		counts[word]++
	}
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return len(keys)
}

func tree(depth int) *[2]any {
	if depth == 0 {
		return &[2]any{}
	}
	return &[2]any{tree(depth - 1), tree(depth - 1)}
}

func worker(results chan<- int) {
	for x := 0; ; x++ {
		sum := attempt(x) + words(x)
		if tree(6)[0] != nil {
			sum++
		}
		results <- sum
	}
}

func main() {
	results := make(chan int, 16)
	for i := 0; i < 4; i++ {
		go worker(results)
	}
	for result := range results {
		sink += result
	}
}
