//! Vocabularies by hand.

use digram::merges::Merge;

/// Adds the token of each pair to `tokens`, and returns the merges.
pub fn merged(tokens: &mut Vec<Option<Vec<u8>>>, pairs: &[(u32, u32)]) -> Vec<Merge> {
    let mut merges = Vec::new();
    for &(left, right) in pairs {
        let id = tokens.len() as u32;
        let part = |id: u32| tokens[id as usize].as_deref().unwrap();
        let token = [part(left), part(right)].concat();
        tokens.push(Some(token));
        merges.push(Merge { left, right, id });
    }
    merges
}
