/**
 * The memory of template.as.ts, private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | source | the bytes that are read, `SOURCE_BYTES` at most, and a pad that vectors may read |
 * | side | texts of the lines that were read that do not stand there: escapes undone, no more than the source; of a syslog
 *   header `HEADER_SIDE_BYTES` at most |
 * | prefix | bytes with which each line begins, such as a write key and a blank |
 * | entries | path, start, length (u32), value (f64), detail, node (u16), kind (u8) of each leaf, each in an array |
 * | rows | date (f64), first entry, offset of the line, bytes of its content, form (u32) of each row, each in an array |
 * | slots | 32 bytes for each value of the line in progress: see SLOT_ |
 * | line | nodes of these values (u16), and a pad |
 * | dates | numbers of the slots that may be dates (u16) |
 * | nodes | 64 bytes each: see NODE_ |
 * | contexts | the first node of each (u32) |
 * | literals | bytes of the nodes' literals, each padded to a whole vector |
 * | forms | 16 bytes each, at the place that their hash says: see FORM_ |
 * | orders | of forms: the nodes of their values, then for each value its place in the row (u16), unless it is the same; a pad |
 * | opened | of literals that open objects: how many, and their paths (u32) |
 * | paths | parent, then the row in which it was last used (u32) of each path, each in an array |
 * | predictions | nodes that follow others, node and follower (u16), at places by the hash of a line so far |
 * | guesses | nodes of contexts, context and node (u16), at places by the hash of the next bytes |
 * | names | nodes of names (u16) in syslog lines, at places by their hash |
 * | parts | nodes of the parts of a syslog header and of its text (u32) |
 */

const VECTOR: u32 = 16;

// Limits, which TypeScript asks for by the functions at the end.
const SOURCE_BYTES: u32 = 1 << 20;
const PAD_BYTES: u32 = 64;
const PREFIX_BYTES: u32 = 128;
const ENTRIES: u32 = 1 << 16;
const ROWS: u32 = 4096;
const SLOTS: u32 = 512;
const NODES: u32 = 1 << 13;
/** Each is behind a node, or before the first. */
const CONTEXTS: u32 = NODES;
/** Nodes that are looked at for a line, beside those that are predicted: a line that needs more is not known. */
const WALKS_MAX: u32 = 1024;
const LITERAL_BYTES: u32 = 1 << 19;
const FORMS: u32 = 4096;
const ORDERS: u32 = 1 << 18;
const PREDICTIONS: u32 = 1 << 16;
const GUESSES: u32 = 1 << 16;
const OPENED_PATHS: u32 = 1 << 14;
const PATHS: u32 = 1 << 16;
const NAME_PLACES: u32 = 2 * NODES;
const PARTS: u32 = 16;
/** Severity, facility and date of a header: more than they can have. */
const HEADER_SIDE_BYTES: u32 = 32;
const SIDE_BYTES: u32 = SOURCE_BYTES + HEADER_SIDE_BYTES * ROWS;

