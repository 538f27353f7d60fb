//! Every long operation checks its interrupt regularly, whatever the text is, and stops when it fails.

use std::sync::LazyLock;

use digram::encode::{Algorithm, Dropout, Unit};
use digram::interrupt::Interrupt;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::tokenizer::{Decoder, EncodedTexts, OffsetUnit, OnInvalid, Running, Side, Stream, WithDropout};
use digram::{Definition, Error, Never, OnSpecial, Result, Tokenizer};

use crate::merged::merged;
use crate::patience::Patience;

/// The interrupt is checked at least every 64 KiB.
const BYTES: usize = 1 << 19;
const ASKED: usize = 5;

const PUBLISHED: &str =
    r"'(?i:[sdmt]|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Pretokenizers of all kinds: decided by neighbours, by steps, by look-behind, with failing look-ahead, in several
/// stages, and with look-around of any length.
fn stages() -> [Vec<Stage>; 9] {
    let pattern = |pattern: &str| Stage::Pattern(pattern.into());
    [
        vec![],
        vec![pattern(PUBLISHED)],
        vec![pattern(r"\b\w+\b|^\W|\W+")],
        vec![pattern(r"a+b|x")],
        vec![pattern(r"\p{L}\p{M}*x|\s+y")],
        vec![Stage::ThreesFromRight, pattern(PUBLISHED)],
        vec![pattern(r"\p{N}{1,3}"), pattern(r"[一-龥]+"), pattern(PUBLISHED)],
        vec![pattern(r"(?<=b.*)a|(?=a+b)\w|(?!.*x)1+y")],
        vec![pattern(r"(?<=\w{2})a(?=\w)|\s(?!\s{3})")],
    ]
}

static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let tokenizer = |stages: &Vec<Stage>| {
        let mut tokens: Vec<Option<Vec<u8>>> = (0..=255).map(|byte| Some(vec![byte])).collect();
        let merges =
            merged(&mut tokens, &[(97, 97), (256, 256), (32, 32), (49, 49), (0xe8, 0xaa), (260, 0x9e)]);
        Tokenizer::new(Definition {
            tokens,
            merges,
            unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
            pipeline: Pretokenizer::new(stages).unwrap().into(),
            algorithm: Algorithm::RANKED,
        })
        .unwrap()
    };
    stages().iter().map(tokenizer).collect()
});

fn texts() -> Vec<Vec<u8>> {
    let pieces: [&[u8]; 9] =
        [b"a", b" ", b"1", b"\n", "語".as_bytes(), "\u{301}".as_bytes(), b"\x80", b"aa 1!\n", b"1\x80\x80"];
    pieces.iter().map(|piece| piece.repeat(BYTES / piece.len())).collect()
}

type Work = fn(&Tokenizer, &[u8], &dyn Interrupt) -> Result<()>;

const TEXT: OnSpecial<'static> = OnSpecial::Text;

const WORK: [(&str, Work); 14] = [
    ("split", |tok, text, interrupt| tok.pretokenizer().ends(text, interrupt).map(drop)),
    ("encode", |tok, text, interrupt| tok.encode(text, TEXT, interrupt, &mut Vec::new())),
    ("count", |tok, text, interrupt| tok.count(text, TEXT, interrupt).map(drop)),
    ("dropout", |tok, text, interrupt| {
        let mut dropout = WithDropout::new(&Dropout::new(0.1, 7).unwrap());
        tok.encode_with_dropout(text, TEXT, &mut dropout, interrupt, &mut Vec::new())
    }),
    ("stream", |tok, text, interrupt| {
        let mut stream = Stream::new(usize::MAX);
        tok.push(&mut stream, text, TEXT, interrupt, &mut Vec::new())?;
        tok.finish(stream, TEXT, interrupt, &mut Vec::new())
    }),
    ("fits", |tok, text, interrupt| tok.fits(text, text.len(), TEXT, interrupt).map(drop)),
    ("beginning", |tok, text, interrupt| {
        tok.truncate(text, text.len() / 9, Side::Right, TEXT, interrupt).map(drop)
    }),
    ("end", |tok, text, interrupt| tok.truncate(text, text.len() / 9, Side::Left, TEXT, interrupt).map(drop)),
    ("chunks", |tok, text, interrupt| tok.chunks(text, 1000, 10, interrupt).map(drop)),
    ("intervals", |tok, text, interrupt| tok.intervals(text, interrupt).map(drop)),
    ("append", |tok, text, interrupt| {
        let mut running = Running::default();
        running.append(tok, text, interrupt)?;
        running.count(tok, interrupt).map(drop)
    }),
    ("prepend", |tok, text, interrupt| {
        let mut running = Running::default();
        running.prepend(tok, text, interrupt)?;
        running.count(tok, interrupt).map(drop)
    }),
    ("decode", |tok, text, interrupt| {
        let ids: Vec<u32> = text.iter().map(|&byte| byte.into()).collect();
        tok.decode(&ids, interrupt, &mut Vec::new())
    }),
    ("decode as it comes", |tok, text, interrupt| {
        let ids: Vec<u32> = text.iter().map(|&byte| byte.into()).collect();
        Decoder::new(OnInvalid::Replace).push(tok, &ids, interrupt).map(drop)
    }),
];

#[test]
fn all_long_work_can_be_stopped() {
    let mut missed = Vec::new();
    for (number, tokenizer) in TOKENIZERS.iter().enumerate() {
        for text in texts() {
            for (name, work) in WORK {
                let patience = Patience::new(ASKED);
                let stopped = work(tokenizer, &text, &patience);
                let asked = patience.asked.get();
                let place =
                    format!("{name}, pretokenizer {number}, {:?}", String::from_utf8_lossy(&text[..9]));
                // Without a cut there is nothing to split, and it takes no time.
                if (name, number) != ("split", 0) && (&stopped, asked) != (&Err(Error::Interrupted), ASKED) {
                    missed.push((place, stopped, asked));
                }
            }
        }
    }
    assert_eq!(missed, []);
}

#[test]
fn work_on_threads_can_be_stopped() {
    // Each is one task, too short for a check while splits are searched for. It is asked
    // once before each, so one question more comes from inside.
    let texts = vec![vec![b'a'; 1 << 17]; 2];
    let asked = texts.len() + 1;
    for tokenizer in &*TOKENIZERS {
        // Only the calling thread asks, and the other may have left it nothing to do.
        let stopped = (0..100).any(|_| {
            let patience = Patience::new(asked);
            let result = tokenizer.encode_batch(&texts, TEXT, 2, &patience);
            assert_eq!(result.is_err(), patience.asked.get() >= asked);
            matches!(result, Err((_, Error::Interrupted)))
        });
        assert!(stopped);
    }
}

#[test]
fn finding_where_tokens_stand_can_be_stopped() {
    for (number, tokenizer) in TOKENIZERS.iter().enumerate() {
        for text in texts() {
            let texts = [&text[..]];
            let (ids, bounds) = tokenizer.encode_batch(&texts, TEXT, 1, &Never).unwrap();
            let encoded = EncodedTexts { texts: &texts, special: TEXT, ids: &ids, bounds: &bounds };
            for numbers in [false, true] {
                let patience = Patience::new(ASKED);
                let stopped = match numbers {
                    false => tokenizer.spans(&encoded, |_| OffsetUnit::Utf16, 1, &patience).map(drop),
                    true => tokenizer.pretoken_numbers(&encoded, 1, &patience).map(drop),
                };
                assert_eq!(
                    stopped,
                    Err(Error::Interrupted),
                    "{number} {:?}",
                    String::from_utf8_lossy(&text[..9])
                );
            }
        }
    }
}
