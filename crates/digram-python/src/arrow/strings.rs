//! A column of texts or bytes, of any of Arrow's types for these.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// A column of texts or bytes.
pub(crate) struct Strings {
    array: ArrayRef,
    /// For a dictionary, the index of each row's value in `array`, and whether the row has one.
    keys: Option<(ArrayRef, Vec<usize>)>,
    get: fn(&ArrayRef, usize) -> &[u8],
}

/// The reason why a column has no readable texts.
#[derive(Debug)]
pub(crate) enum ColumnError {
    /// The column has another type.
    Type,
    /// The column is invalid, with Arrow's message.
    Damaged(String),
}

impl Strings {
    /// Whether a column of this type contains texts.
    pub(crate) fn fit(data_type: &DataType) -> bool {
        match data_type {
            DataType::Dictionary(_, values) => getter(values).is_some(),
            data_type => getter(data_type).is_some(),
        }
    }

    /// Validates the whole column: offsets ascend and are within the bytes, views and keys are
    /// valid, and strings are UTF-8. Later code does not check again.
    pub(crate) fn new(array: &ArrayRef) -> Result<Strings, ColumnError> {
        let texts = array.as_any_dictionary_opt().map_or(array, |dictionary| dictionary.values());
        let get = getter(texts.data_type()).ok_or(ColumnError::Type)?;
        array.to_data().validate_full().map_err(|error| ColumnError::Damaged(error.to_string()))?;
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            // The keys of null rows need not be valid.
            let keys = if dictionary.values().is_empty() {
                vec![0; dictionary.len()]
            } else {
                dictionary.normalized_keys()
            };
            return Ok(Strings {
                array: dictionary.values().clone(),
                keys: Some((array.clone(), keys)),
                get,
            });
        }
        Ok(Strings { array: array.clone(), keys: None, get })
    }

    /// The text in a row; `None` where it is null.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let row = match &self.keys {
            None => row,
            Some((array, keys)) => array.is_valid(row).then(|| keys[row])?,
        };
        (row < self.array.len() && self.array.is_valid(row)).then(|| (self.get)(&self.array, row))
    }
}

/// The function that returns the text in a row of a column of this type; `None` if it has no texts.
fn getter(data_type: &DataType) -> Option<fn(&ArrayRef, usize) -> &[u8]> {
    Some(match data_type {
        DataType::Binary => |array, row| array.as_binary::<i32>().value(row),
        DataType::LargeBinary => |array, row| array.as_binary::<i64>().value(row),
        DataType::BinaryView => |array, row| array.as_binary_view().value(row),
        DataType::Utf8 => |array, row| array.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => |array, row| array.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => |array, row| array.as_string_view().value(row).as_bytes(),
        _ => return None,
    })
}
