import { isSimilar } from '../../crds/similar-name.ts';
import { blockNames, type HelperName, helperNames } from '../../crds/reserved-names.ts';
import { offsetOf } from './handlebars-syntax.ts';
import type { Scanned } from './scan.ts';
import type { PathExpression, Template, TemplateExpression, TemplateNode } from './template.ts';
import { TemplateError } from './template-error.ts';

type Ast = hbs.AST.Node;
type Call = Pick<hbs.AST.MustacheStatement, 'path' | 'params' | 'hash' | 'loc'>;

const loopFacts: readonly string[] = ['key', 'index', 'first', 'last'];
/** The helper that a mistyped name probably means. */
function meantBy(name: string): string {
  const meant = helperNames.find((helper) => isSimilar(helper, name));
  return meant === undefined ? '' : `did you mean ${meant}? `;
}

const known = `known are ${[...helperNames, ...blockNames, 'else'].join(', ')}`;

/** Turns a Handlebars tree into our own, refusing everything that spec 1 §2.6 does not name. */
export class Converter {
  readonly #scanned: Scanned;
  readonly #references: (readonly string[])[] = [];
  /** Those of them that the helper `default` reads. */
  readonly #filled = new Set<readonly string[]>();
  /** Names of block parameters for each `each` around the current node. */
  readonly #loops: (readonly string[])[] = [];

  readonly #hasBrackets: boolean;
  #lines: readonly number[] | undefined;

  constructor(scanned: Scanned) {
    this.#scanned = scanned;
    this.#hasBrackets = scanned.text.includes('[');
  }

  convert(program: hbs.AST.Program): Template {
    const nodes = this.#body(program);
    const references = this.#references;
    const bareReferences = references.filter((parts) => !this.#filled.has(parts));
    return { nodes, references, bareReferences, cost: this.#scanned.cost };
  }

  #body(program: hbs.AST.Program | undefined): TemplateNode[] {
    return (program?.body ?? []).flatMap((statement) => this.#statement(statement));
  }

  #statement(node: Ast): TemplateNode[] {
    if (node.type === 'CommentStatement') return [];
    if (node.type === 'ContentStatement') {
      const { value } = node as hbs.AST.ContentStatement;
      return value === '' ? [] : [{ kind: 'text', text: value }];
    }
    if (node.type === 'MustacheStatement') {
      return [{ kind: 'value', value: this.#mustache(node as hbs.AST.MustacheStatement) }];
    }
    if (node.type === 'BlockStatement') return [this.#block(node as hbs.AST.BlockStatement)];
    return this.#refuse(`${node.type.startsWith('Partial') ? 'partials' : 'decorators'} are not supported`, node);
  }

  #mustache(node: hbs.AST.MustacheStatement): TemplateExpression {
    const name = this.#nameOf(node.path);
    if (node.params.length > 0 || this.#isHelper(node.path)) return this.#call(node);
    if (name === undefined) return this.#refuse('a literal needs no braces; write it without them', node);
    this.#refuseHash(node);
    return this.#path(node.path as hbs.AST.PathExpression);
  }

  #block(node: hbs.AST.BlockStatement): TemplateNode {
    const name = blockNames.find((candidate) => candidate === node.path.original);
    if (name === undefined) return this.#refuse(`unknown block '${String(node.path.original)}'; ${known}`, node);
    this.#refuseHash(node);
    const [subject, extra] = node.params;
    if (subject === undefined || extra !== undefined) return this.#refuse(`'${name}' takes one argument`, node);
    const converted = this.#expression(subject);
    const body = name === 'each' ? this.#loopBody(node) : this.#branch(node);
    return { kind: name, subject: converted, body, otherwise: this.#body(node.inverse) };
  }

  #loopBody({ program }: hbs.AST.BlockStatement): TemplateNode[] {
    this.#loops.push(program?.blockParams ?? []);
    const body = this.#body(program);
    this.#loops.pop();
    return body;
  }

  #branch(node: hbs.AST.BlockStatement): TemplateNode[] {
    if (node.program?.blockParams?.length > 0) this.#refuse("'if' has no block parameters", node);
    return this.#body(node.program);
  }

  #expression(node: Ast): TemplateExpression {
    if (node.type === 'PathExpression') return this.#path(node as hbs.AST.PathExpression);
    if (node.type === 'SubExpression') return this.#call(node as hbs.AST.SubExpression);
    if (node.type === 'NullLiteral') return { kind: 'literal', value: null };
    if (node.type === 'UndefinedLiteral') return { kind: 'literal', value: undefined };
    return { kind: 'literal', value: (node as hbs.AST.StringLiteral).value };
  }

  #call(node: Call): TemplateExpression {
    const name = this.#nameOf(node.path);
    const helper = helperNames.find((candidate) => candidate === name);
    if (helper === undefined || !this.#isHelper(node.path)) {
      return this.#refuse(`unknown helper '${name ?? 'literal'}'; ${meantBy(name ?? '')}${known}`, node);
    }
    this.#refuseHash(node);
    const wanted = arity[helper];
    if (node.params.length !== wanted) {
      return this.#refuse(`helper '${helper}' takes ${wanted === 1 ? 'one argument' : 'a value and a fallback'}`, node);
    }
    const args = node.params.map((param) => this.#expression(param));
    const [value] = args;
    if (helper === 'default' && value?.kind === 'path') this.#filled.add(value.parts);
    return { kind: 'call', helper, args };
  }

  #path(node: hbs.AST.PathExpression): PathExpression {
    const parts = node.parts.map(String);
    if (node.data) return this.#data(node, parts);
    const frame = this.#loops.length - node.depth;
    if (frame < 0) return this.#refuse(`'${node.original}' leaves the outermost level`, node);
    return this.#blockParameter(node, parts) ?? this.#fromFrame(frame, parts, node);
  }

