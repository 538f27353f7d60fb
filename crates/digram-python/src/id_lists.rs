//! Lists of ids, from integer objects that they share.
//!
//! `PyList_SetItem` is a call for each item, with checks of what is known here, and takes nearly half of the
//! time of making a list; so is `Py_IncRef`, which takes a tenth. CPython's own macros write into the array of
//! the list's items and into the object, which the stable ABI leaves out; both are where they were in all
//! versions of CPython. So their places are tested once, on known objects, and where they are elsewhere, lists
//! are filled by calls.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use digram::heap::{GrowingHeap, PageSize};
use digram::tokenizer::{EncodedPart, ReceiveIds};
use digram::{Error, memory};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

use crate::errors;
use crate::objects::{CHECK_INTERVAL, SignalChecks, integer, list, prefetch, reserve};
use crate::signals::Signals;

/// A list object of CPython.
#[repr(C)]
pub(crate) struct ListObject {
    head: ffi::PyObject,
    pub(crate) len: ffi::Py_ssize_t,
    pub(crate) items: *mut *mut ffi::PyObject,
    capacity: ffi::Py_ssize_t,
}

/// A list of more ids is made without Python's zeros, which it would write first.
const FEW: usize = 256;

/// The number of ids after which a prefetched object is read.
const AHEAD: usize = 32;

/// The integer objects of ids, which all lists of a tokenizer share: sharing one takes a third of the time of
/// creating one. An object is created when its id first occurs, so that those of frequent ids are neighbours
/// in memory.
pub(crate) struct IdObjects(Vec<AtomicPtr<ffi::PyObject>>);

impl IdObjects {
    /// No objects yet, for ids below `count`.
    pub(crate) fn new(count: usize) -> PyResult<IdObjects> {
        let objects =
            memory::try_filled(ptr::null_mut::<ffi::PyObject>(), count).map_err(errors::no_memory)?;
        let mut objects = ManuallyDrop::new(objects);
        // SAFETY: a pointer and an atomic pointer have the same representation.
        Ok(IdObjects(unsafe {
            Vec::from_raw_parts(objects.as_mut_ptr().cast(), objects.len(), objects.capacity())
        }))
    }

    /// The integer of an id.
    fn get<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the object is alive, since there is a reference to it here.
        Ok(unsafe { Bound::from_borrowed_ptr(py, self.pointer(py, id)?) })
    }

    /// The integer of an id, without a reference of its own.
    #[inline]
    fn pointer(&self, py: Python<'_>, id: u32) -> PyResult<*mut ffi::PyObject> {
        let object = &self.0[id as usize];
        let known = object.load(Ordering::Relaxed);
        if known.is_null() { IdObjects::create(py, object, id) } else { Ok(known) }
    }

    /// Prefetches what [`pointer`](IdObjects::pointer) and the count of references of a later id need. The tables of
    /// encoding have displaced most objects from the near caches.
    #[inline]
    fn prefetch(&self, ids: &[u32], index: usize) {
        if let Some(&id) = ids.get(index + 2 * AHEAD) {
            prefetch(self.0.as_ptr().wrapping_add(id as usize));
            prefetch(self.0[ids[index + AHEAD] as usize].load(Ordering::Relaxed));
        }
    }

    #[cold]
    fn create(py: Python<'_>, object: &AtomicPtr<ffi::PyObject>, id: u32) -> PyResult<*mut ffi::PyObject> {
        let integer = integer(py, id.into())?;
        let (none, order) = (ptr::null_mut(), Ordering::Relaxed);
        match object.compare_exchange(none, integer.as_ptr(), order, order) {
            Ok(_) => Ok(integer.into_ptr()),
            // Another thread was first.
            Err(known) => Ok(known),
        }
    }
}

impl Drop for IdObjects {
    fn drop(&mut self) {
        // Without an interpreter, which has ended then, nothing needs to be freed.
        _ = Python::try_attach(|py| {
            for object in &mut self.0 {
                // SAFETY: the reference is this list's.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, *object.get_mut()) });
            }
        });
    }
}

/// A list of the integers of some ids.
pub(crate) fn list_of_ids<'py>(
    py: Python<'py>,
    ids: &[u32],
    objects: &IdObjects,
    checks: &mut SignalChecks,
) -> PyResult<Bound<'py, PyList>> {
    if ids.len() > FEW || !has_known_layout(py) {
        return Ok(untracked_list_of_ids(py, ids, objects, checks)?.tracked(py));
    }
    checks.after(py, ids.len())?;
    // No other code runs before it is complete.
    // SAFETY: a new list is a reference of our own, or null with an error set. The layout was tested, and there
    // is memory for this many items.
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(ids.len() as ffi::Py_ssize_t))?;
        fill((*list.as_ptr().cast::<ListObject>()).items, py, ids, objects).map_err(|(_, error)| error)?;
        Ok(list.cast_into_unchecked())
    }
}