// Regions.
const SOURCE: u32 = 1024;
const SIDE: u32 = SOURCE + SOURCE_BYTES + PAD_BYTES;
const PREFIX: u32 = SIDE + SIDE_BYTES;
const ENTRY_PATH: u32 = PREFIX + PREFIX_BYTES;
const ENTRY_START: u32 = ENTRY_PATH + 4 * ENTRIES;
const ENTRY_LENGTH: u32 = ENTRY_START + 4 * ENTRIES;
const ENTRY_VALUE: u32 = ENTRY_LENGTH + 4 * ENTRIES;
const ENTRY_DETAIL: u32 = ENTRY_VALUE + 8 * ENTRIES;
const ENTRY_NODE: u32 = ENTRY_DETAIL + 2 * ENTRIES;
const ENTRY_KIND: u32 = ENTRY_NODE + 2 * ENTRIES;
const ROW_TIME: u32 = ENTRY_KIND + ENTRIES;
const ROW_ENTRY: u32 = ROW_TIME + 8 * ROWS;
const ROW_LINE: u32 = ROW_ENTRY + 4 * (ROWS + 16);
const ROW_BYTES: u32 = ROW_LINE + 4 * ROWS;
const ROW_FORM: u32 = ROW_BYTES + 4 * ROWS;
const SLOT: u32 = ROW_FORM + 4 * ROWS;
const SLOT_BYTES: u32 = 32;
const LINE: u32 = SLOT + SLOT_BYTES * SLOTS;
const DATES: u32 = LINE + 2 * (SLOTS + VECTOR);
/** A node is a line of the processor's cache. */
const NODE: u32 = (DATES + 2 * SLOTS + 63) & ~63;
const NODE_BYTES: u32 = 64;
const CONTEXT: u32 = NODE + NODE_BYTES * NODES;
const LITERAL: u32 = CONTEXT + 4 * CONTEXTS;
const FORM: u32 = LITERAL + LITERAL_BYTES;
const FORM_BYTES: u32 = 16;
const ORDER: u32 = FORM + FORM_BYTES * FORMS;
const OPENED: u32 = ORDER + 2 * (ORDERS + VECTOR);
const PATH_PARENT: u32 = OPENED + 4 * OPENED_PATHS;
const PATH_USED: u32 = PATH_PARENT + 4 * PATHS;
const PREDICTION: u32 = PATH_USED + 4 * PATHS;
const GUESS: u32 = PREDICTION + 4 * PREDICTIONS;
const NAME: u32 = GUESS + 4 * GUESSES;
const PART: u32 = NAME + 2 * NAME_PLACES;
const END: u32 = PART + 4 * PARTS;

// Fields of a node. Node 0 is before the first value.
const NODE_LITERAL: u32 = 0;
const NODE_LENGTH: u32 = 4;
const NODE_TYPE: u32 = 8;
const NODE_PATH: u32 = 12;
/** The next node of its context; node 0 is none. */
const NODE_NEXT: u32 = 16;
/** In its place, of a name: the path of the object that it lies in. */
const NODE_CONTAINER: u32 = NODE_NEXT;
/** Place of its path in the order of date attributes, plus 1; 0 when it is none. */
const NODE_RANK: u32 = 20;
/** 1 when a row of such nodes alone can be put in order here. */
const NODE_SIMPLE: u32 = 24;
/** Place of the objects that its literal opens; 0 when there are none. */
const NODE_OPENED: u32 = 28;
/** The context behind its value. */
const NODE_AFTER: u32 = 32;
/** The first eight bytes of its literal (u64), and the bits of them that are not of it (u64). */
const NODE_WORD: u32 = 40;
const NODE_REST: u32 = 48;

// Fields of a form. One whose hash was met once has no values yet.
const FORM_HASH: u32 = 0;
const FORM_COUNT: u32 = 4;
const FORM_ORDER: u32 = 8;
/** 1 when its leaves are in order as they stand in the line. */
const FORM_PLAIN: u32 = 12;

// Fields of a slot.
const SLOT_START: u32 = 0;
const SLOT_LENGTH: u32 = 4;
const SLOT_PATH: u32 = 8;
const SLOT_KIND: u32 = 12;
const SLOT_VALUE: u32 = 16;
const SLOT_DETAIL: u32 = 24;

// Types of nodes: `NodeType` of template-kernel.ts. Any other is an empty object. The literal of a string has its
// opening quote, that of a null or empty object the value.
const TYPE_END: u32 = 0;
const TYPE_STRING: u32 = 1;
const TYPE_NUMBER: u32 = 2;
const TYPE_BOOLEAN: u32 = 3;
const TYPE_ARRAY: u32 = 4;
const TYPE_NULL: u32 = 5;

// Kinds of leaves: engine/column/kind.ts.
const KIND_NULL: u32 = 0;
const KIND_OBJECT: u32 = 1;
const KIND_BOOLEAN: u32 = 2;
const KIND_NUMBER: u32 = 3;
const KIND_STRING: u32 = 4;
const KIND_ARRAY: u32 = 5;
const KIND_DATE: u32 = 6;

