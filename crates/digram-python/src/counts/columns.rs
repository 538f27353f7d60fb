//! Counts as Arrow columns, and back: `piece`, `count`, and `first` where it is known.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::GenericBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, Int64Array, OffsetSizeTrait, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use digram::count;
use pyo3::prelude::*;

use crate::arrow::{ColumnError, Strings};
use crate::errors;
use crate::signals::Signals;

/// The key of digram's entry in the metadata of a schema.
pub(super) const KEY: &str = "digram";

/// A batch ends with the row that reaches one of these.
const MAX_ROWS: usize = 1 << 16;
const MAX_BYTES: usize = 16 << 20;

/// Counts as record batches, in the order of their pieces, created lazily.
pub(super) struct Batches {
    counts: Arc<count::Counts>,
    schema: SchemaRef,
    next_row: usize,
}

impl Batches {
    /// Every reader of Arrow supports signed 64-bit numbers, so a count of 2^63 or more is a
    /// `LimitExceededError`.
    pub(super) fn new(py: Python<'_>, counts: Arc<count::Counts>, metadata: String) -> PyResult<Batches> {
        let signals = Signals::new();
        py.detach(|| counts.sort_by_piece(&signals)).map_err(|error| signals.error(py, error, None))?;
        let maximum = py.detach(|| counts.iter().map(|(_, count)| count).max()).unwrap_or(0);
        if maximum.max(counts.end().unwrap_or(0)) > i64::MAX as u64 {
            let message = "a count is greater than 2^63 - 1, the maximum of an Arrow column of int64.";
            return Err(errors::raise(py, "LimitExceededError", message));
        }
        // Every reader supports offsets of 32 bits; they suffice except for a piece of 2 GiB.
        let is_long = counts.iter().any(|(piece, _)| piece.len() > i32::MAX as usize - MAX_BYTES);
        let pieces = if is_long { DataType::LargeBinary } else { DataType::Binary };
        let mut fields =
            vec![Field::new("piece", pieces, false), Field::new("count", DataType::Int64, false)];
        if counts.end().is_some() {
            fields.push(Field::new("first", DataType::Int64, false));
        }
        let metadata = HashMap::from([(KEY.to_owned(), metadata)]);
        Ok(Batches { counts, schema: Arc::new(Schema::new_with_metadata(fields, metadata)), next_row: 0 })
    }

    fn batch<Offset: OffsetSizeTrait>(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut pieces = GenericBinaryBuilder::<Offset>::new();
        let (mut counts, mut firsts, mut bytes) = (Vec::new(), Vec::new(), 0);
        while self.next_row < self.counts.len() && counts.len() < MAX_ROWS && bytes < MAX_BYTES {
            let (piece, count, first) = self.counts.by_piece(self.next_row);
            pieces.append_value(piece);
            counts.push(count as i64);
            firsts.push(first as i64);
            bytes += piece.len();
            self.next_row += 1;
        }
        let mut columns: Vec<ArrayRef> = vec![Arc::new(pieces.finish()), Arc::new(Int64Array::from(counts))];
        if self.counts.end().is_some() {
            columns.push(Arc::new(Int64Array::from(firsts)));
        }
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next_row == self.counts.len() {
            return None;
        }
        let is_long = *self.schema.field(0).data_type() == DataType::LargeBinary;
        Some(if is_long { self.batch::<i64>() } else { self.batch::<i32>() })
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The columns of some rows, of any suitable types.
pub(super) struct Columns<'a> {
    pieces: Strings,
    counts: IntegerColumn<'a>,
    firsts: Option<IntegerColumn<'a>>,
}

impl<'a> Columns<'a> {
    /// Finds the columns by their names. The error contains the reason.
    pub(super) fn new(fields: &Fields, columns: &'a [ArrayRef]) -> Result<Columns<'a>, String> {
        let find = |name: &str| fields.iter().position(|field| field.name() == name);
        let missing = |name: &str| {
            let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
            format!("there is no column {name:?} among {names:?}.")
        };
        let pieces = &columns[find("piece").ok_or_else(|| missing("piece"))?];
        let counts = &columns[find("count").ok_or_else(|| missing("count"))?];
        let data_type = pieces.data_type();
        Ok(Columns {
            pieces: Strings::new(pieces).map_err(|error| match error {
                ColumnError::Type => format!("the column \"piece\" is of type {data_type}, expected binary."),
                ColumnError::Damaged(reason) => format!("the column \"piece\" is damaged: {reason}."),
            })?,
            counts: IntegerColumn::new("count", counts)?,
            firsts: find("first").map(|index| IntegerColumn::new("first", &columns[index])).transpose()?,
        })
    }

    /// Whether there is a column of first occurrences.
    pub(super) fn ordered(&self) -> bool {
        self.firsts.is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.counts.array.len()
    }

    /// The piece, its count and its first occurrence in a row. The error contains the reason.
    pub(super) fn row(&self, row: usize) -> Result<(&[u8], u64, u64), String> {
        let piece = self.pieces.get(row).ok_or("the piece is null.")?;
        let first = self.firsts.as_ref().map_or(Ok(0), |firsts| firsts.get("first", row))?;
        Ok((piece, self.counts.get("count", row)?, first))
    }
}

/// A column of whole numbers.
struct IntegerColumn<'a> {
    array: &'a ArrayRef,
    get: fn(&ArrayRef, usize) -> Result<u64, i64>,
}

impl<'a> IntegerColumn<'a> {
    fn new(name: &str, array: &'a ArrayRef) -> Result<IntegerColumn<'a>, String> {
        fn signed(value: i64) -> Result<u64, i64> {
            u64::try_from(value).map_err(|_| value)
        }
        let get: fn(&ArrayRef, usize) -> Result<u64, i64> = match array.data_type() {
            DataType::Int64 => |array, row| signed(array.as_primitive::<Int64Type>().value(row)),
            DataType::UInt64 => |array, row| Ok(array.as_primitive::<UInt64Type>().value(row)),
            DataType::Int32 => |array, row| signed(array.as_primitive::<Int32Type>().value(row).into()),
            DataType::UInt32 => |array, row| Ok(array.as_primitive::<UInt32Type>().value(row).into()),
            DataType::Int16 => |array, row| signed(array.as_primitive::<Int16Type>().value(row).into()),
            DataType::UInt16 => |array, row| Ok(array.as_primitive::<UInt16Type>().value(row).into()),
            DataType::Int8 => |array, row| signed(array.as_primitive::<Int8Type>().value(row).into()),
            DataType::UInt8 => |array, row| Ok(array.as_primitive::<UInt8Type>().value(row).into()),
            other => return Err(format!("the column {name:?} is of type {other}, expected int64.")),
        };
        Ok(IntegerColumn { array, get })
    }

    fn get(&self, name: &str, row: usize) -> Result<u64, String> {
        if self.array.is_null(row) {
            return Err(format!("the {name} is null."));
        }
        (self.get)(self.array, row).map_err(|value| format!("the {name} is {value}."))
    }
}
