//! Logarithms and exponentials by additions, multiplications and divisions alone.
//!
//! The functions of the system's library differ in their last bits between systems, and a trained vocabulary would
//! then differ too. These give the same bits everywhere, as the reference in Python does. Their relative error is a few
//! units of the last place.

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// The logarithm of two: the leading 32 bits, so that small multiples are exact, and the rest.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below this, exponentials are zero.
const LOWEST: f64 = -700.0;

/// The exponential of a number up to 700; 0 below -700.
pub(super) fn exp(x: f64) -> f64 {
    if x < LOWEST {
        return 0.0;
    }
    let power = (x * LOG2_E + 0.5).floor();
    let rest = x - power * LN_2_HIGH - power * LN_2_LOW;
    let mut sum = 1.0;
    for n in (1..=14).rev() {
        sum = 1.0 + sum * rest / f64::from(n);
    }
    sum * power_of_2(power as i64)
}

/// The logarithm of a number that is positive, normal and finite.
pub(super) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    // The number is `fraction * 2^exponent`, with a fraction from one half to one.
    let mut exponent = ((bits >> 52) & 0x7ff) as i64 - 1022;
    let mut fraction = f64::from_bits((bits & ((1 << 52) - 1)) | 1022 << 52);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        exponent -= 1;
    }
    let s = (fraction - 1.0) / (fraction + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for n in (0..12).rev() {
        sum = 1.0 / f64::from(2 * n + 1) + sum * square;
    }
    exponent as f64 * LN_2_HIGH + (2.0 * s * sum + exponent as f64 * LN_2_LOW)
}

/// The derivative of the logarithm of the gamma function, for a positive number.
///
/// Smaller numbers are raised by its recurrence; from 7 on, four terms of the asymptotic series have an error below
/// 1e-10.
pub(super) fn digamma(x: f64) -> f64 {
    let (mut x, mut result) = (x, 0.0);
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    x -= 0.5;
    let square = 1.0 / x * (1.0 / x);
    let fourth = square * square;
    result + ln(x) + 1.0 / 24.0 * square - 7.0 / 960.0 * fourth + 31.0 / 8064.0 * fourth * square
        - 127.0 / 30720.0 * fourth * fourth
}

/// Two to a power between -1022 and 1023.
pub(super) fn power_of_2(power: i64) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_the_library_but_for_the_last_bits() {
        for step in -4000..4000 {
            let x = f64::from(step) * 0.17;
            let expected = x.exp();
            assert!((exp(x) - expected).abs() <= 1e-15 * expected, "exp({x})");
            let y = expected * 1.1 + 1e-300;
            assert!((ln(y) - y.ln()).abs() <= 4e-16 * y.ln().abs().max(1.0), "ln({y})");
        }
        assert_eq!((exp(0.0), exp(-1e9), ln(1.0), ln(2.0)), (1.0, 0.0, 0.0, std::f64::consts::LN_2));
        // Abramowitz and Stegun, table 6.1.
        for (x, expected) in
            [(0.5, -1.963_510_026_021_423_5), (1.0, -0.577_215_664_901_532_9), (10.0, 2.251_752_589_066_721)]
        {
            assert!((digamma(x) - expected).abs() < 1e-10, "digamma({x})");
        }
    }
}
