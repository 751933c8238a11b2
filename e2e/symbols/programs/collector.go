// SPDX-License-Identifier: Apache-2.0

// Maps, strings, sorting, and goroutines, with much to collect for the runtime.
package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

func count(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[word]++
	}
	return counts
}

func work(results chan<- int) {
	for seed := 1; ; seed++ {
		var text strings.Builder
		for i := 0; i < 500; i++ {
			fmt.Fprintf(&text, "w%d ", i*seed%97)
		}
		counts := count(text.String())
		words := make([]string, 0, len(counts))
		for word := range counts {
			words = append(words, word)
		}
		sort.Slice(words, func(a, b int) bool { return counts[words[a]] < counts[words[b]] })
		packed, _ := json.Marshal(counts)
		results <- len(packed) + len(words)
	}
}

func main() {
	results := make(chan int)
	for i := 0; i < 2; i++ {
		go work(results)
	}
	for total := 0; ; {
		total += <-results
	}
}
