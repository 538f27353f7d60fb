// Axes: the positions of values, and the values to label.

// A scale from the values `first` to `last` to the pixels `from` to `to`.
export function linear(first, last, from, to) {
  const span = last - first || 1;
  return (value) => from + ((value - first) / span) * (to - from);
}

export function logarithmic(first, last, from, to) {
  const place = linear(Math.log(first), Math.log(last), from, to);
  return (value) => place(Math.log(value));
}

// Round values from 0 to at least `last`, in at most this number of steps.
export function roundTicks(last, most) {
  return steps(0, last, most, Math.ceil);
}

// Round values between two, for a logarithmic axis: 1 2 5 10 in each decade, or fewer; evenly spaced
// ones if the range is less than a decade.
export function logTicks(first, last, most) {
  for (const of of [[1, 2, 5], [1, 3], [1]]) {
    const found = [];
    for (let decade = 10 ** Math.floor(Math.log10(first)); decade <= last; decade *= 10) {
      found.push(...of.map((one) => one * decade).filter((one) => one >= first && one <= last));
    }
    if (found.length > most) continue;
    if (found.length >= 3) return found;
    break;
  }
  const even = steps(first, last, most, Math.floor);
  return even.filter((one) => one >= first && one <= last);
}

function steps(first, last, most, end) {
  const rough = (last - first || 1) / most;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * decade).find((one) => one >= rough * (1 - 1e-9));
  const found = [];
  for (let i = Math.floor(first / step); i <= end(last / step - 1e-9); i += 1) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}
