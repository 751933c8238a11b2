// SPDX-License-Identifier: Apache-2.0
// Spends all its time in hot().
use std::hint::black_box;

#[inline(never)]
#[no_mangle]
pub fn hot(n: u64) -> u64 {
    let mut x = n;
    let mut i = 0;
    while i < 1000 {
        x = (x ^ i) << 1 | x >> 63; // here
        i += 1;
    }
    x
}

fn main() {
    let mut n = 0;
    loop {
        n = black_box(hot(n));
    }
}
