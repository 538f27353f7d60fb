//! A trie, which finds the longest of many texts at a position.

use std::ops::Range;

/// A set of texts. A look-up takes one step for each byte of the longest matching prefix.
pub(crate) struct Trie {
    /// The node of each first byte, or 0. Most look-ups end here.
    firsts: Box<[u32; 256]>,
    nodes: Vec<TrieNode>,
    max_bytes: usize,
    /// For each node, the byte that leads to it.
    bytes: Vec<u8>,
}

/// A node, whose children are consecutive, in the order of their bytes.
#[derive(Clone, Copy)]
struct TrieNode {
    first_child: u32,
    children: u16,
    /// Whether a text ends here.
    ends: bool,
}

impl TrieNode {
    /// The indices of its children.
    fn children(self) -> Range<usize> {
        self.first_child as usize..self.first_child as usize + usize::from(self.children)
    }
}

impl Trie {
    /// A trie of texts, none of which is empty.
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Trie {
        let mut texts: Vec<&[u8]> = texts.into_iter().map(str::as_bytes).collect();
        texts.sort_unstable();
        texts.dedup();
        let root = TrieNode { first_child: 0, children: 0, ends: false };
        let mut trie = Trie { firsts: Box::new([0; 256]), nodes: vec![root], bytes: vec![0], max_bytes: 0 };
        trie.max_bytes = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        // The node, the range of texts with its prefix, and the length of the prefix.
        let mut stack: Vec<(usize, Range<usize>, usize)> = vec![(0, 0..texts.len(), 0)];
        while let Some((node, mut range, depth)) = stack.pop() {
            // The text that equals the prefix is the first.
            if !range.is_empty() && texts[range.start].len() == depth {
                trie.nodes[node].ends = true;
                range.start += 1;
            }
            trie.nodes[node].first_child = trie.nodes.len() as u32;
            for group in texts[range.clone()].chunk_by(|a, b| a[depth] == b[depth]) {
                stack.push((trie.nodes.len(), range.start..range.start + group.len(), depth + 1));
                range.start += group.len();
                trie.nodes[node].children += 1;
                trie.nodes.push(TrieNode { first_child: 0, children: 0, ends: false });
                trie.bytes.push(group[0][depth]);
            }
        }
        for first in 1..=usize::from(trie.nodes[0].children) {
            trie.firsts[usize::from(trie.bytes[first])] = first as u32;
        }
        trie
    }

    /// Whether it contains no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.len() <= 1
    }

    /// The end of the longest of its texts that is at `start` of `text` and whose end `may_end` accepts.
    #[inline]
    pub(crate) fn longest(
        &self,
        text: &[u8],
        start: usize,
        may_end: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let first = self.firsts[usize::from(*text.get(start)?)] as usize;
        if first == 0 { None } else { self.longest_from(first, text, start, may_end) }
    }

    /// Whether one of its texts begins with `text`.
    pub(crate) fn has_prefix(&self, text: &[u8]) -> bool {
        let Some((&first, rest)) = text.split_first() else { return !self.is_empty() };
        let mut node = self.firsts[usize::from(first)] as usize;
        for &byte in rest {
            if node == 0 {
                return false;
            }
            let children = self.nodes[node].children();
            let child = self.bytes[children.clone()].iter().position(|&other| other == byte);
            node = child.map_or(0, |child| children.start + child);
        }
        node > 0
    }

    /// The length of its longest text, in bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Continues from the node of the first byte.
    fn longest_from(
        &self,
        first: usize,
        text: &[u8],
        start: usize,
        may_end: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut node = &self.nodes[first];
        let mut longest = (node.ends && may_end(start + 1)).then_some(start + 1);
        for (offset, &byte) in text.iter().enumerate().skip(start + 1) {
            let children = node.children();
            let child = self.bytes[children.clone()].iter().position(|&other| other == byte);
            let Some(child) = child else { break };
            node = &self.nodes[children.start + child];
            if node.ends && may_end(offset + 1) {
                longest = Some(offset + 1);
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
            assert_eq!(trie.has_prefix(text.as_bytes()), expected, "{text}");
        }
        assert!(trie.has_prefix(b"") && !Trie::new([]).has_prefix(b""));
        assert!(!trie.is_empty() && Trie::new([]).is_empty());
        assert_eq!(Trie::new([]).longest(b"a", 0, |_| true), None);
    }
}