/// Writes the integers of ids, each with a new reference, to the items of a list. An error comes with the number
/// that were written.
///
/// # Safety
///
/// The layout was tested, and there is memory for as many items.
#[inline]
unsafe fn fill(
    items: *mut *mut ffi::PyObject,
    py: Python<'_>,
    ids: &[u32],
    objects: &IdObjects,
) -> Result<(), (usize, PyErr)> {
    for (index, &id) in ids.iter().enumerate() {
        objects.prefetch(ids, index);
        let integer = objects.pointer(py, id).map_err(|error| (index, error))?;
        // SAFETY: as the caller promises; the list takes over the new reference.
        unsafe {
            add_reference(integer);
            items.add(index).write(integer);
        }
    }
    Ok(())
}

/// A list of ids that the garbage collector does not know yet. Of many lists it would visit those that are
/// there several times while the others are made, which takes a third of the time of encoding.
struct UntrackedList(Py<PyList>);

impl UntrackedList {
    fn of(list: Bound<'_, PyList>) -> UntrackedList {
        // SAFETY: the object is a list, which may be tracked or not.
        unsafe { ffi::PyObject_GC_UnTrack(list.as_ptr().cast()) };
        UntrackedList(list.unbind())
    }

    fn tracked(self, py: Python<'_>) -> Bound<'_, PyList> {
        // SAFETY: the object is a complete list that is not tracked, and no other code knows it.
        unsafe { ffi::PyObject_GC_Track(self.0.as_ptr().cast()) };
        self.0.into_bound(py)
    }
}

fn untracked_list_of_ids(
    py: Python<'_>,
    ids: &[u32],
    objects: &IdObjects,
    checks: &mut SignalChecks,
) -> PyResult<UntrackedList> {
    if !has_known_layout(py) {
        return list(py, ids.iter().map(|&id| objects.get(py, id)), checks).map(UntrackedList::of);
    }
    let mut growing = GrowingList::new(py, ids.len())?;
    growing.append(py, ids, objects, checks)?;
    Ok(growing.list)
}

/// A list that gets the ids of a text part by part, where the layout of lists is known. It is always a valid
/// list, but nobody else knows it before it is finished.
struct GrowingList {
    list: UntrackedList,
    capacity: usize,
}

impl GrowingList {
    /// An empty list with memory for this many items, which is touched only when they are added.
    fn new(py: Python<'_>, capacity: usize) -> PyResult<GrowingList> {
        // SAFETY: a new list is a reference of our own, or null with an error set.
        let list = unsafe {
            let list = ffi::PyList_New(0);
            UntrackedList::of(Bound::from_owned_ptr_or_err(py, list)?.cast_into_unchecked())
        };
        let mut list = GrowingList { list, capacity: 0 };
        list.reserve(capacity)?;
        Ok(list)
    }

    fn object(&self) -> &ListObject {
        // SAFETY: the layout was tested, and only this value changes the list.
        unsafe { &*self.list.0.as_ptr().cast::<ListObject>() }
    }

    /// Sets the number of items.
    ///
    /// # Safety
    ///
    /// The first `len` items are there.
    unsafe fn set_len(&mut self, len: usize) {
        // SAFETY: as above.
        unsafe { (*self.list.0.as_ptr().cast::<ListObject>()).len = len as ffi::Py_ssize_t };
    }

    /// Lets the list have memory for this many items.
    fn reserve(&mut self, capacity: usize) -> PyResult<()> {
        if capacity <= self.capacity {
            return Ok(());
        }
        // A little more than that, so that lists grow a few times only.
        let capacity = capacity.max(self.capacity + self.capacity / 16);
        let bytes = capacity.saturating_mul(size_of::<*mut ffi::PyObject>());
        let object = self.list.0.as_ptr().cast::<ListObject>();
        // SAFETY: the layout was tested, and only this value changes the list. Lists have their items in memory of
        // this allocator in all versions of CPython with a GIL, the only ones that load the stable ABI. It moves
        // large memory without copying it; on a failure the memory stays as it is.
        unsafe {
            let items: *mut *mut ffi::PyObject = ffi::PyMem_Realloc((*object).items.cast(), bytes).cast();
            if items.is_null() {
                return Err(errors::no_memory(Error::Memory { bytes }));
            }
            ((*object).items, (*object).capacity) = (items, capacity as ffi::Py_ssize_t);
        }
        self.capacity = capacity;
        memory::prefer_large_pages_for(self.object().items, capacity);
        Ok(())
    }