// Paths that all tables have: engine/column/path.ts.
const PATH_ROOT: u32 = 0;
const PATH_MESSAGE: u32 = 3;

const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;
const BLANK: u32 = 0x20;
const MINUS: u32 = 0x2d;
const DOT: u32 = 0x2e;
const ZERO: u32 = 0x30;
const COMMA: u32 = 0x2c;
const COLON: u32 = 0x3a;
const LESS: u32 = 0x3c;
const OPEN_BRACKET: u32 = 0x5b;
const CLOSE_BRACKET: u32 = 0x5d;
const LINE_FEED: u32 = 0x0a;
const CARRIAGE_RETURN: u32 = 0x0d;
const BACKSPACE: u32 = 0x08;
const TAB: u32 = 0x09;
const FORM_FEED: u32 = 0x0c;
const SLASH: u32 = 0x2f;
const LETTER_B: u32 = 0x62;
const LETTER_E: u32 = 0x65;
const LETTER_F: u32 = 0x66;
const LETTER_N: u32 = 0x6e;
const LETTER_R: u32 = 0x72;
const LETTER_T: u32 = 0x74;
const LETTER_U: u32 = 0x75;
/** Of a number of more digits not even 64 bits are sure to hold the mantissa. */
const DIGITS_MAX: u32 = 18;
/** Greater mantissas are not exact. */
const MANTISSA_MAX: u64 = 9_007_199_254_740_991;
/** Rows of forms that are not known after which a call ends, so that they can be. */
const UNKNOWN_MAX: u32 = 32;
const TRUE_WORD: u32 = 0x65757274;
const FALSE_WORD: u32 = 0x736c6166;

/** The form of a row whose leaves are in order as they stand in its line. */
const IN_ORDER: u32 = 0xffffffff;

/** Bits of a hash that are not in its place among the forms: 32 less those of FORMS. */
const FORM_SHIFT: u32 = 20;
/** The same of PREDICTIONS. */
const PREDICTION_SHIFT: u32 = 16;
/** The same of GUESSES, for a hash of 64 bits. */
const GUESS_SHIFT: u64 = 48;
/** Count of values of a form of which only the hash is known. */
const NO_COUNT: u32 = 0xffffffff;
/** Spreads the bits of a hash (2^32 divided by the golden ratio). */
const SPREAD: u32 = 0x9e3779b1;
/** The same of 64 bits. */
const SPREAD_LONG: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;

