"""Rules of a domain on and off: what they cost, and what becomes of terms without them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benches.adapt import learned_and_held_out
from benches.data import MB, vocabulary
from benches.run import Options, Task, take_turns
from benches.tables import markdown, number

if TYPE_CHECKING:
    import digram
    from digram.analysis.rule_check import Kind

SIZE = 32_000
ROWS = {
    "published": "o200k",
    "published-ruled": "o200k, with rules",
    "domain": f"medical text, {SIZE:,}",
    "domain-ruled": f"medical text, {SIZE:,}, rules",
}
KINDS: tuple[Kind, ...] = ("terms", "abbreviations", "units", "numbers")
DRUGS = [
    "acetaminophen", "acyclovir", "albuterol", "amlodipine", "amoxicillin", "ampicillin",
    "aspirin", "atorvastatin", "azathioprine", "bacitracin", "benazepril", "bevacizumab",
    "budesonide", "caffeine", "captopril", "carbamazepine", "carboplatin", "ciprofloxacin",
    "cisplatin", "clindamycin", "codeine", "cyclophosphamide", "cyclosporine", "dexamethasone",
    "diazepam", "digoxin", "diphenhydramine", "doxorubicin", "doxycycline", "emtricitabine",
    "enalapril", "epinephrine", "erythromycin", "estradiol", "fluconazole", "fluorouracil",
    "fluoxetine", "fluticasone", "furosemide", "gabapentin", "haloperidol", "heparin",
    "hydrochlorothiazide", "hydrocodone", "hydrocortisone", "hydromorphone", "ibuprofen",
    "imatinib", "infliximab", "insulin", "interferon", "isotretinoin", "lamotrigine",
    "levofloxacin", "levothyroxine", "lisinopril", "lithium", "losartan", "medroxyprogesterone",
    "metformin", "methotrexate", "metoclopramide", "metoprolol", "metronidazole", "mometasone",
    "morphine", "moxifloxacin", "naproxen", "neomycin", "nifedipine", "nitroglycerin",
    "ofloxacin", "omeprazole", "oxybutynin", "oxycodone", "paclitaxel", "penicillin",
    "phenobarbital", "phenytoin", "prednisolone", "prednisone", "progesterone", "propranolol",
    "ranitidine", "rifampin", "ritonavir", "rituximab", "simvastatin", "spironolactone",
    "sulfamethoxazole", "tacrolimus", "tamoxifen", "tenofovir", "testosterone", "timolol",
    "topiramate", "trastuzumab", "triamcinolone", "valsartan", "vancomycin", "verapamil",
    "warfarin", "zidovudine",
]  # fmt: skip
TERMS = [
    "folic acid",
    "valproic acid",
    "vitamin B12",
    "vitamin D",
    "St. John's wort",
    "5-FU",
    "IL-2",
]
ABBREVIATIONS = [
    "HbA1c",
    "COVID-19",
    "i.v.",
    "b.i.d.",
    "p.o.",
    "vs.",
    "e.g.",
    "i.e.",
    "FEV1",
    "CD4",
]


def rules() -> digram.Rules:
    """Drugs, abbreviations, all units, and numbers in threes."""
    import digram

    return digram.Rules(
        [*DRUGS, *TERMS],
        case="forms",
        abbreviations=ABBREVIATIONS,
        units=True,
        numbers="threes_from_right",
    )


def measure(who: str, megabytes: float | None) -> dict[str, Any]:
    """Bytes per token of what was held out, the share of places that violate each kind of rule,
    seconds to make the tokenizer, and MB a second in which it encodes.
    """
    import digram

    learn, rest = learned_and_held_out(megabytes)
    started = time.perf_counter()
    if who.startswith("published"):
        tok = digram.load(vocabulary("o200k_base"), encoding="o200k_base")
        if who == "published-ruled":
            tok = tok.with_rules(rules())
    else:
        tok = digram.train(learn, vocab_size=SIZE, rules=rules() if who == "domain-ruled" else None)
    seconds = time.perf_counter() - started
    held = sum(len(text.encode()) for text in rest)
    started = time.perf_counter()
    tok.encode_batch(learn, out="numpy")
    encoding = time.perf_counter() - started
    checked = digram.check_rules(tok, rest, rules())
    return {
        "tokens": tok.vocab_size,
        "bytes per token": held / checked.tokens,
        **{kind: checked.by_kind[kind].share for kind in KINDS},
        "places": sum(checked.by_kind[kind].places for kind in KINDS),
        "seconds": seconds,
        "encoded": sum(len(text.encode()) for text in learn) / encoding / MB,
    }


def run(options: Options) -> tuple[str, list[Task]]:
    """One table."""
    megabytes = options.megabytes or (4.0 if options.quick else None)
    tasks = {who: Task.of("rules", who, megabytes=megabytes) for who in ROWS}
    results = take_turns([list(tasks.values())], options)
    lines = []
    for who, name in ROWS.items():
        found = results[tasks[who]]
        if not found:
            lines.append([name, *["–"] * 9])
            continue
        lines.append(
            [
                name,
                f"{int(found['tokens']):,}",
                number(found["bytes per token"]),
                *(f"{found[kind]:.1%}" for kind in KINDS),
                number(found["seconds"]),
                number(found["encoded"]),
                number(found["peak"] / MB),
            ]
        )
    head = (
        "## Rules\n\nNine tenths of med.txt to learn from, the rest to measure on: "
        f"{len(DRUGS)} drugs in their forms, other terms, abbreviations, units, numbers in "
        "threes. In the middle, the share of places where the rule is violated."
    )
    header = ["", "tokens", "bytes per token", *KINDS, "seconds", "MB/s", "MB of memory"]
    return f"{head}\n\n{markdown(header, lines)}", []
