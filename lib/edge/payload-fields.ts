import { edgeLimits } from './limits.ts';
import { assertFields, type MessageForm } from './wire.ts';

/** google.protobuf.Value with its `struct_value` and `list_value`, which hold values. */
const value: MessageForm = {
  get 5() {
    return struct;
  },
  get 6() {
    return list;
  },
};
const list: MessageForm = { 1: value };
/** Field 1 is a map, whose entries have the value in field 2. */
const struct: MessageForm = { 1: { 2: value } };

/**
 * Counts the fields of a google.protobuf.Struct before objects are made of them.
 * @throws AppError `invalid` where there are more than `edgeLimits.payloadFields`, or one is not canonical.
 */
export const assertPayloadFields = (bytes: Uint8Array): void => assertFields(bytes, struct, edgeLimits.payloadFields);
