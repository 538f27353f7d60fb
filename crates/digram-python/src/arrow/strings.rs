//! A column of texts or bytes, of whichever of Arrow's types for these.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// A column of texts or bytes.
pub(crate) struct Strings {
    array: ArrayRef,
    /// Of a dictionary the number of each row's value in `array`, and whether a row has one.
    keys: Option<(ArrayRef, Vec<usize>)>,
    get: fn(&ArrayRef, usize) -> &[u8],
}

impl Strings {
    /// `None` where the column is of another type.
    pub(crate) fn new(array: &ArrayRef) -> Option<Strings> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let get = getter(dictionary.values().data_type())?;
            // Keys of nothing need not be numbers of values.
            let keys = if dictionary.values().is_empty() {
                vec![0; dictionary.len()]
            } else {
                dictionary.normalized_keys()
            };
            return Some(Strings {
                array: dictionary.values().clone(),
                keys: Some((array.clone(), keys)),
                get,
            });
        }
        let get = getter(array.data_type())?;
        Some(Strings { array: array.clone(), keys: None, get })
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

fn getter(of: &DataType) -> Option<fn(&ArrayRef, usize) -> &[u8]> {
    Some(match of {
        DataType::Binary => |array, row| array.as_binary::<i32>().value(row),
        DataType::LargeBinary => |array, row| array.as_binary::<i64>().value(row),
        DataType::BinaryView => |array, row| array.as_binary_view().value(row),
        DataType::Utf8 => |array, row| array.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => |array, row| array.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => |array, row| array.as_string_view().value(row).as_bytes(),
        _ => return None,
    })
}
