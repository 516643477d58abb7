/** Protobuf by hand, as its specification has it: a second reader beside the code that is generated. */

/** A number is a varint (negative ones take ten bytes, as of int32), a text or bytes have a length. */
type WireValue = number | bigint | string | Uint8Array;

/** One field. */
export function field(number: number, value: WireValue): Buffer {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return Buffer.concat([varint(BigInt(number) << 3n), varint(BigInt.asUintN(64, BigInt(value)))]);
  }
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((BigInt(number) << 3n) | 2n), varint(BigInt(bytes.length)), bytes]);
}

/** A message, or a part of one. */
export const fields = (...parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);

/** google.protobuf.Timestamp and Duration have the same two fields. */
export const secondsAndNanos = (seconds: bigint | number, nanos = 0): Buffer =>
  fields(field(1, seconds), ...(nanos === 0 ? [] : [field(2, nanos)]));

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

/** A message as it was received: the values of each field, in their order. */
export class WireMessage {
  readonly #values = new Map<number, (bigint | Buffer)[]>();
  /** Each field as it was sent. */
  readonly #raw: { readonly number: number; readonly bytes: Buffer }[] = [];

  constructor(bytes: Uint8Array) {
    const all = Buffer.from(bytes);
    for (let at = 0; at < all.length; ) {
      const from = at;
      const tag = readVarint(all, at);
      const [value, to] = readValue(all, tag);
      const number = Number(tag.value >> 3n);
      this.#values.set(number, [...(this.#values.get(number) ?? []), value]);
      this.#raw.push({ number, bytes: all.subarray(from, to) });
      at = to;
    }
  }

  /** The fields that are there, in rising order. */
  get numbers(): number[] {
    return [...this.#values.keys()].toSorted((a, b) => a - b);
  }

  text(number: number): string {
    return this.bytes(number).toString('utf8');
  }

  /** Empty where the field is absent. */
  bytes(number: number): Buffer {
    const value = this.#values.get(number)?.at(-1) ?? Buffer.alloc(0);
    if (typeof value === 'bigint') throw new TypeError(`field ${number} is a number`);
    return value;
  }

  message(number: number): WireMessage {
    return new WireMessage(this.bytes(number));
  }

  messages(number: number): WireMessage[] {
    return (this.#values.get(number) ?? []).map((value) => {
      if (typeof value === 'bigint') throw new TypeError(`field ${number} is a number`);
      return new WireMessage(value);
    });
  }

  texts(number: number): string[] {
    return (this.#values.get(number) ?? []).map((value) => value.toString());
  }

  /** 0 where the field is absent, as proto3 has it. */
  number(number: number): bigint {
    const value = this.#values.get(number)?.at(-1) ?? 0n;
    if (typeof value !== 'bigint') throw new TypeError(`field ${number} is no number`);
    return value;
  }

  /** All bytes save those of one field. */
  without(number: number): Buffer {
    return fields(...this.#raw.filter((one) => one.number !== number).map(({ bytes }) => bytes));
  }
}

interface Varint {
  readonly value: bigint;
  readonly next: number;
}

function readValue(all: Buffer, { value: tag, next }: Varint): readonly [bigint | Buffer, number] {
  switch (tag & 7n) {
    case 0n: {
      const number = readVarint(all, next);
      return [number.value, number.next];
    }
    case 1n:
      return [all.subarray(next, next + 8), next + 8];
    case 2n: {
      const length = readVarint(all, next);
      const to = length.next + Number(length.value);
      return [all.subarray(length.next, to), to];
    }
    default:
      throw new TypeError(`wire type ${tag & 7n}`);
  }
}

function readVarint(all: Buffer, from: number): Varint {
  let value = 0n;
  for (let at = from, shift = 0n; ; at += 1, shift += 7n) {
    const byte = all.readUInt8(at);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return { value, next: at + 1 };
  }
}
