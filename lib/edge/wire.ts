import { AppError } from '../errors.ts';

/** A field of a protobuf message, where it is in the message's bytes. */
interface WireField {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 bytes with a length, 5 four bytes. */
  readonly type: number;
  /** Where the field begins with its tag, where its value begins, and where both end. */
  readonly from: number;
  readonly valueFrom: number;
  readonly to: number;
}

/** Highest field number of protobuf. */
const numberMax = 2 ** 29 - 1;
/** No message of the protocol has more, those inside it included; a map or a list has a field for each member. */
const fieldsMax = 4_096;
/** Messages inside each other; decoders read no more levels. */
const levelsMax = 100;

/**
 * The fields of a message in the order of their bytes, without what is inside them. Refuses what two readers could
 * take for different things: varints that are longer than they need be, tags of 2^32 or more, groups, cut-off values.
 * @throws AppError `invalid`
 */
export function readFields(bytes: Uint8Array): WireField[] {
  const fields: WireField[] = [];
  for (const cursor = { at: 0 }; cursor.at < bytes.length; ) {
    const field = nextField(bytes, cursor, bytes.length);
    if (fields.length === fieldsMax) throw tooMany(fieldsMax);
    fields.push(field);
  }
  return fields;
}

/** The field at the cursor, of a message that ends at `end`; moves behind it. */
function nextField(bytes: Uint8Array, cursor: Cursor, end: number): WireField {
  const from = cursor.at;
  const tag = readVarint(bytes, cursor);
  const type = tag & 7;
  const number = tag >>> 3;
  if (number < 1 || number > numberMax) throw malformed('a field number is out of range');
  const valueFrom = passValue(bytes, type, cursor);
  if (cursor.at > end) throw malformed('a field is cut off');
  return { number, type, from, valueFrom, to: cursor.at };
}

/** The fields of a message that hold messages, by number. */
export interface MessageForm {
  readonly [field: number]: MessageForm;
}

/**
 * Reads the fields of a message and of all messages inside it, which a decoder makes objects of.
 * @throws AppError `invalid` where there are more than `most` in all, or one is not canonical.
 */
export function assertFields(bytes: Uint8Array, form: MessageForm, most = fieldsMax): void {
  const count = { most, left: most };
  countFields(bytes, form, { from: 0, to: bytes.length, level: 1 }, count);
}

/** A message inside the bytes. */
interface MessagePlace {
  readonly from: number;
  readonly to: number;
  readonly level: number;
}

interface FieldCount {
  readonly most: number;
  left: number;
}

function countFields(
  bytes: Uint8Array,
  form: MessageForm,
  { from, to: end, level }: MessagePlace,
  count: FieldCount,
): void {
  if (level > levelsMax) throw malformed(`it has messages in more than ${levelsMax} levels`);
  for (const cursor = { at: from }; cursor.at < end; ) {
    const { number, type, valueFrom, to } = nextField(bytes, cursor, end);
    if (count.left === 0) throw tooMany(count.most);
    count.left -= 1;
    const inner = form[number];
    if (inner !== undefined && type === 2) countFields(bytes, inner, { from: valueFrom, to, level: level + 1 }, count);
  }
}

/** Where the next byte is. One for a whole message: a relay reads hundreds of them a second. */
interface Cursor {
  at: number;
}

/** A message without one of its fields, and that field's value. */
export interface CutMessage {
  /** The bytes of all other fields, in their order. */
  readonly rest: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * Takes a field with a message in it out of the bytes of another message. Undefined where there is none.
 * @throws AppError `invalid` where the field is there twice, or the bytes are no canonical message.
 */
export function cutField(bytes: Uint8Array, number: number): CutMessage | undefined {
  const found = readFields(bytes).filter((field) => field.number === number);
  const [field, second] = found;
  if (field === undefined) return undefined;
  if (second !== undefined) throw malformed(`field ${number} is there twice`);
  if (field.type !== 2) throw malformed(`field ${number} is no message`);
  return { rest: without(bytes, field), value: bytes.subarray(field.valueFrom, field.to) };
}

/** Copied only where the field lies between others. */
function without(bytes: Uint8Array, { from, to }: WireField): Uint8Array {
  if (from === 0) return bytes.subarray(to);
  if (to === bytes.length) return bytes.subarray(0, from);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
}

/** The bytes of a field with a message in it: its tag, its length, its value. */
export function writeField(number: number, value: Uint8Array): Uint8Array {
  return Buffer.concat([varint((number << 3) | 2), varint(value.length), value]);
}

/** Moves behind a value; answers where it begins. */
function passValue(bytes: Uint8Array, type: number, cursor: Cursor): number {
  const { at } = cursor;
  switch (type) {
    case 0:
      readVarint(bytes, cursor, 64);
      return at;
    case 1:
      cursor.at = at + 8;
      return at;
    case 2: {
      const length = readVarint(bytes, cursor);
      const from = cursor.at;
      cursor.at = from + length;
      return from;
    }
    case 5:
      cursor.at = at + 4;
      return at;
    default:
      throw malformed(`wire type ${type} is not taken`);
  }
}

/** Bytes of a varint that a number of 32 bits takes, and of one of 64. */
const bytesOf = { 32: 5, 64: 10 } as const;
/** The largest value of the last of these bytes. */
const lastMost = { 32: 0x0f, 64: 0x01 } as const;

/**
 * A varint of at most `bits` bits, in its shortest form; moves behind it. The value is that of its lowest 35 bits: no reader asks
 * for more.
 */
function readVarint(bytes: Uint8Array, cursor: Cursor, bits: 32 | 64 = 32): number {
  const from = cursor.at;
  let value = 0;
  for (let length = 1; length <= bytesOf[64]; length += 1) {
    const byte = bytes[from + length - 1];
    if (byte === undefined) throw malformed('a number is cut off');
    if (length <= bytesOf[32]) value += (byte & 0x7f) * 2 ** (7 * (length - 1));
    if (byte >= 0x80) continue;
    if (byte === 0 && length > 1) throw malformed('a number is longer than it needs to be');
    if (isBeyond(bits, length, byte)) throw malformed(`a number has more than ${bits} bits`);
    cursor.at = from + length;
    return value;
  }
  throw malformed('a number has more than ten bytes');
}

/** Whether a number of so many bytes has more bits; `byte` is its last and highest. */
function isBeyond(bits: 32 | 64, length: number, byte: number): boolean {
  const spare = bytesOf[bits] - length;
  return spare < 0 || (spare === 0 && byte > lastMost[bits]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const malformed = (problem: string): AppError =>
  new AppError('invalid', `the message is no canonical protobuf: ${problem}`, { reason: 'MessageInvalid' });
const tooMany = (most: number): AppError => malformed(`it has more than ${most} fields`);
