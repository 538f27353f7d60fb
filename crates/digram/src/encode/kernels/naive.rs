//! Merging exactly as defined, without optimizations: the reference for the tests of the kernels.

use crate::merges::{Merge, Merges};
use crate::vocabulary::{TokenId, Vocabulary};

/// The lowest rank first, the leftmost first, until no merge applies.
pub(crate) fn merge(mut ids: Vec<TokenId>, merges: &[Merge]) -> Vec<TokenId> {
    let rank = |pair: &[TokenId]| merges.iter().position(|merge| [merge.left, merge.right] == pair);
    let ranks = |ids: &[TokenId]| -> Option<(usize, usize)> {
        ids.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(pair)?, at))).min()
    };
    while let Some((rank, at)) = ranks(&ids) {
        ids.splice(at..at + 2, [merges[rank].id]);
    }
    ids
}

/// Random numbers below a given one, the same in every run.
pub(in crate::encode) fn random() -> impl FnMut(usize) -> usize {
    let mut state = 1u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

/// Merges of different pairs, as a list and as the kernels take them. The base tokens are four bytes with
/// the ids 0 to 3; the ids of the tokens that are made start at `first`. In every second list, merges that
/// make the same bytes make the same token; with few parts that is frequent, and the list is not rising.
pub(super) fn random_merges(
    next: &mut impl FnMut(usize) -> usize,
    first: usize,
    count: usize,
) -> (Vec<Merge>, Merges, Vocabulary) {
    let mut tokens: Vec<Vec<u8>> = (0..4).map(|byte| vec![byte]).collect();
    tokens.resize_with(first, Vec::new);
    let (share_tokens, mut list) = (next(2) == 0, Vec::<Merge>::new());
    while list.len() < count {
        let parts = if share_tokens { list.len().min(12) } else { list.len() };
        let mut part = || match next(4 + parts) {
            byte @ 0..4 => byte as TokenId,
            made => list[made - 4].id,
        };
        let (left, right) = (part(), part());
        if list.iter().all(|merge| (merge.left, merge.right) != (left, right)) {
            let bytes = [&tokens[left as usize][..], &tokens[right as usize]].concat();
            let same = tokens.iter().position(|token| *token == bytes).filter(|_| share_tokens);
            let id = same.unwrap_or(tokens.len());
            list.push(Merge { left, right, id: id as TokenId });
            if id == tokens.len() {
                tokens.push(bytes);
            }
        }
    }
    let tokens = tokens.into_iter().map(|token| Some(token).filter(|token| !token.is_empty()));
    let vocabulary = Vocabulary::new(tokens).unwrap();
    let merges = Merges::new(list.clone(), &vocabulary).unwrap();
    (list, merges, vocabulary)
}
