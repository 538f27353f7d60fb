//! Texts that are looked up from a place on: the longest that stands there.

use std::ops::Range;

/// Any number of texts. A look-up takes a step for each byte that some of them begin with.
pub(super) struct Trie {
    /// The nodes of first bytes, 0 where no text begins so: most places of a text go no further.
    firsts: Box<[u32; 256]>,
    nodes: Vec<TrieNode>,
    max_bytes: usize,
    /// For each node the byte that leads to it.
    bytes: Vec<u8>,
}

/// The nodes that follow a node stand side by side, in the order of their bytes.
#[derive(Clone, Copy)]
struct TrieNode {
    next: u32,
    count: u16,
    /// Whether a text ends here.
    ends: bool,
}

impl Trie {
    /// A trie of texts, none of which is empty.
    pub(super) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Trie {
        let mut texts: Vec<&[u8]> = texts.into_iter().map(str::as_bytes).collect();
        texts.sort_unstable();
        texts.dedup();
        let root = TrieNode { next: 0, count: 0, ends: false };
        let mut trie = Trie { firsts: Box::new([0; 256]), nodes: vec![root], bytes: vec![0], max_bytes: 0 };
        trie.max_bytes = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        // What comes through a node begins alike for so many bytes.
        let mut waiting: Vec<(usize, Range<usize>, usize)> = vec![(0, 0..texts.len(), 0)];
        while let Some((node, mut range, depth)) = waiting.pop() {
            // The shorter of texts that begin alike comes first.
            if !range.is_empty() && texts[range.start].len() == depth {
                trie.nodes[node].ends = true;
                range.start += 1;
            }
            trie.nodes[node].next = trie.nodes.len() as u32;
            for group in texts[range.clone()].chunk_by(|a, b| a[depth] == b[depth]) {
                waiting.push((trie.nodes.len(), range.start..range.start + group.len(), depth + 1));
                range.start += group.len();
                trie.nodes[node].count += 1;
                trie.nodes.push(TrieNode { next: 0, count: 0, ends: false });
                trie.bytes.push(group[0][depth]);
            }
        }
        for first in 1..=usize::from(trie.nodes[0].count) {
            trie.firsts[usize::from(trie.bytes[first])] = first as u32;
        }
        trie
    }

    /// Whether there is no text in it.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.len() <= 1
    }

    /// Where the longest of its texts ends that stands in `text` at `start` and may end there.
    #[inline]
    pub(super) fn longest(
        &self,
        text: &[u8],
        start: usize,
        may_end: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let first = self.firsts[usize::from(*text.get(start)?)] as usize;
        if first == 0 { None } else { self.longest_from(first, text, start, may_end) }
    }

    /// Whether one of its texts begins with `text`.
    pub(super) fn leads_through(&self, text: &[u8]) -> bool {
        let Some((&first, rest)) = text.split_first() else { return !self.is_empty() };
        let mut node = self.firsts[usize::from(first)] as usize;
        for &byte in rest {
            if node == 0 {
                return false;
            }
            let TrieNode { next, count, .. } = self.nodes[node];
            let next = next as usize..next as usize + usize::from(count);
            let found = self.bytes[next.clone()].iter().position(|&other| other == byte);
            node = found.map_or(0, |found| next.start + found);
        }
        node > 0
    }

    /// How many bytes its longest text has.
    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// The same from the node of the first byte on.
    fn longest_from(
        &self,
        first: usize,
        text: &[u8],
        start: usize,
        may_end: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut node = &self.nodes[first];
        let mut longest = (node.ends && may_end(start + 1)).then_some(start + 1);
        for (number, &byte) in text.iter().enumerate().skip(start + 1) {
            let next = node.next as usize..node.next as usize + usize::from(node.count);
            let found = self.bytes[next.clone()].iter().position(|&other| other == byte);
            let Some(found) = found else { break };
            node = &self.nodes[next.start + found];
            if node.ends && may_end(number + 1) {
                longest = Some(number + 1);
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_text_that_may_end_is_found() {
        let trie = Trie::new(["ab", "abc", "b", "é", "abcdef", "ab"]);
        let longest = |text: &str, start| trie.longest(text.as_bytes(), start, |_| true);
        assert_eq!(longest("abcdeabcdef", 0), Some(3));
        assert_eq!(longest("abcdeabcdef", 5), Some(11));
        assert_eq!(longest("xé", 1), Some(3));
        assert_eq!(longest("a", 0), None);
        assert_eq!(longest("", 0), None);
        assert_eq!(trie.longest(b"abc", 0, |end| end < 3), Some(2));
        for (text, expected) in [("ab", true), ("abcd", true), ("abd", false), ("x", false), ("xa", false)] {
            assert_eq!(trie.leads_through(text.as_bytes()), expected, "{text}");
        }
        assert!(trie.leads_through(b"") && !Trie::new([]).leads_through(b""));
        assert!(!trie.is_empty() && Trie::new([]).is_empty());
        assert_eq!(Trie::new([]).longest(b"a", 0, |_| true), None);
    }
}
