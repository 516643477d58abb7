import { type TSchema, Type } from 'typebox';

/** A field that is always there, and null where there is nothing to say. */
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
