// SPDX-License-Identifier: Apache-2.0
//! Threads of Rust that wait for locks of its standard library. Prints how long each of them waited, by its own clock:
//!
//!     locks SECONDS

use std::sync::{Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

const WARM_UP: Duration = Duration::from_millis(1500);

static TABLE: Mutex<u64> = Mutex::new(0);
static INDEX: RwLock<u64> = RwLock::new(0);
static HAS_WORK: Mutex<bool> = Mutex::new(false);
static WORK: Condvar = Condvar::new();

fn sleep_ms(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

#[inline(never)]
fn hold_locks() -> Duration {
    let table = TABLE.lock().unwrap();
    sleep_ms(20);
    drop(table);
    let index = INDEX.write().unwrap();
    sleep_ms(20);
    drop(index);
    let index = INDEX.read().unwrap();
    sleep_ms(5);
    drop(index);
    WORK.notify_all(); // from then on the word for which others wait is not 0
    Duration::ZERO
}

#[inline(never)]
fn read_table() -> Duration {
    let begin = Instant::now();
    let table = TABLE.lock().unwrap();
    let waited = begin.elapsed();
    drop(table);
    sleep_ms(1);
    waited
}

#[inline(never)]
fn read_index() -> Duration {
    let begin = Instant::now();
    let index = INDEX.read().unwrap();
    let waited = begin.elapsed();
    drop(index);
    sleep_ms(1);
    waited
}

#[inline(never)]
fn write_index() -> Duration {
    let begin = Instant::now();
    let index = INDEX.write().unwrap();
    let waited = begin.elapsed();
    drop(index);
    sleep_ms(1);
    waited
}

/// This and the next one wait for no lock.
#[inline(never)]
fn wait_for_work() -> Duration {
    let has_work = HAS_WORK.lock().unwrap();
    drop(WORK.wait_timeout(has_work, Duration::from_millis(20)).unwrap());
    Duration::ZERO
}

#[inline(never)]
fn wait_parked() -> Duration {
    thread::park_timeout(Duration::from_millis(20));
    Duration::ZERO
}

/// The thread that counts has the name of the function.
fn run(name: &'static str, work: fn() -> Duration, length: Duration) {
    let warm = Instant::now() + WARM_UP;
    while Instant::now() < warm {
        work();
    }
    let counting = thread::Builder::new().name(name.to_string()).spawn(move || {
        let end = Instant::now() + length;
        let mut waited = Duration::ZERO;
        while Instant::now() < end {
            waited += work();
        }
        waited
    });
    println!("{} {:.6}", name, counting.unwrap().join().unwrap().as_secs_f64());
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3.0);
    let works: [(&'static str, fn() -> Duration); 6] = [
        ("hold_locks", hold_locks),
        ("read_table", read_table),
        ("read_index", read_index),
        ("write_index", write_index),
        ("wait_for_work", wait_for_work),
        ("wait_parked", wait_parked),
    ];
    let threads: Vec<_> = works
        .iter()
        .map(|&(name, work)| thread::spawn(move || run(name, work, Duration::from_secs_f64(seconds))))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
