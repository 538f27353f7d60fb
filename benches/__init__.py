"""Times digram against other tokenizers, in fresh processes that take turns.

    python -m benches                    everything
    python -m benches encode --quick     one table, on less text
    python -m benches --help             the others, and the options

Each measurement is a process of its own (`child`), which loads one program, does one thing, and
reports seconds and a digest of the result. The processes of several programs take turns, round
after round, so that a busy minute slows them all (`run`); the tables show medians. Outputs that
differ are marked, and the exit code is 1.

    data       the texts: whole documents of real corpora, never a text twice
    peers      how each program encodes and decodes
    trainers   how each program trains
    texts      the texts that training is measured on
    corpus     a gigabyte of real text, made once: python -m benches.corpus
    html       HTML to text
    child      one measurement
    limits     how much time and memory it may take
    run        many of them, taking turns
    journal    what was measured, kept, so that a table can go on
    tables     Markdown
    encode, load, calls, decode, train, shapes     what is compared
"""
