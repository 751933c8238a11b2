/* SPDX-License-Identifier: Apache-2.0 */
/* Generic functions of the library, inlined into each other. */
use std::collections::{BTreeMap, HashMap};

fn words(seed: u64) -> Vec<String> {
    (0..500).map(|i| format!("{}{}", char::from(b'a' + (i % 26) as u8), i * seed % 997)).collect()
}

fn count(words: &[String]) -> HashMap<&str, usize> {
    words.iter().flat_map(|word| word.split('9')).fold(HashMap::new(), |mut counts, part| {
        *counts.entry(part).or_default() += 1;
        counts
    })
}

fn main() {
    let mut total = 1;
    loop {
        let mut list = words(total);
        list.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| b.cmp(a)));
        let ordered: BTreeMap<_, _> = count(&list).into_iter().filter(|(key, _)| !key.is_empty()).collect();
        total = 1 + ordered.values().map(|n| *n as u64).sum::<u64>() % 89;
    }
}
