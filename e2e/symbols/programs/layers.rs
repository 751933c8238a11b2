/* SPDX-License-Identifier: Apache-2.0 */
/* The same as layers.cpp. */
use std::hint::black_box;

#[inline(always)]
fn mix(mut x: u64) -> u64 /* begin mix */ {
    let mut i = 0;
    while i < 256 { /* @mix */
        x = (x ^ x >> 7).wrapping_mul(0x9e3779b97f4a7c15); /* @mix */
        i += 1; /* @mix */
    }
    x
}

#[inline(always)]
fn twist(x: u64) -> u64 /* begin twist */ {
    mix(x + 1) ^ x /* @twist */
}

#[inline(never)]
fn step(mut x: u64) -> u64 /* begin step @step */ {
    let mut i = 0;
    while i < 64 { /* @step */
        x = black_box(x ^ twist(x)) >> 1; /* @step */
        i += 1; /* @step */
    }
    x /* @step */
} /* @step */

#[inline(never)]
fn drive(mut x: u64) -> u64 /* begin drive @drive */ {
    let mut i = 0;
    while i < 64 { /* @drive */
        x = step(black_box(x)); /* @drive */
        i += 1; /* @drive */
    }
    x /* @drive */
} /* @drive */

fn main() {
    let mut x = 1;
    loop {
        x = drive(black_box(x));
    }
}