  /** `as |item key|` names win over fields of the item; `this.name` and `../name` never mean them. */
  #blockParameter(node: hbs.AST.PathExpression, parts: readonly string[]): PathExpression | undefined {
    const [name = '', ...rest] = parts;
    if (node.depth > 0 || /^(?:\.|this(?=[./]|$))/.test(node.original)) return undefined;
    const loop = this.#loops.findLastIndex((names) => names.includes(name));
    if (loop < 0) return undefined;
    const of = this.#loops[loop]?.indexOf(name) === 0 ? 'item' : 'key';
    return { kind: 'path', frame: loop + 1, of, parts: rest, written: this.#written(node) };
  }

  /** `@root.…`, or the key, index, first and last of a loop. */
  #data(node: hbs.AST.PathExpression, parts: readonly string[]): PathExpression {
    const [name = '', ...rest] = parts;
    if (name === 'root') return this.#fromFrame(0, rest, node);
    const frame = this.#loops.length - node.depth;
    const of = loopFacts.find((fact) => fact === name) as PathExpression['of'] | undefined;
    if (of === undefined) return this.#refuse(`unknown variable '${node.original}'`, node);
    if (frame < 1) return this.#refuse(`'${node.original}' has a meaning inside each only`, node);
    return { kind: 'path', frame, of, parts: rest, written: this.#written(node) };
  }

  #fromFrame(frame: number, parts: readonly string[], node: hbs.AST.PathExpression): PathExpression {
    if (frame === 0) {
      if (parts.length === 0) return this.#refuse(`'${node.original}' has a meaning inside each only`, node);
      this.#references.push(parts);
    }
    return { kind: 'path', frame, of: 'item', parts, written: this.#written(node) };
  }

  /** The path with its brackets, which the parser leaves out. */
  #written({ loc, original }: hbs.AST.PathExpression): string {
    if (!this.#hasBrackets) return original;
    const [start = 0, end = 0] = [loc.start, loc.end].map(
      ({ line, column }) => (this.#lineStarts[line - 1] ?? 0) + column,
    );
    // The scan has put brackets around numbers; both forms mean the same.
    return this.#scanned.text.slice(start, end).replaceAll(/\[(\d+)\]/g, '$1');
  }

  /** Where each line begins, as the parser counts them. */
  get #lineStarts(): readonly number[] {
    this.#lines ??= [0, ...Array.from(this.#scanned.text.matchAll(/\r\n?|\n/g), (end) => end.index + end[0].length)];
    return this.#lines;
  }

  #nameOf(node: Ast): string | undefined {
    return node.type === 'PathExpression' ? (node as hbs.AST.PathExpression).original : undefined;
  }

  /** A helper is one bare name; `this.length` and `json.output` are paths. */
  #isHelper(node: Ast): boolean {
    if (node.type !== 'PathExpression') return false;
    const { data, depth, parts, original } = node as hbs.AST.PathExpression;
    return !data && depth === 0 && parts.length === 1 && helperNames.some((name) => name === original);
  }

  #refuseHash(node: Call | hbs.AST.BlockStatement): void {
    if (node.hash !== undefined && node.hash !== null && node.hash.pairs.length > 0) {
      this.#refuse('named arguments are not supported', node);
    }
  }

  #refuse(message: string, node: Pick<Ast, 'loc'>): never {
    throw new TemplateError(message, offsetOf(node.loc, this.#scanned));
  }
}

const arity: Readonly<Record<HelperName, number>> = {
  length: 1,
  upper: 1,
  lower: 1,
  trim: 1,
  json: 1,
  first_line: 1,
  default: 2,
};