    fn append(
        &mut self,
        py: Python<'_>,
        ids: &[u32],
        objects: &IdObjects,
        checks: &mut SignalChecks,
    ) -> PyResult<()> {
        self.reserve(self.object().len as usize + ids.len())?;
        for part in ids.chunks(CHECK_INTERVAL) {
            checks.after(py, part.len())?;
            let len = self.object().len as usize;
            // SAFETY: there is memory for these items, and the list contains them afterwards.
            unsafe {
                let filled = fill(self.object().items.add(len), py, part, objects);
                self.set_len(len + filled.as_ref().map_or_else(|(count, _)| *count, |()| part.len()));
                filled.map_err(|(_, error)| error)?;
            }
        }
        Ok(())
    }
}

/// The number of bytes of text whose ids become lists together. The tables of encoding and the objects of ids
/// do not fit into the near caches together, so each change between both takes time; and the ids of more text take
/// memory that is touched for the first time: four times as much made many languages 4 % slower.
const ENOUGH: usize = 1 << 18;

/// The lists of several texts, made while other threads encode.
pub(crate) struct IdLists<'a> {
    objects: &'a IdObjects,
    signals: &'a Signals,
    lists: Vec<UntrackedList>,
    /// The number of lists when all are finished.
    count: usize,
    /// The number of ids that were received.
    ids: usize,
    /// The list of a text of which not all parts were received.
    unfinished: Option<Unfinished>,
    heap: GrowingHeap,
    /// When the last ids had become lists, and the time that getting the GIL had taken before.
    received: Instant,
    waited: Duration,
}

/// The lists of all texts.
pub(crate) struct FinishedLists(Vec<UntrackedList>);

impl FinishedLists {
    /// A list of the lists.
    pub(crate) fn all(self, py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
        list(py, self.0.into_iter().map(|list| Ok(list.tracked(py))), &mut SignalChecks::new())
    }

    /// The list of the only text.
    pub(crate) fn only(self, py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
        match <[UntrackedList; 1]>::try_from(self.0) {
            Ok([list]) => Ok(list.tracked(py)),
            Err(_) => Err(errors::raise(py, "InternalError", "a text has not become one list.")),
        }
    }
}

enum Unfinished {
    List(GrowingList),
    /// Where the layout of lists is not known.
    Ids(Vec<u32>),
}

impl<'a> IdLists<'a> {
    /// No lists yet, of `count` texts. An exception of Python is kept in `signals`.
    pub(crate) fn new(objects: &'a IdObjects, signals: &'a Signals, count: usize) -> IdLists<'a> {
        IdLists {
            objects,
            signals,
            lists: Vec::new(),
            count,
            ids: 0,
            unfinished: None,
            heap: GrowingHeap::of(PageSize::Large),
            received: Instant::now(),
            waited: Duration::ZERO,
        }
    }

    /// The list of each text, when all ids were received.
    pub(crate) fn finished(self) -> FinishedLists {
        FinishedLists(self.lists)
    }

    /// About the number of ids of a part and of all later ones: as many for each text as so far.
    fn later_ids(&self, part: &EncodedPart<'_>) -> usize {
        let of_text = part.ids.len().saturating_add(part.ids_after.unwrap_or(0));
        let of_one = self.ids.checked_div(part.text).unwrap_or(of_text);
        of_text.saturating_add(of_one.saturating_mul(self.count.saturating_sub(part.text + 1)))
    }

    fn add(&mut self, py: Python<'_>, part: &EncodedPart<'_>, checks: &mut SignalChecks) -> PyResult<()> {
        let list = match (self.unfinished.take(), part.ids_after) {
            (None, None) => untracked_list_of_ids(py, part.ids, self.objects, checks)?,
            (unfinished, ids_after) => {
                let unfinished = match unfinished {
                    Some(unfinished) => unfinished,
                    None if has_known_layout(py) => Unfinished::List(GrowingList::new(py, 0)?),
                    None => Unfinished::Ids(Vec::new()),
                };
                match self.with_part(py, unfinished, part, checks)? {
                    unfinished if ids_after.is_some() => {
                        self.unfinished = Some(unfinished);
                        return Ok(());
                    }
                    Unfinished::List(list) => list.list,
                    Unfinished::Ids(ids) => untracked_list_of_ids(py, &ids, self.objects, checks)?,
                }
            }
        };
        reserve(&mut self.lists, 1)?;
        self.lists.push(list);
        Ok(())
    }

    fn with_part(
        &self,
        py: Python<'_>,
        mut unfinished: Unfinished,
        part: &EncodedPart<'_>,
        checks: &mut SignalChecks,
    ) -> PyResult<Unfinished> {
        match &mut unfinished {
            Unfinished::List(list) => {
                let needed = list.object().len as usize + part.ids.len();
                if needed > list.capacity {
                    // An eighth more than is expected, as lists that grow have too.
                    let after = part.ids_after.unwrap_or(0);
                    list.reserve(needed.saturating_add(after).saturating_add(after / 8))?;
                }
                list.append(py, part.ids, self.objects, checks)?;
            }
            Unfinished::Ids(ids) => {
                reserve(ids, part.ids.len())?;
                ids.extend_from_slice(part.ids);
            }
        }
        Ok(unfinished)
    }
}