// Accessors: one a region. `assert` is there in the checked build alone.
function sourceByte(at: u32): u32 {
  assert(at < SOURCE_BYTES + PAD_BYTES);
  return load<u8>(SOURCE + at);
}
function sourceVector(at: u32): v128 {
  assert(at + VECTOR <= SOURCE_BYTES + PAD_BYTES);
  return v128.load(SOURCE + at);
}
function nodeField(node: u32, field: u32): u32 {
  assert(node < NODES);
  return load<u32>(NODE + node * NODE_BYTES + field);
}
function setNode(node: u32, field: u32, value: u32): void {
  assert(node < NODES);
  store<u32>(NODE + node * NODE_BYTES + field, value);
}
/** Compares the first bytes of a node's literal with eight of the source. */
function mayFollow(node: u32, word: u64): bool {
  assert(node < NODES);
  const at = NODE + node * NODE_BYTES;
  return (load<u64>(at + NODE_WORD) ^ word) << load<u64>(at + NODE_REST) === 0;
}
function setNodeWord(node: u32, word: u64, rest: u64): void {
  assert(node < NODES);
  store<u64>(NODE + node * NODE_BYTES + NODE_WORD, word);
  store<u64>(NODE + node * NODE_BYTES + NODE_REST, rest);
}
function firstNode(context: u32): u32 {
  assert(context < CONTEXTS);
  return load<u32>(CONTEXT + 4 * context);
}
function setFirstNode(context: u32, node: u32): void {
  assert(context < CONTEXTS);
  store<u32>(CONTEXT + 4 * context, node);
}
function sourceWord(at: u32): u64 {
  assert(at + 8 <= SOURCE_BYTES + PAD_BYTES);
  return load<u64>(SOURCE + at);
}
function literalWord(at: u32): u64 {
  assert(at + 8 <= LITERAL_BYTES);
  return load<u64>(LITERAL + at);
}
function formField(form: u32, field: u32): u32 {
  assert(form < FORMS);
  return load<u32>(FORM + form * FORM_BYTES + field);
}
function setForm(form: u32, field: u32, value: u32): void {
  assert(form < FORMS);
  store<u32>(FORM + form * FORM_BYTES + field, value);
}
function orderOf(at: u32): u32 {
  assert(at < ORDERS);
  return load<u16>(ORDER + 2 * at);
}
function openedPath(at: u32): u32 {
  assert(at < OPENED_PATHS);
  return load<u32>(OPENED + 4 * at);
}
function setOpenedPath(at: u32, path: u32): void {
  assert(at < OPENED_PATHS);
  store<u32>(OPENED + 4 * at, path);
}
function parentOf(path: u32): u32 {
  assert(path < PATHS);
  return load<u32>(PATH_PARENT + 4 * path);
}
function usedIn(path: u32): u32 {
  assert(path < PATHS);
  return load<u32>(PATH_USED + 4 * path);
}
function setUsed(path: u32, row: u32): void {
  assert(path < PATHS);
  store<u32>(PATH_USED + 4 * path, row);
}
function slotField(slot: u32, field: u32): u32 {
  assert(slot < SLOTS);
  return load<u32>(SLOT + slot * SLOT_BYTES + field);
}
function slotValue(slot: u32): f64 {
  assert(slot < SLOTS);
  return load<f64>(SLOT + slot * SLOT_BYTES + SLOT_VALUE);
}
function setSlotValue(slot: u32, value: f64): void {
  assert(slot < SLOTS);
  store<f64>(SLOT + slot * SLOT_BYTES + SLOT_VALUE, value);
}
function prediction(place: u32): u32 {
  assert(place < PREDICTIONS);
  return load<u32>(PREDICTION + 4 * place);
}
function setPrediction(place: u32, node: u32, follower: u32): void {
  assert(place < PREDICTIONS);
  store<u32>(PREDICTION + 4 * place, (node << 16) | follower);
}
function guess(place: u32): u32 {
  assert(place < GUESSES);
  return load<u32>(GUESS + 4 * place);
}
function setGuess(place: u32, context: u32, node: u32): void {
  assert(place < GUESSES);
  store<u32>(GUESS + 4 * place, (context << 16) | node);
}
function setSlot(slot: u32, field: u32, value: u32): void {
  assert(slot < SLOTS);
  store<u32>(SLOT + slot * SLOT_BYTES + field, value);
}
function lineNode(slot: u32): u32 {
  assert(slot < SLOTS);
  return load<u16>(LINE + 2 * slot);
}
function setLineNode(slot: u32, node: u32): void {
  assert(slot < SLOTS);
  store<u16>(LINE + 2 * slot, <u16>node);
}
/** Nodes of the line from that of a slot on: as many as a vector has. */
function lineVector(slot: u32): v128 {
  assert(slot < SLOTS);
  return v128.load(LINE + 2 * slot);
}
function orderVector(at: u32): v128 {
  assert(at < ORDERS);
  return v128.load(ORDER + 2 * at);
}
function dateSlot(number: u32): u32 {
  assert(number < SLOTS);
  return load<u16>(DATES + 2 * number);
}
function setDateSlot(number: u32, slot: u32): void {
  assert(number < SLOTS);
  store<u16>(DATES + 2 * number, <u16>slot);
}
function literalVector(at: u32): v128 {
  assert(at + VECTOR <= LITERAL_BYTES);
  return v128.load(LITERAL + at);
}
function setSide(at: u32, byte: u32): void {
  assert(at < SIDE_BYTES);
  store<u8>(SIDE + at, <u8>byte);
}
function sideWord(at: u32): u64 {
  assert(at + 8 <= SIDE_BYTES);
  return load<u64>(SIDE + at);
}
function setSideWord(at: u32, word: u64): void {
  assert(at + 8 <= SIDE_BYTES);
  store<u64>(SIDE + at, word);
}
function nameAt(place: u32): u32 {
  assert(place < NAME_PLACES);
  return load<u16>(NAME + 2 * place);
}
function setNameAt(place: u32, node: u32): void {
  assert(place < NAME_PLACES);
  store<u16>(NAME + 2 * place, <u16>node);
}
function partNode(part: u32): u32 {
  assert(part < PARTS);
  return load<u32>(PART + 4 * part);
}
function setPartNode(part: u32, node: u32): void {
  assert(part < PARTS);
  store<u32>(PART + 4 * part, node);
}

