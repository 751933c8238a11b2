// SPDX-License-Identifier: Apache-2.0
// Rust: iterators, trait objects, panics that are caught.
use std::collections::HashMap;
use std::hint::black_box;
use std::panic;

trait Shape {
    fn area(&self, x: u64) -> u64;
}

struct Square;

struct Nested(Box<dyn Shape>);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, x: u64) -> u64 {
        (0..40 + x % 16).fold(1, |sum: u64, i| black_box(sum.wrapping_mul(31).wrapping_add(i)))
    }
}

impl Shape for Nested {
    #[inline(never)]
    fn area(&self, x: u64) -> u64 {
        self.0.area(x + 1).wrapping_add(1)
    }
}

#[inline(never)]
fn descend(x: u64, depth: u64) -> u64 {
    let text = "x".repeat(depth as usize);
    if depth == 0 && x % 4 == 0 {
        panic!("expected");
    }
    if depth == 0 { x } else { descend(x, depth - 1) + text.len() as u64 }
}

#[inline(never)]
fn attempt(x: u64) -> u64 {
    panic::catch_unwind(|| descend(x, x % 30)).unwrap_or(1)
}

#[inline(never)]
fn words(x: u64) -> usize {
    let text: String = (0..50).map(|i| format!("word{} ", (x + i) % 13)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    sorted.len()
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let shape: Box<dyn Shape> = (0..10).fold(Box::new(Square), |inside: Box<dyn Shape>, _| Box::new(Nested(inside)));
    for x in 0.. {
        black_box(attempt(x));
        for i in 0..20 {
            black_box(shape.area(x + i));
        }
        black_box(words(x));
    }
}