impl ReceiveIds for IdLists<'_> {
    fn enough(&self) -> usize {
        // Where other threads keep the GIL for some time, it is better to wait for it a few times than often.
        if self.received.elapsed() < self.waited * 4 { usize::MAX } else { ENOUGH }
    }

    fn receive<'a>(&mut self, parts: &mut dyn Iterator<Item = EncodedPart<'a>>) -> digram::Result<()> {
        let started = Instant::now();
        let received = Python::attach(|py| -> PyResult<()> {
            self.waited = started.elapsed();
            let mut checks = SignalChecks::new();
            for part in parts {
                self.heap.before(self.later_ids(&part).saturating_mul(size_of::<*mut ffi::PyObject>()));
                self.ids = self.ids.saturating_add(part.ids.len());
                self.add(py, &part, &mut checks)?;
            }
            Ok(())
        });
        self.received = Instant::now();
        received.map_err(|exception| self.signals.keep(exception))
    }
}

/// Adds a reference to an object, as CPython's macro does.
///
/// # Safety
///
/// The object is alive, this thread holds the GIL, and the layout was tested.
#[inline(always)]
unsafe fn add_reference(object: *mut ffi::PyObject) {
    let count = object.cast::<u32>();
    // SAFETY: objects begin with the number of their references. Numbers from here on may be those of immortal
    // objects, which do not change.
    unsafe {
        if *count < 1 << 30 {
            *count += 1;
        } else {
            ffi::Py_IncRef(object);
        }
    }
}

/// Whether lists are laid out as [`ListObject`], and objects begin with the number of their references.
pub(crate) fn has_known_layout(py: Python<'_>) -> bool {
    static KNOWN: PyOnceLock<bool> = PyOnceLock::new();
    *KNOWN.get_or_init(py, || test_layout(py).unwrap_or(false))
}

fn test_layout(py: Python<'_>) -> PyResult<bool> {
    let list_type = py.get_type::<PyList>();
    let size: usize = list_type.getattr("__basicsize__")?.extract()?;
    let name: String = py.import("sys")?.getattr("implementation")?.getattr("name")?.extract()?;
    if name != "cpython" || size != size_of::<ListObject>() {
        return Ok(false);
    }
    let object = integer(py, 1 << 40)?;
    // SAFETY: an object is larger than this number.
    let count = || unsafe { object.as_ptr().cast::<u32>().read_volatile() };
    let one = count();
    let second = object.clone();
    let two = count();
    drop(second);
    if (one, two, count()) != (1, 2, 1) {
        return Ok(false);
    }
    let known = [list_type.as_any(), py.NotImplemented().bind(py), py.None().bind(py)].map(Clone::clone);
    let list = PyList::new(py, &known)?;
    // SAFETY: a list object has this size, so all fields can be read.
    let object = unsafe { ptr::read(list.as_ptr().cast::<ListObject>()) };
    let [len, capacity] = [object.len, object.capacity].map(|number| number as usize);
    if len != known.len() || capacity < len || object.items.is_null() || !object.items.is_aligned() {
        return Ok(false);
    }
    // SAFETY: an aligned pointer between a length and a capacity of the expected values is the array.
    let items = unsafe { std::slice::from_raw_parts(object.items.cast::<*mut c_void>(), len) };
    Ok(items.iter().zip(&known).all(|(item, known)| *item == known.as_ptr().cast()))
}