// biome-ignore format: a name a line would be two pages.
export {
  BACKSLASH, BACKSPACE, BLANK, CARRIAGE_RETURN, CLOSE_BRACKET, COLON, COMMA, CONTEXT,
  CONTEXTS, DIGITS_MAX, DOT, dateSlot, END, ENTRIES, ENTRY_DETAIL, ENTRY_KIND, ENTRY_LENGTH,
  ENTRY_NODE, ENTRY_PATH, ENTRY_START, ENTRY_VALUE, FALSE_WORD, FORM_COUNT, FORM_FEED,
  FORM_HASH, FORM_ORDER, FORM_PLAIN, FORM_SHIFT, FORMS, firstNode, formField, GUESS,
  GUESS_SHIFT, GUESSES, guess, HEADER_SIDE_BYTES, IN_ORDER, KIND_ARRAY, KIND_BOOLEAN,
  KIND_DATE, KIND_NULL, KIND_NUMBER, KIND_OBJECT, KIND_STRING, LESS, LETTER_B, LETTER_E,
  LETTER_F, LETTER_N, LETTER_R, LETTER_T, LETTER_U, LINE, LINE_FEED, LITERAL, LITERAL_BYTES,
  lineNode, lineVector, literalVector, literalWord, MANTISSA_MAX, MINUS, mayFollow, NAME,
  NAME_PLACES, NO_COUNT, NODE_AFTER, NODE_CONTAINER, NODE_LENGTH, NODE_LITERAL, NODE_NEXT,
  NODE_OPENED, NODE_PATH, NODE_RANK, NODE_SIMPLE, NODE_TYPE, NODES, nameAt, nodeField,
  OPEN_BRACKET, OPENED_PATHS, ORDER, ORDERS, openedPath, orderOf, orderVector, PAD_BYTES,
  PART, PARTS, PATH_MESSAGE, PATH_PARENT, PATH_ROOT, PATH_USED, PATHS, PREDICTION,
  PREDICTION_SHIFT, PREDICTIONS, PREFIX, PREFIX_BYTES, parentOf, partNode, prediction, QUOTE,
  ROW_BYTES, ROW_ENTRY, ROW_FORM, ROW_LINE, ROW_TIME, ROWS, SIDE, SIDE_BYTES, SLASH, SLOT,
  SLOT_BYTES, SLOT_DETAIL, SLOT_KIND, SLOT_LENGTH, SLOT_PATH, SLOT_START, SLOT_VALUE, SLOTS,
  SOURCE, SOURCE_BYTES, SPREAD, SPREAD_LONG, setDateSlot, setFirstNode, setForm, setGuess,
  setLineNode, setNameAt, setNode, setNodeWord, setOpenedPath, setPartNode, setPrediction,
  setSide, setSideWord, setSlot, setSlotValue, setUsed, sideWord, slotField, slotValue,
  sourceByte, sourceVector, sourceWord, TAB, TRUE_WORD, TYPE_ARRAY, TYPE_BOOLEAN, TYPE_END,
  TYPE_NULL, TYPE_NUMBER, TYPE_STRING, UNKNOWN_MAX, usedIn, VECTOR, WALKS_MAX, ZERO,
};
