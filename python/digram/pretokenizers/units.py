"""Units of measurement for rules: SI units with prefixes, and clinical units.

`Rules(units=True)` uses `TABLE`; a custom table is a set of strings:

>>> from digram.pretokenizers import units
>>> {"mg", "µg", "mmol/L", "mmHg", "10^9/L", "%", "°C"} <= units.TABLE
True
>>> more = units.TABLE | {"cfu/mL"}

Units are case-sensitive: `mg` is not `Mg`. If a unit is commonly written in two ways, both are in
the table as separate units: `mL` and `ml`, and µ as U+00B5, the micro sign, and as U+03BC, the
Greek letter. `Rules(units=True, normalize="units")` makes them one; `spelling` says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from digram.errors import OptionError, show

__all__ = ["TABLE", "spelling", "spellings"]

_MICRO_SIGN, _MU = "\u00b5", "\u03bc"
_LETTER = r"[^\W\d_]"
_LITRE = re.compile(rf"(?<!{_LETTER})((?:mc|[cdfhkmnpu{_MICRO_SIGN}{_MU}])?)[lL](?!{_LETTER})")
_MOST_PLACES = 6

_MICRO = ("\u00b5", "\u03bc", "u")

# The prefixes in use with each unit, since most that the SI allows are never written.
_PREFIXED = {
    "g": ("", "k", "m", "n", "p", *_MICRO),
    "L": ("", "m", "d", "n", "f", *_MICRO),
    "m": ("", "k", "c", "d", "m", "n", *_MICRO),
    "mol": ("", "m", "n", "p", *_MICRO),
    "s": ("", "m", *_MICRO),
    "Eq": ("", "m", *_MICRO),
    "osm": ("m",),
    "Osm": ("m",),
    "Hz": ("", "k", "M", "G"),
    "Pa": ("", "k", "h", "M"),
    "J": ("", "k"),
    "W": ("", "m"),
    "V": ("", "k", "m", *_MICRO),
    "A": ("m",),
    "Gy": ("", "c"),
    "Sv": ("", "m", *_MICRO),
    "Bq": ("", "k", "M", "G"),
    "Ci": ("", "m", *_MICRO),
    "cal": ("", "k"),
    "Da": ("", "k"),
    "U": ("", "k", "m", *_MICRO),
    "IU": ("", "m", *_MICRO),
}

_ALONE = [
    *("mcg", "mcL", "ml", "dl", "cc", "K", "N", "lb", "lbs", "oz", "ft", "kat", "nkat", "mmHg"),
    *("%", "‰", "ppm", "ppb", "°", "°C", "°F", "℃", "℉", "bpm", "rpm", "cmH2O", "cmH₂O", "dB"),
    *("min", "h", "hr", "hrs", "d", "wk", "yr", "cm2", "cm²", "mm2", "mm²", "m2", "m²", "cm³"),
    *("10^3/uL", "10^6/uL", "10^9/L", "10^12/L", "10³/µL", "10⁶/µL", "10⁹/L", "10¹²/L"),
    *("/min", "/h", "/hr", "/day", "/L", "/mm3", "/mm³", "/hpf", "/kg", "/µL", "/μL", "/uL"),
    *("mL/min/1.73m2", "mL/min/1.73m²", "mL/min/1.73 m2", "mL/min/1.73 m²", "mg/mmol", "mg/g"),
    *("mmol/mol", "mm/h", "mm/hr", "cm/s", "m/s", "kg/m2", "kg/m²", "mg/m2", "mg/m²", "mg/dl"),
    *("mmol/l", "g/dl", "ng/ml", "pg/ml", "L/min", "mL/min", "mL/h", "mL/hr", "mL/kg"),
    *("mL/kg/h", "beats/min", "breaths/min", "cells/µL", "cells/μL", "cells/uL", "cells/mm3"),
    *("kcal/kg", "kcal/day", "gtt/min", "mEq/kg", "IU/day", "U/day"),
]

_IN_VOLUMES = {
    "g": ("L", "dL", "mL"),
    "mg": ("L", "dL", "mL"),
    "ng": ("L", "dL", "mL"),
    "pg": ("mL",),
    "mmol": ("L",),
    "nmol": ("L",),
    "pmol": ("L",),
    "mEq": ("L",),
    "mOsm": ("L",),
    "U": ("L", "mL"),
    "IU": ("L", "mL"),
    "mIU": ("L", "mL"),
    "mcg": ("L", "dL", "mL"),
    **{f"{micro}g": ("L", "dL", "mL") for micro in _MICRO},
    **{f"{micro}mol": ("L",) for micro in _MICRO},
    **{f"{micro}IU": ("mL",) for micro in _MICRO},
}
_DOSES = ("g", "mg", "mcg", *(f"{micro}g" for micro in _MICRO), "U", "IU")
_RATES = ("kg", "day", "h", "hr", "min", "kg/day", "kg/h", "kg/min")

TABLE: frozenset[str] = frozenset(
    [
        *(prefix + unit for unit, prefixes in _PREFIXED.items() for prefix in prefixes),
        *_ALONE,
        *(f"{amount}/{volume}" for amount, given in _IN_VOLUMES.items() for volume in given),
        *(f"{dose}/{rate}" for dose, rate in product(_DOSES[:-2], _RATES)),
        *(f"{dose}/{rate}" for dose, rate in product(_DOSES[-2:], ("kg", "h", "hr"))),
    ]
)
"""The texts of all units."""


def spelling(unit: str) -> str:
    r"""The one way to write a unit: µ is the Greek letter, and the litre a capital L.

    >>> spelling("ml"), spelling("mmol/l"), spelling("kcal")
    ('mL', 'mmol/L', 'kcal')
    >>> spelling("\u00b5g") == "\u03bcg"
    True

    As many characters as the unit has. The litre is an l without other letters beside it than those
    of a prefix. The Greek letter is what Unicode's NFKC makes of the micro sign.
    """
    return _LITRE.sub(r"\1L", unit).replace(_MICRO_SIGN, _MU)


def spellings(units: Iterable[str]) -> dict[str, str]:
    """All ways to write some units, each with the one way.

    >>> spellings(["mL", "mg"])
    {'mL': 'mL', 'ml': 'mL', 'mg': 'mg'}

    Raises `OptionError` for a unit with more than six places that can be written in two ways.
    """
    found = dict[str, str]()
    for unit in units:
        one = spelling(unit)
        places = [n for n, c in enumerate(one) if c == _MU]
        places += [match.end() - 1 for match in _LITRE.finditer(one)]
        if len(places) > _MOST_PLACES:
            raise OptionError(
                f"the unit {show(unit)} has {len(places)} places that can be written in two ways.",
                value=unit,
                hint=f"At most {_MOST_PLACES} are supported.",
            )
        others = [(one[n], _MICRO_SIGN if one[n] == _MU else "l") for n in places]
        for chosen in product(*others):
            letters = [*one]
            for place, letter in zip(places, chosen, strict=True):
                letters[place] = letter
            found["".join(letters)] = one
    return found
