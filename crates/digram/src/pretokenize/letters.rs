//! The letters by which GPT-2 writes bytes, and Hugging Face's `ByteLevel` after it.

/// The letter of each byte: the character of Latin-1 if it can be printed, and otherwise one of those from U+0100 on.
pub(crate) fn letters() -> [char; 256] {
    let mut next = 0x100..;
    std::array::from_fn(|byte| match byte as u8 {
        printed @ (0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff) => char::from(printed),
        _ => next.next().and_then(char::from_u32).expect("characters after U+0100"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_letter_of_its_own() {
        let mut all = letters();
        assert_eq!((all[b'a' as usize], all[b' ' as usize], all[0xad]), ('a', 'Ġ', 'Ń'));
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
