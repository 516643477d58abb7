import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { patternRule } from './rules/pattern-rule.ts';
import { anyJson, type CelRule, cel, mapOf, oneOf, semanticVersionPattern } from './schema/parts.ts';
import { sourceOf } from './source-schema.ts';
import { toStructural } from './structural.ts';

const closed = { additionalProperties: false };
const union = (...variants: ReturnType<typeof Type.Object>[]) =>
  toStructural(sourceOf(Type.Union(variants, { discriminator: { propertyName: 'kind' } })));

describe('a structural schema', () => {
  it('says a default in words, so that stored objects stay as written', () => {
    const schema = toStructural(sourceOf(Type.Integer({ default: 5, description: 'How often.' })));
    expect(schema).toEqual({ type: 'integer', description: 'How often. Default: 5.' });
  });

  it('closes objects without a keyword', () => {
    expect(toStructural(sourceOf(Type.Object({ a: Type.String() }, closed)))).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' } },
    });
  });

  it('leaves a pattern to the rule that says it in words, and to no other', () => {
    const said = patternRule(semanticVersionPattern);
    const lowered = (...rules: CelRule[]) =>
      toStructural(sourceOf(Type.String({ pattern: semanticVersionPattern, ...cel(...rules) })));
    expect(lowered(said)).toEqual({ type: 'string', 'x-kubernetes-validations': [said] });
    expect(said).toEqual({
      rule: `self.matches(r'${semanticVersionPattern}')`,
      message: 'must be a semantic version, as 1.0.0',
    });
    const other = { rule: "self != '1.0.0'", message: 'must be another' };
    expect(lowered(other)).toMatchObject({ pattern: semanticVersionPattern });
  });

  it('lets a field of any value be null', () => {
    expect(toStructural(sourceOf(mapOf(anyJson())))).toEqual({
      type: 'object',
      additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true, nullable: true },
    });
  });

  it('makes one object of a union, with rules for what each kind must and must not have', () => {
    const schema = union(
      Type.Object({ kind: oneOf(['A']), common: Type.String(), own: Type.Integer() }, closed),
      Type.Object({ kind: oneOf(['B']), common: Type.String() }, closed),
    );
    expect(schema.required).toEqual(['kind', 'common']);
    expect(schema.properties?.['kind']).toEqual({ type: 'string', enum: ['A', 'B'] });
    expect(schema['x-kubernetes-validations']?.map(({ rule, fieldPath }) => [rule, fieldPath])).toEqual([
      ["!(self.kind in ['A']) || has(self.own)", '.own'],
      ["!has(self.own) || self.kind in ['A']", '.own'],
    ]);
  });

  it('takes the type of a field away that differs between kinds, and makes no rule about it', () => {
    const schema = union(
      Type.Object({ kind: oneOf(['A']), command: Type.String() }, closed),
      Type.Object({ kind: oneOf(['B']), command: Type.Array(Type.String()) }, closed),
    );
    expect(schema.properties?.['command']).toEqual({ 'x-kubernetes-preserve-unknown-fields': true });
    expect(schema['x-kubernetes-validations']).toEqual([]);
  });

  it('merges lists of objects that differ between kinds', () => {
    const list = (fields: Parameters<typeof Type.Object>[0]) => Type.Optional(Type.Array(Type.Object(fields, closed)));
    const schema = union(
      Type.Object({ kind: oneOf(['A']), volumes: list({ path: Type.String(), volume: Type.String() }) }, closed),
      Type.Object({ kind: oneOf(['B']), volumes: list({ path: Type.String(), name: Type.String() }) }, closed),
    );
    expect(schema.properties?.['volumes']?.items).toEqual({
      type: 'object',
      required: ['path'],
      properties: { path: { type: 'string' }, volume: { type: 'string' }, name: { type: 'string' } },
    });
    expect(schema['x-kubernetes-validations']?.map(({ message }) => message)).toEqual([
      'volumes[].volume is required for kind A',
      'volumes[].volume does not apply to kind B',
      'volumes[].name is required for kind B',
      'volumes[].name does not apply to kind A',
    ]);
  });

  it('keeps the own rules of a variant for its kind', () => {
    const rules = cel({ rule: 'self.a > 1', message: 'too small' });
    const schema = union(
      Type.Object({ kind: oneOf(['A']), a: Type.Integer() }, { ...closed, ...rules }),
      Type.Object({ kind: oneOf(['B']), a: Type.Integer() }, closed),
    );
    expect(schema['x-kubernetes-validations']?.map(({ rule }) => rule)).toEqual(["self.kind != 'A' || (self.a > 1)"]);
  });

  it('refuses a union that nothing tells apart', () => {
    expect(() => toStructural(sourceOf(Type.Union([Type.String(), Type.Integer()])))).toThrow('discriminator');
  });
});
