//! What calls keep in memory for the next ones stays small, however long a run of text was, and
//! whether it was encoded to its end or not. A program of its own, since it counts all memory.

#[path = "public/merged.rs"]
mod merged;
#[path = "public/patience.rs"]
mod patience;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use digram::encode::{Algorithm, OnUnknown, Unit};
use digram::interrupt::Interrupt;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::{Definition, Never, OnSpecial, Tokenizer};

use merged::merged;
use patience::Patience;

/// Bytes that are allocated now.
static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counted;

// SAFETY: all is left to the system; only the sizes are added up.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps to what the system asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

/// Beside the tables of remembered words, which short texts of one kind leave nearly empty.
const MAX: usize = 3 << 19;
const LONG: usize = 600_000;

fn tokenizer(pairs: &[(u32, u32)], stages: &[Stage], on_characters: bool) -> Tokenizer {
    let mut tokens: Vec<Option<Vec<u8>>> = (0..128).map(|byte| Some(vec![byte])).collect();
    tokens.extend((128..=255).map(|byte| if on_characters { None } else { Some(vec![byte]) }));
    let merges = merged(&mut tokens, pairs);
    Tokenizer::new(Definition {
        tokens,
        merges,
        unit: match on_characters {
            false => Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
            true => Unit::Char { on_unknown: OnUnknown::Fail },
        },
        pipeline: Pretokenizer::new(stages).unwrap().into(),
        algorithm: Algorithm::RANKED,
    })
    .unwrap()
}

/// How many bytes stay when `work` is done, of which the tokenizer knows no more than before.
fn kept(tokenizer: &Tokenizer, work: impl Fn()) -> usize {
    work();
    tokenizer.forget();
    let before = LIVE.load(Ordering::Relaxed);
    work();
    LIVE.load(Ordering::Relaxed) - before
}

#[test]
fn little_is_kept_of_long_runs() {
    let doubling = [(97, 97), (256, 256), (257, 257), (97, 98), (99, 97)];
    let words = Stage::Pattern(r"\w+|\W".into());
    let tokenizers = [
        tokenizer(&doubling, &[], false),
        tokenizer(&doubling, std::slice::from_ref(&words), false),
        tokenizer(&doubling, &[], true),
    ];
    let of = |piece: &str, len: usize| piece.repeat(len / piece.len());
    let texts = [
        of("a", LONG),
        "c".to_string() + &of("a", LONG),
        "語".to_string() + &of("a", LONG),
        of("ab", LONG),
        // Pretokens that are long, but not so long that each is encoded alone.
        of(&(of("ab", 16_000) + " "), LONG),
        // An error at the end, where only ASCII is known.
        of("a", LONG) + "語",
    ];
    for tokenizer in &tokenizers {
        for text in &texts {
            let text = text.as_bytes();
            let encode = |interrupt: &dyn Interrupt| {
                _ = tokenizer.encode(text, OnSpecial::Text, interrupt, &mut Vec::new());
                _ = tokenizer.count(text, OnSpecial::Text, interrupt);
            };
            let place = String::from_utf8_lossy(&text[..6]);
            let bytes = kept(tokenizer, || encode(&Never));
            assert!(bytes < MAX, "{bytes} bytes kept of {place}");
            for asked in [1, 5, 15, 30] {
                let bytes = kept(tokenizer, || encode(&Patience::new(asked)));
                assert!(bytes < MAX, "{bytes} bytes kept of {place}, stopped at question {asked}");
            }
        }
    }
}
